"""The words that may end the lines of English verse, so that all lines of a rhyme letter have different ones."""

from __future__ import annotations

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

    def words(self, line: int, sound: Sound | None, later: tuple[Kind, ...] | None = None) -> WordSet:
        """The words that may end a line of a rhyme letter: after them the later lines have words as well.

        Args:
            later: what the later lines of the letter ask; by default, nothing but their kinds.
        """
        later = self.later(line, self.letters[line]) if later is None else later
        if sound is None:
            return _beginning(self.lexicon, self.kinds[line], later)
        own = [self._of_part(part, line, later, sound.used) for part in sound.parts]
        if len(own) == 1:
            return WordSet(self.lexicon, own[0])
        return WordSet(self.lexicon, np.unique(np.concatenate([np.empty(0, np.int64), *own])))

    def after(self, line: int, sound: Sound | None, word: int) -> Sound | None:
        """What the letter of a line has after a word that ends the line; None if no later line has the letter."""
        later = self.later(line, self.letters[line])
        if not later:
            return None
        own = self.lexicon.parts(self.lexicon.words[word])
        used = (sound.used if sound else frozenset()) | {word}
        shared = own & sound.parts if sound else own
        return Sound(frozenset(part for part in shared if _able(self.lexicon, part, later, used)), used)

    def able(self, sound: Sound | None, kinds: tuple[Kind, ...]) -> bool:
        """Whether lines of these kinds can end with different words of one letter."""
        if sound is None:
            return _some_part(self.lexicon, kinds)
        return any(_able(self.lexicon, part, kinds, sound.used) for part in sound.parts)

    def later(self, line: int, letter: str) -> tuple[Kind, ...]:
        """The kinds of the lines of a letter after a line."""
        pairs = zip(self.kinds[line + 1 :], self.letters[line + 1 :], strict=True)
        return tuple(kind for kind, other in pairs if other == letter)

    def _of_part(self, part: int, line: int, later: tuple[Kind, ...], used: frozenset[int]) -> Numbers:
        words = self.lexicon.of_part(part)
        words = words[closing(self.lexicon, self.kinds[line], words)]
        for word in used:
            words = words[words != word]
        if _plenty(self.lexicon, part, later, len(used) + 1):
            return words
        choices = _choices(self.lexicon, part, later, used)
        return words[[different([each - {word} for each in choices]) for word in words.tolist()]]


def closing(lexicon: Lexicon, kind: Kind, words: Numbers) -> Flags:
    """For each of some words, whether it may end a line.

    Words of one syllable fill what is before it, unless it begins the line.
    """
    last, whole = _closing(lexicon, kind.patterns)
    found = whole[lexicon.kind[words]]
    if kind.initial:
        first, end = lexicon.span(kind.initial)
        found &= (words >= first) & (words < end)
    found |= last[lexicon.kind[words]]
    if kind.only:
        only = lexicon.number(kind.only)
        found &= words == (-1 if only is None else only)
    return found


@lru_cache(4096)
def _closing(lexicon: Lexicon, patterns: tuple[str, ...]) -> tuple[Flags, Flags]:
    """(kinds,) both: whether words of each kind may end a line behind other words, and whether they may be one."""
    last, whole = np.zeros(len(lexicon.shapes), np.bool_), np.zeros(len(lexicon.shapes), np.bool_)
    for pattern in patterns:
        for size in range(1, len(pattern) + 1):
            fitting = lexicon.fitting(pattern[-size:]) & (lexicon.lengths == size)
            (last if size < len(pattern) else whole)[fitting] = True
    return lexicon.having(last), lexicon.having(whole)


@lru_cache(_KINDS)
def _beginning(lexicon: Lexicon, kind: Kind, later: tuple[Kind, ...]) -> WordSet:
    """The words that may end the first line of a rhyme letter."""
    words, starts = lexicon.rhyming
    part = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    here, flags, counts = closing(lexicon, kind, words), *_by_part(lexicon, later)
    if len({*later}) == 1:  # one set of words for all later lines, from which this line may take one
        return WordSet(lexicon, lexicon.in_order(words[here & (counts[0, part] - flags[0] >= len(later))]))
    enough = here & np.all(counts > len(later), axis=0)[part]
    for each in np.flatnonzero(here & ~enough & np.all(counts > 0, axis=0)[part]).tolist():
        enough[each] = _able(lexicon, int(part[each]), later, frozenset([int(words[each])]))
    return WordSet(lexicon, lexicon.in_order(words[enough]))


@lru_cache(4096)
def _some_part(lexicon: Lexicon, kinds: tuple[Kind, ...]) -> bool:
    """Whether any rhyme part has different words for the ends of some lines."""
    if only := next((kind.only for kind in kinds if kind.only), ""):
        return any(_able(lexicon, part, kinds, frozenset()) for part in lexicon.parts(only))
    if _able(lexicon, lexicon.richest, kinds, frozenset()):
        return True
    _, counts = _by_part(lexicon, kinds)
    parts = np.flatnonzero((counts > 0).all(axis=0)).tolist()
    return any(_able(lexicon, part, kinds, frozenset()) for part in parts)


def _by_part(lexicon: Lexicon, kinds: tuple[Kind, ...]) -> tuple[Flags, Numbers]:
    """For each line, (entries,) which words of `Lexicon.rhyming` may end it, and (parts,) how many of each part."""
    words, starts = lexicon.rhyming
    known = {kind: closing(lexicon, kind, words) for kind in {*kinds}}
    counted = {kind: np.add.reduceat(each, starts[:-1], dtype=np.int64) for kind, each in known.items()}
    return np.array([known[kind] for kind in kinds]), np.array([counted[kind] for kind in kinds])


def _choices(lexicon: Lexicon, part: int, later: tuple[Kind, ...], used: frozenset[int]) -> list[frozenset[int]]:
    """The unused words of a rhyme part that may end each of some lines."""
    return [_of_both(lexicon, part, kind) - used for kind in later]


@lru_cache(65536)
def _of_both(lexicon: Lexicon, part: int, kind: Kind) -> frozenset[int]:
    """The words of a rhyme part that may end a line."""
    words = lexicon.of_part(part)
    return frozenset(words[closing(lexicon, kind, words)].tolist())


def _able(lexicon: Lexicon, part: int, later: tuple[Kind, ...], used: frozenset[int]) -> bool:
    """Whether a rhyme part has different unused words for the ends of some lines."""
    return _plenty(lexicon, part, later, len(used)) or different(_choices(lexicon, part, later, used))


def _plenty(lexicon: Lexicon, part: int, later: tuple[Kind, ...], spent: int) -> bool:
    """Whether each line has a word of a rhyme part for itself, whatever words the others and some before have."""
    return all(_count(lexicon, part, kind) >= len(later) + spent for kind in later)


@lru_cache(65536)
def _count(lexicon: Lexicon, part: int, kind: Kind) -> int:
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
