"""References with broken unit endings, which a judge of Integrity (SongNet, equation 11) must rate worse."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from espalier.datasets.verse.data import VerseData
from espalier.io.hashing import seed_from
from espalier.tasks.random_words import RandomWords
from espalier.text.language import Language, is_mark
from espalier.verse.text import rhyme_place, tokens_by_unit, units_of, verse_of


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
