"""The words that may end the lines of English verse, so that all lines of a rhyme letter have different ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from espalier.frames.lexicon import Flags, Lexicon, Numbers
from espalier.frames.lines import Lines
from espalier.frames.word_sets import WordSet

#: What is found for all rhyme parts, (words,) each, is kept for so many kinds of lines.
_KINDS: Final = 64


class Kind(NamedTuple):
    """What a line asks of the word that ends it.

    Attributes:
        patterns: those of the line, or what words that it must have leave of each.
        initial: the first letter, which a word alone in the line must have.
        only: the word that ends it; "" for any.
    """

    patterns: tuple[str, ...]
    initial: str = ""
    only: str = ""


class Closing(NamedTuple):
    """The words that may end a line, as a key: lines that ask the same of their words have equal ones.

    Attributes:
        kinds: (kinds,) flags, as bytes: those of which any word may.
        whole: those of which words that begin with the initial may, as they are alone in the line.
        initial: the first letter of the line.
        only: the word that ends it; "" for any.
    """

    kinds: bytes
    whole: bytes
    initial: str
    only: str


@dataclass(frozen=True, slots=True)
class Sound:
    """A rhyme letter that has begun: the rhyme parts that its words can still share, and the words."""

    parts: frozenset[int]
    used: frozenset[int]


class LineEnds:
    """The words that may end each line of a text.

    Attributes:
        letters: the rhyme letter of each line; "" if no other line has it.
    """

    def __init__(self, lines: Lines, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        shared = {letter for letter in lines.rhyme if letter != "." and lines.rhyme.count(letter) > 1}
        self.letters = [letter if letter in shared else "" for letter in lines.rhyme]
        initials = lines.initials or ("",) * len(lines.patterns)
        self.kinds = [*map(Kind, lines.patterns, initials)]

    def words(self, line: int, sound: Sound | None, ways: Collection[tuple[Kind, ...]] | None = None) -> WordSet:
        """The words that may end a line of a rhyme letter: after them the later lines have words as well.

        Args:
            ways: what the later lines of the letter ask, in one of these ways; by default, nothing but their kinds.
        """
        plain = self._closings(self.later(line, self.letters[line]))
        some = {plain} if ways is None else {*map(self._closings, ways)}
        if plain in some:  # no way leaves more words
            some = {plain}
            if sound is None:
                return _beginning(self.lexicon, _closing_of(self.lexicon, self.kinds[line]), plain)
        own = [numbers for later in some for numbers in self._of_way(line, later, sound)]
        if len(own) == 1:
            return WordSet(self.lexicon, own[0])
        return WordSet(self.lexicon, self.lexicon.in_order(np.concatenate([np.empty(0, np.int64), *own])))

    def _of_way(self, line: int, later: tuple[Closing, ...], sound: Sound | None) -> Iterator[Numbers]:
        """The words that may end a line, if the later ones ask this."""
        here = _closing_of(self.lexicon, self.kinds[line])
        if sound is None:
            only = next((each.only for each in later if each.only), "")
            if not only:
                yield _beginning(self.lexicon, here, later).numbers
                return
            sound = Sound(self.lexicon.parts(only), frozenset())
        for part in sound.parts:
            yield _of_part(self.lexicon, part, here, later, sound.used)

    def _closings(self, kinds: tuple[Kind, ...]) -> tuple[Closing, ...]:
        return tuple(sorted(_closing_of(self.lexicon, kind) for kind in kinds))

    def after(self, line: int, sound: Sound | None, word: int) -> Sound | None:
        """What the letter of a line has after a word that ends the line; None if no later line has the letter."""
        later = self._closings(self.later(line, self.letters[line]))
        if not later:
            return None
        own = self.lexicon.parts(self.lexicon.words[word])
        used = (sound.used if sound else frozenset()) | {word}
        shared = own & sound.parts if sound else own
        return Sound(frozenset(part for part in shared if _able(self.lexicon, part, later, used)), used)

    def able(self, sound: Sound | None, kinds: tuple[Kind, ...]) -> bool:
        """Whether lines of these kinds can end with different words of one letter."""
        closings = self._closings(kinds)
        if sound is None:
            return _some_part(self.lexicon, closings)
        return any(_able(self.lexicon, part, closings, sound.used) for part in sound.parts)

    def later(self, line: int, letter: str) -> tuple[Kind, ...]:
        """The kinds of the lines of a letter after a line."""
        pairs = zip(self.kinds[line + 1 :], self.letters[line + 1 :], strict=True)
        return tuple(kind for kind, other in pairs if other == letter)


def closing(lexicon: Lexicon, asked: Closing, words: Numbers) -> Flags:
    """For each of some words, whether it may end a line."""
    found: Flags = np.frombuffer(asked.kinds, np.bool_)[lexicon.kind[words]]
    if asked.initial:
        first, end = lexicon.span(asked.initial)
        found |= np.frombuffer(asked.whole, np.bool_)[lexicon.kind[words]] & (words >= first) & (words < end)
    if asked.only:
        only = lexicon.number(asked.only)
        found &= words == (-1 if only is None else only)
    return found


@lru_cache(4096)
def _closing_of(lexicon: Lexicon, kind: Kind) -> Closing:
    """What a line asks of the word that ends it.

    Words of one syllable fill what is before it, unless it begins the line.
    """
    last, whole = np.zeros(len(lexicon.shapes), np.bool_), np.zeros(len(lexicon.shapes), np.bool_)
    for pattern in kind.patterns:
        for size in range(1, len(pattern) + 1):
            fitting = lexicon.fitting(pattern[-size:]) & (lexicon.lengths == size)
            (last if size < len(pattern) else whole)[fitting] = True
    if not kind.initial:
        return Closing(lexicon.having(last | whole).tobytes(), b"", "", kind.only)
    return Closing(lexicon.having(last).tobytes(), lexicon.having(whole).tobytes(), kind.initial, kind.only)


def _of_part(lexicon: Lexicon, part: int, here: Closing, later: tuple[Closing, ...], used: frozenset[int]) -> Numbers:
    """The unused words of a rhyme part that may end a line before some others."""
    words = lexicon.of_part(part)
    words = words[closing(lexicon, here, words)]
    for word in used:
        words = words[words != word]
    if _plenty(lexicon, part, later, len(used) + 1):
        return words
    choices = _choices(lexicon, part, later, used)
    return words[[different([each - {word} for each in choices]) for word in words.tolist()]]


@lru_cache(_KINDS)
def _beginning(lexicon: Lexicon, here: Closing, later: tuple[Closing, ...]) -> WordSet:
    """The words that may end the first line of a rhyme letter."""
    words, starts = lexicon.rhyming
    part = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    able, flags, counts = closing(lexicon, here, words), *_by_part(lexicon, later)
    if len({*later}) == 1:  # one set of words for all later lines, from which this line may take one
        return WordSet(lexicon, lexicon.in_order(words[able & (counts[0, part] - flags[0] >= len(later))]))
    enough = able & np.all(counts > len(later), axis=0)[part]
    for each in np.flatnonzero(able & ~enough & np.all(counts > 0, axis=0)[part]).tolist():
        enough[each] = _able(lexicon, int(part[each]), later, frozenset([int(words[each])]))
    return WordSet(lexicon, lexicon.in_order(words[enough]))


@lru_cache(4096)
def _some_part(lexicon: Lexicon, kinds: tuple[Closing, ...]) -> bool:
    """Whether any rhyme part has different words for the ends of some lines."""
    if only := next((kind.only for kind in kinds if kind.only), ""):
        return any(_able(lexicon, part, kinds, frozenset()) for part in lexicon.parts(only))
    if _able(lexicon, lexicon.richest, kinds, frozenset()):
        return True
    _, counts = _by_part(lexicon, kinds)
    parts = np.flatnonzero((counts > 0).all(axis=0)).tolist()
    return any(_able(lexicon, part, kinds, frozenset()) for part in parts)


def _by_part(lexicon: Lexicon, kinds: tuple[Closing, ...]) -> tuple[Flags, Numbers]:
    """For each line, (entries,) which words of `Lexicon.rhyming` may end it, and (parts,) how many of each part."""
    words, starts = lexicon.rhyming
    known = {kind: closing(lexicon, kind, words) for kind in {*kinds}}
    counted = {kind: np.add.reduceat(each, starts[:-1], dtype=np.int64) for kind, each in known.items()}
    return np.array([known[kind] for kind in kinds]), np.array([counted[kind] for kind in kinds])


def _choices(lexicon: Lexicon, part: int, later: tuple[Closing, ...], used: frozenset[int]) -> list[frozenset[int]]:
    """The unused words of a rhyme part that may end each of some lines."""
    return [_of_both(lexicon, part, kind) - used for kind in later]


@lru_cache(65536)
def _of_both(lexicon: Lexicon, part: int, kind: Closing) -> frozenset[int]:
    """The words of a rhyme part that may end a line."""
    words = lexicon.of_part(part)
    return frozenset(words[closing(lexicon, kind, words)].tolist())


def _able(lexicon: Lexicon, part: int, later: tuple[Closing, ...], used: frozenset[int]) -> bool:
    """Whether a rhyme part has different unused words for the ends of some lines."""
    return _plenty(lexicon, part, later, len(used)) or different(_choices(lexicon, part, later, used))


def _plenty(lexicon: Lexicon, part: int, later: tuple[Closing, ...], spent: int) -> bool:
    """Whether each line has a word of a rhyme part for itself, whatever words the others and some before have."""
    return all(_count(lexicon, part, kind) >= len(later) + spent for kind in later)


@lru_cache(65536)
def _count(lexicon: Lexicon, part: int, kind: Closing) -> int:
    """How many words of a rhyme part may end a line."""
    return int(np.count_nonzero(closing(lexicon, kind, lexicon.of_part(part))))


def different(choices: list[frozenset[int]]) -> bool:
    """Whether one word can be taken of each choice so that all differ."""
    taken: dict[int, int] = {}

    def place(number: int, seen: set[int]) -> bool:
        for word in choices[number] - seen:
            seen.add(word)
            if word not in taken or place(taken[word], seen):
                taken[word] = number
                return True
        return False

    scarce = [number for number, words in enumerate(choices) if len(words) < len(choices)]
    return all(place(number, set()) for number in scarce)
