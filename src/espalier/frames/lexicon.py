"""English words by their spelling, syllables and rhymes, as the CMU Pronouncing Dictionary has them."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from espalier.frames.meters import fits
from espalier.verse.rhyme import entries, pronunciations, rhyme_parts

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
#: Sets of shapes, each of several 64-bit words whose bits are the shapes of a lexicon.
Shapes = npt.NDArray[np.uint64]
Part = tuple[str, ...]

_WORD = re.compile(r"'?[a-z]+(?:'[a-z]+)*'?")
_VOWELS = re.compile("[aeiouyæœø]+")
#: The letters of words, in the order of their characters.
LETTERS: Final = "'abcdefghijklmnopqrstuvwxyz"
#: More letters than any word has.
FAR: Final = 999
#: So many letters are compared as one number, in the order of the words; one digit more is the end of a word.
CODED: Final = 13
_BASE: Final = len(LETTERS) + 1
#: By a number of letters, the least difference between codes that differ in them.
LEAST: Final = [_BASE ** (CODED - size) for size in range(CODED + 1)]


def shapes_of(word: str) -> frozenset[str]:
    """The stress of each syllable, for each pronunciation: "remove" -> {"01"}; a single syllable is "x", for any.

    1 is the main stress, 0 none, and x may have either. The dictionary's secondary stress is x as well. Empty for an
    unknown word.
    """
    stresses = ("".join(sound[-1] for sound in sounds if sound[-1].isdigit()) for sounds in pronunciations(word))
    return frozenset("x" if len(each) == 1 else each.replace("2", "x") for each in stresses if each)


def guessed_shapes(word: str) -> frozenset[str]:
    """The syllables of an unknown word by its spelling, of any stress: its groups of vowels, without a mute final e.

    Vowels may have accents; an é is not mute.
    """
    plain = word.lower()
    if not re.search("[^aeiouy]le$", plain):
        plain = re.sub("(?<=[^aeiouy])e$", "", plain)
    letters = "".join(filter(str.isalpha, unicodedata.normalize("NFD", plain)))
    return frozenset(["x" * max(len(_VOWELS.findall(letters)), 1)])


def code(letters: str) -> int:
    """A number for at most `CODED` letters, in their order."""
    return sum((LETTERS.index(letter) + 1) * LEAST[place] for place, letter in enumerate(letters, start=1))


class Lexicon:
    """Words that are spelled with letters and apostrophes and have a pronunciation. Some have one syllable.

    Attributes:
        words: the words in order, so that those with a common beginning stand side by side.
        shapes: the shapes of all words, each once.
        kinds: the sets of shapes that words have, each once, and `kind`, (words,) the one of each word.
    """

    def __init__(self, words: Iterable[str]) -> None:
        shapes = {word: own for word in words if _WORD.fullmatch(word) and (own := shapes_of(word))}
        self.words = sorted(shapes)
        self.kinds = sorted({*shapes.values()}, key=sorted)
        self.shapes = sorted(frozenset[str]().union(*self.kinds))
        numbers = {kind: number for number, kind in enumerate(self.kinds)}
        self.kind = np.array([numbers[shapes[word]] for word in self.words], np.int64)
        self.sizes = np.array([*map(len, self.words)], np.int64)
        self.span = lru_cache(maxsize=65536)(self._span)
        self.fitting = lru_cache(maxsize=4096)(self._fitting)
        self.within = lru_cache(maxsize=4096)(self._within)
        self.sharing = lru_cache(maxsize=4096)(self._sharing)
        self.least = lru_cache(maxsize=4096)(self._least)
        self.fill = lru_cache(maxsize=4096)(self._fill)
        self.parts = lru_cache(maxsize=4096)(self._parts)

    def _span(self, begun: str) -> tuple[int, int]:
        """The words that begin so: the index of the first, and the one after the last."""
        first = bisect_left(self.words, begun)
        return first, bisect_left(self.words, begun + "\uffff", first)

    def longest(self, first: int, last: int) -> int:
        """The letters of the longest of some words, side by side."""
        return int(self.sizes[first:last].max(initial=0))

    def codes(self, first: int, last: int, skipped: int) -> Numbers:
        """The codes of some words, side by side, without the letters that are skipped (`code`)."""
        codes = np.zeros(last - first, np.int64)
        for column in range(skipped, skipped + CODED):
            codes = codes * _BASE + (self._digits[first:last, column] if column < self._digits.shape[1] else 0)
        return codes

    @cached_property
    def _digits(self) -> npt.NDArray[np.uint8]:
        """(words, letters) the number of each letter, from 1; 0 behind a word."""
        spelled = np.array(self.words, np.bytes_).reshape(-1, 1).view(np.uint8)
        return np.array([LETTERS.find(chr(byte)) + 1 for byte in range(256)], np.uint8)[spelled]

    def number(self, word: str) -> int | None:
        """The index of a word; None if it is not in the lexicon."""
        place = bisect_left(self.words, word)
        return place if place < len(self.words) and self.words[place] == word else None

    def shapes_of(self, word: str) -> frozenset[str]:
        """The shapes of a word; none if it is not in the lexicon."""
        number = self.number(word)
        return frozenset() if number is None else self.kinds[self.kind[number]]

    @cached_property
    def lengths(self) -> Numbers:
        """(shapes,) the syllables of each shape."""
        return np.array([*map(len, self.shapes)], np.int64)

    def _fitting(self, pattern: str) -> Flags:
        """(shapes,) whether each fits the beginning of a pattern (`espalier.frames.meters`)."""
        return np.array([fits(shape, pattern, 0) for shape in self.shapes], np.bool_)

    def _within(self, pattern: str, least: int, most: int) -> Shapes:
        """The shapes of so many syllables that fit the beginning of a pattern."""
        flags = self.fitting(pattern) & (self.lengths >= least) & (self.lengths <= most)
        return packed(flags[None])[:, 0]

    @cached_property
    def bits(self) -> Shapes:
        """(64-bit words, kinds) the shapes of each kind."""
        return packed(self._by_kind)

    def _sharing(self, shapes: bytes) -> Flags:
        """(kinds,) whether each kind has one of some shapes."""
        return shared(self.bits, np.frombuffer(shapes, np.uint64))

    def having(self, shapes: Flags) -> Flags:
        """(kinds,) whether each kind has one of some shapes, given as (shapes,) flags."""
        return shared(self.bits, packed(shapes[None])[:, 0])

    @cached_property
    def _by_kind(self) -> Flags:
        """(kinds, shapes) which shapes each kind has."""
        return np.array([[shape in kind for shape in self.shapes] for kind in self.kinds], np.bool_)

    def _least(self, begun: str) -> Numbers:
        """(shapes,) the least number of letters that a word of each shape still needs; `FAR` if none begins so."""
        first, last = self.span(begun)
        by_kind = np.full(len(self.kinds), FAR, np.int64)
        np.minimum.at(by_kind, self.kind[first:last], self.sizes[first:last] - len(begun))
        return np.where(self._by_kind, by_kind[:, None], FAR).min(axis=0)

    def _fill(self, pattern: str) -> int:
        """The least number of characters that fill a pattern, each word with a space before it."""
        if not pattern:
            return 0
        fitting, needs = np.flatnonzero(self.fitting(pattern)).tolist(), self.least("")
        return min(1 + int(needs[each]) + self.fill(pattern[len(self.shapes[each]) :]) for each in fitting)

    # --- Rhymes ---

    @cached_property
    def _rhyming(self) -> tuple[dict[Part, int], Numbers, Numbers]:
        """The number of each rhyme part, and the words of all parts, side by side, with the beginning of each."""
        pairs = [(part, number) for number, word in enumerate(self.words) for part in rhyme_parts.__wrapped__(word)]
        parts = {part: number for number, part in enumerate(sorted({part for part, _ in pairs}))}
        entry = np.array([(parts[part], number) for part, number in pairs], np.int64).reshape(-1, 2)
        entry = entry[np.argsort(entry[:, 0], kind="stable")]
        return parts, entry[:, 1], entry[:, 0].searchsorted(np.arange(len(parts) + 1))

    def _parts(self, word: str) -> frozenset[int]:
        """The numbers of a word's rhyme parts: two words rhyme if they share one."""
        return frozenset(self._rhyming[0][part] for part in rhyme_parts(word))

    @property
    def rhyming(self) -> tuple[Numbers, Numbers]:
        """The words of all rhyme parts, side by side, and the beginning of each part among them."""
        return self._rhyming[1:]

    @cached_property
    def richest(self) -> int:
        """The rhyme part with the most words of one syllable, which fit where any word does."""
        words, starts = self.rhyming
        single = self.having(self.lengths == 1)[self.kind[words]]
        return int(np.add.reduceat(single, starts[:-1], dtype=np.int64).argmax())

    def in_order(self, words: Numbers) -> Numbers:
        """Words in order, each once."""
        found = np.zeros(len(self.words), np.bool_)
        found[words] = True
        return np.flatnonzero(found)

    def of_part(self, part: int) -> Numbers:
        """The words of a rhyme part."""
        words, starts = self.rhyming
        return words[starts[part] : starts[part + 1]]


def shared(bits: Shapes, shapes: Shapes) -> Flags:
    """(n,) whether each of (64-bit words, n) sets of shapes has one of some."""
    found = bits[0] & shapes[0]
    for own, other in zip(bits[1:], shapes[1:], strict=True):
        found |= own & other
    return found != 0


def packed(flags: Flags) -> Shapes:
    """(64-bit words, n) the sets of shapes of (n, shapes) flags."""
    padded = np.zeros((len(flags), -(-flags.shape[1] // 64) * 64), np.bool_)
    padded[:, : flags.shape[1]] = flags
    return np.ascontiguousarray(np.packbits(padded, axis=1, bitorder="little").view(np.uint64).T)


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The lexicon of the dictionary, made once."""
    return Lexicon(entries())
