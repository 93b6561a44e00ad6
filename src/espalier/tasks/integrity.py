"""The judge of verse (SongNet, equation 11): the probability of the mark that ends each unit under a plain decoder.

It must rate references with broken unit endings worse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from espalier.datasets.verse.data import VerseData
from espalier.datasets.verse.frames import Frame, target_of
from espalier.datasets.vocabulary import SEP
from espalier.io.errors import ConfigError
from espalier.io.hashing import seed_from
from espalier.tasks.chance import RandomWords, chance_seeds
from espalier.tasks.data import BaselineRow
from espalier.text.language import Language, is_mark
from espalier.verse.text import rhyme_place, tokens_by_unit, units_of, verse_of

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

    from espalier.datasets.verse.data import VerseBatch
    from espalier.datasets.verse.encode import VerseSettings
    from espalier.datasets.verse.vocabulary import VerseVocabulary
    from espalier.models.contract import NetworkSettings
    from espalier.tasks.verse_search import VerseDecoder, VerseModel


def without_last_words(texts: Sequence[str], language: Language) -> list[str]:
    """Each unit without its last word. Units of at most one word stay unchanged."""

    def cut(tokens: list[str]) -> list[str]:
        place = rhyme_place(tokens)
        words = sum(not is_mark(token) for token in tokens)
        return tokens if place is None or words < 2 else tokens[:place] + tokens[place + 1 :]

    return [_mapped(text, language, cut) for text in texts]


def with_random_last_words(texts: Sequence[str], seeds: Sequence[int], train: VerseData) -> list[str]:
    """Each unit with its last word replaced by a random word of the training split, drawn by frequency."""
    language, words = train.vocabulary.language, RandomWords(train)

    def replaced(text: str, seed: int) -> str:
        drawn = iter(words.draw(len(units_of(text)), seed))

        def change(tokens: list[str]) -> list[str]:
            place, word = rhyme_place(tokens), next(drawn)
            return tokens if place is None else [*tokens[:place], word, *tokens[place + 1 :]]

        return _mapped(text, language, change)

    return [replaced(text, seed) for text, seed in zip(texts, seeds, strict=True)]


def with_longer_units_cut(texts: Sequence[str], seed: int, language: Language) -> list[str]:
    """Each unit replaced by the beginning of a longer unit, cut to the same length, with the original last mark.

    The authors' `eval_endings` treats a unit that is longer than the reference in this way: it keeps n - 1 tokens of
    the longer unit, followed by the last of the reference's n tokens. Longer units are drawn at random from other
    texts. A unit stays unchanged if no unit is longer.
    """
    poems = [tokens_by_unit(text, language) for text in texts]
    same = np.unique(texts, return_inverse=True)[1]  # equal texts, such as the references of several samples
    every = [tokens for units in poems for tokens in units]
    lengths = np.array([len(tokens) for tokens in every], dtype=np.int64)
    longer_than = {int(length): np.flatnonzero(lengths > length) for length in np.unique(lengths)}
    owners = np.repeat(same, [len(units) for units in poems])
    own = np.split(np.argsort(owners, kind="stable"), np.cumsum(np.bincount(owners))[:-1]) if every else []

    def cut(tokens: list[str], row: int, number: int) -> list[str]:
        longer, units = longer_than[len(tokens)], own[same[row]]
        skipped = np.searchsorted(longer, units[lengths[units] > len(tokens)])
        if len(longer) == len(skipped):
            return tokens
        place = np.random.default_rng(seed_from("longer", seed, row, number)).integers(len(longer) - len(skipped))
        for of_text in skipped:
            place += of_text <= place
        return [*every[longer[place]][: len(tokens) - 1], tokens[-1]]

    return [
        verse_of((cut(tokens, row, number) for number, tokens in enumerate(units)), language)
        for row, units in enumerate(poems)
    ]


def _mapped(text: str, language: Language, change: Callable[[list[str]], list[str]]) -> str:
    return verse_of(map(change, tokens_by_unit(text, language)), language)


#: Tokens that a text has once it is read, and may lack where it was cut short: a separator, and the end mark.
CLOSING = 2


class VerseJudge:
    """The nats of the mark before each separator, given all tokens before it."""

    columns = ("judge_nats", "judge_marks", "judge_units")

    def check(self, decoder: VerseDecoder, network: NetworkSettings[Any], dataset: VerseSettings) -> None:
        """Check that the judge is a plain decoder with a position for every token."""
        if getattr(network, "reads_format", True):
            raise ConfigError(
                "a judge that reads the format knows where marks stand",
                where="lm",
                remedy="a model with network.symbols: [] and network.global_attention: false",
            )
        if (tokens := dataset.max_tokens + decoder.extra_tokens + CLOSING) > network.positions:
            raise ConfigError(
                f"texts of up to {tokens} tokens, of a judge that has {network.positions} positions",
                where="lm",
                remedy="raise the judge's network.positions",
            )

    def read(self, texts: Sequence[str], vocabulary: VerseVocabulary) -> VerseData:
        """Texts as targets without a format. Words unknown to the judge are `UNK`."""
        targets = [target_of(text, vocabulary) for text in texts]
        frames = [Frame(target, *[np.zeros_like(target)] * 6) for target in targets]
        return VerseData.of([str(row) for row in range(len(texts))], frames, vocabulary, targets=targets)

    def measure(self, model: VerseModel, batch: VerseBatch) -> dict[str, Tensor]:
        """(batch,) nats of the marks directly before separators, the number of these marks, and the number of units.

        A unit whose final mark is missing or unknown to the judge is counted only as a unit.
        """
        import torch

        vocabulary, target = model.vocabulary, batch.target
        is_mark = torch.zeros(vocabulary.text_size, dtype=torch.bool, device=batch.device)
        is_mark[vocabulary.mark_ids.tolist()] = True
        separates = target == SEP
        final = is_mark[target] & torch.nn.functional.pad(separates[:, 1:], (0, 1))
        nats = (model.token_losses(batch).double() * final).sum(1)
        return dict(zip(self.columns, (nats, final.sum(1), separates.sum(1)), strict=True))

    def controls(self, table: pd.DataFrame, train: VerseData, seed: int) -> Mapping[str, BaselineRow]:
        """The references with three kinds of broken endings."""
        language, references = train.vocabulary.language, table["reference"].tolist()
        seeds = chance_seeds(table, seed)
        made = {
            "cut": ("the reference without the last word of each unit", without_last_words(references, language)),
            "replaced": (
                "the reference with a random last word in each unit",
                with_random_last_words(references, seeds, train),
            ),
            "broken_off": (
                "longer units of other references, broken off where those of the reference end",
                with_longer_units_cut(references, seed, language),
            ),
        }
        return {name: BaselineRow(title, {"text": texts}, trivial=False) for name, (title, texts) in made.items()}
