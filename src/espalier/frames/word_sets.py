"""Sets of words of a lexicon, asked by the shapes of their words: the stress of their syllables, as bits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from espalier.frames.lexicon import Flags, Lexicon, Numbers, Shapes, shared


@dataclass(frozen=True, eq=False)
class Spans:
    """Tokens, and the words that go on with the letters of each: the first one, and the one after the last."""

    tokens: Numbers
    first: Numbers
    last: Numbers

    @cached_property
    def of_words(self) -> tuple[Numbers, Numbers]:
        """The places of the tokens of all words of the lexicon, side by side, and the beginning of each word's."""
        counts = self.last - self.first
        words = _side_by_side(self.first, counts)
        order = np.argsort(words, kind="stable")
        at = np.repeat(np.arange(len(counts)), counts)[order]
        return at, words[order].searchsorted(np.arange(self.last.max(initial=0) + 1))

    def of(self, words: Flags, start: int) -> Flags:
        """(tokens,) whether some words go on with each; (n,) flags say which of the words from a start on do."""
        before = np.zeros(len(words) + 1, np.int32)
        np.cumsum(words, out=before[1:])
        found: Flags = before[self.last - start] > before[self.first - start]
        return found

    def places(self, words: Numbers) -> Numbers:
        """The places of the tokens with which some words begin, each as often as words do."""
        at, starts = self.of_words
        words = words[words < len(starts) - 1]
        return at[_side_by_side(starts[words], starts[words + 1] - starts[words])]


def _side_by_side(first: Numbers, counts: Numbers) -> Numbers:
    """So many numbers from each first one on."""
    return np.arange(counts.sum()) + np.repeat(first - np.cumsum(counts) + counts, counts)


class WordSet:
    """Words of a lexicon.

    Args:
        numbers: (n,) the words, in order.
    """

    def __init__(self, lexicon: Lexicon, numbers: Numbers) -> None:
        self.lexicon, self.numbers = lexicon, numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __contains__(self, word: int) -> bool:
        first, last = self.numbers.searchsorted([word, word + 1])
        return bool(first < last)

    @cached_property
    def shapes(self) -> Shapes:
        """The shapes of all words."""
        kinds = np.zeros(len(self.lexicon.kinds), np.bool_)
        kinds[self.lexicon.kind[self.numbers]] = True
        found: Shapes = np.bitwise_or.reduce(self.lexicon.bits[:, kinds], axis=1)
        return found

    def having(self, shapes: Shapes, first: int, last: int) -> Numbers:
        """The words of a span of the lexicon that have one of some shapes."""
        first, last = self.numbers.searchsorted([first, last])
        words = self.numbers[first:last]
        return words[self.lexicon.sharing(shapes.tobytes())[self.lexicon.kind[words]]]

    def among(self, shapes: Shapes, first: int, last: int) -> Flags:
        """(last - first,) whether each word of a span of the lexicon is in the set and has one of some shapes."""
        start, end = self.numbers.searchsorted([first, last])
        found = np.zeros(last - first, np.bool_)
        found[self.numbers[start:end] - first] = True
        return found & self.lexicon.sharing(shapes.tobytes())[self.lexicon.kind[first:last]]


@lru_cache(maxsize=64)
def unions(words: WordSet, spans: Spans) -> tuple[Shapes, Numbers]:
    """(64-bit words, m) different sets of shapes, and (spans,) the one that the words of each span have together."""
    ends = words.numbers.searchsorted(np.stack([spans.first, spans.last], axis=1))
    bits = words.lexicon.bits[:, words.lexicon.kind[words.numbers]]
    some, padded = ends[:, 0] < ends[:, 1], np.pad(bits, ((0, 0), (0, 1)))  # a span may end with the last word
    found = np.zeros((len(bits), len(ends)), np.uint64)
    if some.any():
        found[:, some] = np.bitwise_or.reduceat(padded, ends[some].ravel(), axis=1)[:, ::2]
    rows = np.ascontiguousarray(found.T)
    _, firsts, own = np.unique(rows.view(f"V{rows.shape[1] * 8}"), return_index=True, return_inverse=True)
    return np.ascontiguousarray(found[:, firsts]), own.reshape(-1)


@lru_cache(maxsize=1024)
def going_on(words: WordSet, spans: Spans, shapes: bytes) -> Flags:
    """(spans,) whether one of the words in each span has one of some shapes."""
    sets, own = unions(words, spans)
    return shared(sets, np.frombuffer(shapes, np.uint64))[own]


@dataclass(frozen=True, eq=False)
class Coming:
    """Words that may come next.

    Attributes:
        sets: sets of words, and the shapes that words of each must have.
        first, last: the words lie in this span of the lexicon.
    """

    sets: tuple[tuple[WordSet, Shapes], ...]
    first: int
    last: int

    def has(self, first: int, last: int) -> bool:
        """Whether one of them lies in a span of the lexicon."""
        first, last = max(first, self.first), min(last, self.last)
        return first < last and any(len(words.having(shapes, first, last)) for words, shapes in self.sets)


@lru_cache(maxsize=4)
def every(lexicon: Lexicon) -> WordSet:
    """All words."""
    return WordSet(lexicon, np.arange(len(lexicon.words)))
