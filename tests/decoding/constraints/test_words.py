"""Given words in texts, against every sequence of pieces there is."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest
import torch

from espalier.datasets.vocabulary import BOS, EOS, PAD, UNK
from espalier.decoding.beam import beam_search
from espalier.decoding.constraints.words import GivenWord, GivenWords
from espalier.io.errors import ConfigError

sys.path.insert(0, str(Path(__file__).parent))
from constrained_trees import Chain, batch_of

#: Of the ids after the specials, 4 and 5 begin a word, 6 continues one.
STARTS = [False, False, False, False, True, True, False]
Pieces = tuple[int, ...]


def words_of(pieces: Sequence[int]) -> list[Pieces]:
    words: list[Pieces] = []
    for piece in pieces:
        words = [*words, (piece,)] if STARTS[piece] else [*words[:-1], (*words[-1], piece)]
    return words


def in_order(given: Sequence[GivenWord], words: Sequence[Pieces]) -> bool:
    rest = iter(words)
    return all(tuple(each.pieces) in rest for each in given)


def ended(constraint: GivenWords) -> set[Pieces]:
    """All that a constraint allows and that ends in time, by trying all of it; no prefix is a blind alley."""
    state, found = constraint.start(batch_of([[]])), set[Pieces]()
    prefixes: list[Pieces] = [()]
    for _ in range(constraint.max_ids):
        mask = constraint.mask(state)
        assert mask.any(1).all()
        rows, tokens = mask.nonzero(as_tuple=True)
        found |= {prefixes[row] for row in rows[tokens == EOS].tolist()}
        rows, tokens = rows[tokens != EOS], tokens[tokens != EOS]
        prefixes = [(*prefixes[row], token) for row, token in zip(rows.tolist(), tokens.tolist(), strict=True)]
        state = constraint.advance(tokens, state.select(rows))
    return found


@pytest.mark.parametrize("max_ids", [4, 5, 6])
@pytest.mark.parametrize(
    "given",
    [
        [],
        [GivenWord(0, [4])],
        [GivenWord(1, [5, 6])],
        [GivenWord(0, [5]), GivenWord(1, [4, 6])],
        [GivenWord(1, [4]), GivenWord(2, [4])],
        [GivenWord(9, [5])],
    ],
)
def test_each_given_word_stands_at_its_place_or_before_where_there_is_no_room(
    given: list[GivenWord], max_ids: int
) -> None:
    every = [pieces for n in range(max_ids) for pieces in product((4, 5, 6), repeat=n) if not n or STARTS[pieces[0]]]
    exact = {
        pieces
        for pieces in every
        for words in [words_of(pieces)]
        if all(each.place < len(words) and words[each.place] == tuple(each.pieces) for each in given)
    }
    found = ended(GivenWords([given], STARTS, max_ids))
    assert exact <= found <= set(every)
    for pieces in found - exact:
        assert in_order(given, words_of(pieces)) and len(pieces) == max_ids - 1
    if not given:
        assert found == exact == set(every)


def test_words_that_cannot_fit_are_refused() -> None:
    GivenWords([[GivenWord(0, [4, 6])]], STARTS, 3)
    with pytest.raises(ConfigError, match="row 2: the given words take 3 pieces; at most 2"):
        GivenWords([[], [GivenWord(0, [4, 6]), GivenWord(4, [5])]], STARTS, 3)


def test_rows_are_searched_by_their_own_words() -> None:
    given = [[GivenWord(0, [5])], [], [GivenWord(1, [4, 6]), GivenWord(3, [5])]]
    together = beam_search(Chain(len(STARTS), 3, 2.0), batch_of([[], [], []]), beam=3, max_ids=9, begin=BOS, end=EOS,
                           constraint=GivenWords(given, STARTS, 9))  # fmt: skip
    for row, words in enumerate(given):
        alone = beam_search(Chain(len(STARTS), 3, 2.0), batch_of([[]]), beam=3, max_ids=9, begin=BOS, end=EOS,
                            constraint=GivenWords([words], STARTS, 9))  # fmt: skip
        assert [each.tokens for each in together[row]] == [each.tokens for each in alone[0]]
        assert all(in_order(words, words_of(each.tokens)) for each in together[row])
        assert not {PAD, UNK, BOS} & {piece for each in together[row] for piece in each.tokens}


def test_select_reorders_rows() -> None:
    constraint = GivenWords([[GivenWord(0, [4, 6])], [GivenWord(1, [5])]], STARTS, 9)
    state = constraint.advance(torch.tensor([4, 4]), constraint.start(batch_of([[], []])))
    index = torch.tensor([1, 0, 1])
    assert constraint.mask(state.select(index)).equal(constraint.mask(state)[index])
    assert constraint.mask(state)[0].nonzero()[:, 0].tolist() == [6]
    assert constraint.mask(state)[1].nonzero()[:, 0].tolist() == [5, 6]
