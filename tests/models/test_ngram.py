"""The n-gram baseline against numbers worked out by hand and against a plain dictionary of counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from espalier.datasets.vocabulary import BOS, EOS, PAD
from espalier.decoding.sampling import sample
from espalier.models import kneser_ney
from espalier.models.kneser_ney import KneserNey
from espalier.models.ngram import NGram, NGramConfig, _histories

A, B, C = 5, 6, 7
SIZE = 8


@dataclass
class Batch:
    target: Tensor

    @property
    def device(self) -> torch.device:
        return self.target.device

    @property
    def real(self) -> Tensor:
        return self.target != PAD

    def __len__(self) -> int:
        return len(self.target)


def padded(rows: list[list[int]]) -> Batch:
    width = max(map(len, rows), default=0) + 1
    return Batch(torch.tensor([[*row, EOS, *[PAD] * (width - len(row) - 1)] for row in rows]))


def fitted(rows: list[list[int]], order: int) -> NGram:
    return NGram.fit(NGramConfig(None, order), None, [padded(rows)], SIZE)


def plain(rows: list[list[int]], order: int, history: tuple[int, ...], word: int) -> float:
    """Interpolated Kneser-Ney as its definition reads, one n-gram at a time."""

    def grams(length: int) -> Counter[tuple[int, ...]]:
        whole = Counter[tuple[int, ...]]()
        for row in rows:
            tokens = [*[BOS] * (order - 1), *row, EOS]
            whole.update(tuple(tokens[i : i + order]) for i in range(len(row) + 1))
        for size in range(order - 1, length - 1, -1):
            whole = Counter(gram[1:] for gram in whole if len(gram) == size + 1)
        return whole

    def probability(length: int, history: tuple[int, ...]) -> float:
        if length == 0:
            return 1 / (SIZE - 2)
        counts = grams(length)
        once, twice = (sum(count == n for count in counts.values()) for n in (1, 2))
        discount = once / (once + 2 * twice) if once and twice else 0.5
        following = {gram[-1]: count for gram, count in counts.items() if gram[:-1] == history}
        lower = probability(length - 1, history[1:])
        if not following:
            return lower
        total = sum(following.values())
        share = max(following.get(word, 0) - discount, 0) / total
        return share + discount * len(following) / total * lower

    return probability(order, history)


def test_a_bigram_model_has_the_probabilities_worked_out_by_hand() -> None:
    # Bigrams: <A 2, AB 1, AC 1, B$ 1, C$ 1, of which 4 occur once and 1 twice: D = 4 / (4 + 2) = 2/3.
    # Continuations: A follows 1 token, B 1, C 1, $ 2, so that D = 3 / (3 + 2) = 3/5 of 5 in all.
    model = fitted([[A, B], [A, C]], order=2)
    unigram = dict.fromkeys((A, B, C), (1 - 3 / 5) / 5 + 3 / 5 * 4 / 5 / 6)
    unigram[EOS] = (2 - 3 / 5) / 5 + 3 / 5 * 4 / 5 / 6
    scores, state = model.step(torch.tensor([BOS]), model.start(padded([[A]])))
    assert scores[0, A].exp().item() == pytest.approx((2 - 2 / 3) / 2 + 2 / 3 / 2 * unigram[A])
    scores, _ = model.step(torch.tensor([A]), state)
    assert scores[0, B].exp().item() == pytest.approx((1 - 2 / 3) / 2 + 2 / 3 * 2 / 2 * unigram[B])
    assert scores[0, EOS].exp().item() == pytest.approx(2 / 3 * unigram[EOS])


def test_a_trigram_model_has_the_likelihoods_worked_out_by_hand() -> None:
    # Trigrams: <<A 2, <AB 1, <AC 1, AB$ 1, AC$ 1: D = 4 / (4 + 2) = 2/3. The five bigrams <A, AB, AC, B$, C$ have one
    # predecessor each, so that none has two: D = 1/2. Unigrams: A, B and C follow 1 token, $ follows 2: D = 3/5.
    words = dict.fromkeys((A, B, C), (1 - 3 / 5) / 5 + 3 / 5 * 4 / 5 / 6) | {EOS: (2 - 3 / 5) / 5 + 3 / 5 * 4 / 5 / 6}
    assert words == pytest.approx({A: 0.16, B: 0.16, C: 0.16, EOS: 0.36})
    after_start, b_after_a, end_after_b = 0.5 + 0.5 * 0.16, 0.25 + 0.5 * 0.16, 0.5 + 0.5 * 0.36
    first = (2 - 2 / 3) / 2 + 1 / 3 * after_start  # 0.86
    second = (1 - 2 / 3) / 2 + 2 / 3 * b_after_a  # 0.38667
    last = (1 - 2 / 3) / 1 + 2 / 3 * end_after_b  # 0.78667
    model = fitted([[A, B], [A, C]], order=3)
    read = model.token_losses(padded([[A, B], [B]]))
    assert read[0].tolist() == pytest.approx(-np.log([first, second, last]))
    # No text begins with B, so that it has a third of its share after one start, where it is new too. Of <B the model
    # knows B alone.
    assert read[1].tolist() == pytest.approx([-np.log(1 / 3 * 0.5 * 0.16), -np.log(end_after_b), 0])
    # The end mark counts among the tokens, and padding does not.
    loss = model.forward(padded([[A, B], [B]]))
    assert loss.total.item() == pytest.approx(read.sum().item()) and int(loss.targets) == 5


rows_of_words = st.lists(st.lists(st.sampled_from([A, B, C]), max_size=5), min_size=1, max_size=6)


@given(rows_of_words, rows_of_words, st.integers(1, 3))
def test_likelihoods_and_distributions_are_those_of_plain_counts(
    training: list[list[int]], others: list[list[int]], order: int
) -> None:
    model, batch = fitted(training, order), padded(others)
    losses, state, last = model.token_losses(batch), model.start(batch), torch.full((len(others),), BOS)
    for place in range(batch.target.shape[1]):
        scores, state = model.step(last, state)
        assert torch.allclose(scores.exp().sum(1), torch.ones(len(others)), atol=1e-5)
        assert (scores[:, [PAD, BOS]] == -torch.inf).all()
        last = batch.target[:, place]
        for row, tokens in enumerate(others):
            if place <= len(tokens):
                before = [*[BOS] * (order - 1), *tokens[:place]]
                wanted = plain(training, order, tuple(before[len(before) - order + 1 :]), int(last[row]))
                assert losses[row, place].item() == pytest.approx(-np.log(wanted))
                assert scores[row, last[row]].item() == pytest.approx(np.log(wanted), abs=1e-5)
            else:
                assert losses[row, place] == 0


def test_it_writes_what_it_has_read_and_the_state_follows_a_selection() -> None:
    model = fitted([[A, B, C]] * 50, order=3)
    written = sample(model, padded([[A], [A]]), seeds=[1, 2], max_ids=6, begin=BOS, end=EOS, top_k=1)
    assert written == [[A, B, C], [A, B, C]]
    state = model.start(padded([[A], [B]]))
    _, state = model.step(torch.tensor([BOS, BOS]), state)
    _, state = model.step(torch.tensor([A, B]), state)
    assert state.select(torch.tensor([1, 1, 0])).history[:, -1].tolist() == [B, B, A]


def test_many_ids_and_long_histories_do_not_overflow() -> None:
    # 2^21 ids to the power of five are 2^105; the last token of a long history must still tell.
    rows = [[A, B, C, A, B], [2**21 - 1, B, C, A, C]]
    model = NGram.fit(NGramConfig(None, 5), None, [padded(rows)], 2**21)
    losses = model.token_losses(padded([[A, B, C, A, B], [2**21 - 1, B, C, A, B]]))[:, 4]
    assert losses[0] < losses[1]


@dataclass
class Structured(Batch):
    structures: dict[str, Tensor]


class Symbols:
    """A vocabulary whose every structure has the special symbol and two others."""

    def symbol_count(self, structure: str) -> int:
        return 3


def structured(rows: list[list[int]], symbols: dict[str, list[list[int]]]) -> Structured:
    target = padded(rows).target
    width = target.shape[1]
    tables = {name: torch.tensor([[*row, *[0] * (width - len(row))] for row in table])
              for name, table in symbols.items()}  # fmt: skip
    return Structured(target, tables)


def test_a_symbol_is_the_last_part_of_a_history_to_be_left_out() -> None:
    # Symbols: A 1, B and C 2, the end mark 0. Grams with a word of history and the symbol: <1A 2, A2B 1, A2C 1, B0$ 1,
    # C0$ 1: D = 4 / (4 + 2) = 2/3. With the symbol alone, words before it counted once each: 1A 1, 2B 1, 2C 1, 0$ 2:
    # D = 3 / (3 + 2) = 3/5. Words, symbols counted once each: A, B, C, $ 1: none has two, D = 1/2.
    model = NGram.fit(NGramConfig(None, 2), Symbols(), [structured([[A, B], [A, C]], {"pos": [[1, 2], [1, 2]]})], SIZE)
    word = 0.5 / 4 + 0.5 / 6
    b_of_2 = (1 - 3 / 5) / 2 + 3 / 5 * word
    b_after_a = (1 - 2 / 3) / 2 + 2 / 3 * b_of_2
    end_of_0 = (2 - 3 / 5) / 2 + 3 / 10 * word
    read = model.token_losses(structured([[A, B], [C, B, B]], {"pos": [[1, 2], [2, 2, 1]]})).exp().reciprocal()
    assert read[0, 1].item() == pytest.approx(b_after_a)
    # After C the word before is new with the symbol 2, which then tells alone; B never has the symbol 1.
    assert read[1].tolist() == pytest.approx([b_of_2, b_of_2, 3 / 5 * word, 1 / 3 + 2 / 3 * end_of_0])


def test_modified_smoothing_has_the_discounts_worked_out_by_hand() -> None:
    # 21 words: 10 come once, 5 twice, 3 three times, 2 four times, 1 five times: n = 10, 5, 3, 2, and Y = 1/2. With
    # the 42 end marks 84 tokens are counted, 22 of them different, 7 of which come three times or more.
    counts = [1] * 10 + [2] * 5 + [3] * 3 + [4] * 2 + [5]
    rows = [[word] for word, times in enumerate(counts, start=5) for _ in range(times)]
    model = NGram.fit(NGramConfig(None, 1, discounts=3), None, [padded(rows)], 40)
    one, two, more = 1 - 2 / 2 * 5 / 10, 2 - 3 / 2 * 3 / 5, 3 - 4 / 2 * 2 / 3
    lower = (10 * one + 5 * two + 7 * more) / 84 / 38
    read = model.token_losses(padded([[5], [15], [20], [25]])).neg().exp()
    assert read[:, 0].tolist() == pytest.approx(
        [(n - d) / 84 + lower for n, d in ((1, one), (2, two), (3, more), (5, more))]
    )
    assert read[:, 1].tolist() == pytest.approx([(42 - more) / 84 + lower] * 4)


@given(rows_of_words, st.integers(1, 3), st.data())
def test_what_is_written_under_a_template_has_the_likelihood_of_what_is_read(
    rows: list[list[int]], order: int, draw: st.DataObject
) -> None:
    symbols = [draw.draw(st.lists(st.integers(1, 2), min_size=len(row), max_size=len(row))) for row in rows]
    batch = structured(rows, {"pc": symbols, "pos": symbols[::-1] if len({*map(len, rows)}) == 1 else symbols})
    model = NGram.fit(NGramConfig(None, order), Symbols(), [batch], SIZE)
    losses, state, last = model.token_losses(batch), model.start(batch), torch.full((len(rows),), BOS)
    for place in range(batch.target.shape[1] + 1):
        scores, state = model.step(last, state)
        assert torch.allclose(scores.exp().sum(1), torch.ones(len(rows)), atol=1e-5)
        if place < batch.target.shape[1]:
            last = batch.target[:, place]
            own = -scores[torch.arange(len(rows)), last]
            assert torch.allclose(own[batch.real[:, place]].double(), losses[batch.real[:, place], place], atol=1e-4)
        else:  # past the template, where the symbol is that of the end mark
            assert (scores[:, EOS] > -torch.inf).all()


@given(rows_of_words, st.integers(1, 4), st.integers(1, 4), st.sampled_from([0, 3, 1 << 22]))
def test_counts_do_not_depend_on_how_many_batches_wait_nor_on_the_numbers_of_ngrams(
    rows: list[list[int]], order: int, size: int, waiting: int
) -> None:
    whole = fitted(rows, order).counts
    before, kneser_ney.OCCURRENCES = kneser_ney.OCCURRENCES, waiting
    try:
        pieces = (padded(rows[start : start + size]) for start in range(0, len(rows), size))
        parted = NGram.fit(NGramConfig(None, order), None, pieces, SIZE).counts
        target = padded(rows).target.numpy()
        histories, real = _histories(target, np.zeros((len(rows), 0), np.int64), order), target != PAD
        # A radix with which n-grams of three parts are no numbers of 63 bits.
        large = KneserNey.fit([(histories[real], target[real])], order - 1, SIZE, 2**40)
    finally:
        kneser_ney.OCCURRENCES = before
    for level, of_parted, of_large in zip(whole._levels, parted._levels, large._levels, strict=True):
        for item in fields(level):
            expected = getattr(level, item.name)
            assert np.array_equal(getattr(of_parted, item.name), expected)
            if item.name != "histories":
                assert np.array_equal(getattr(of_large, item.name), expected)
