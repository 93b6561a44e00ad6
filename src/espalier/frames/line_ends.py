"""The words that may end the lines of English verse, so that all lines of a rhyme letter have different ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from espalier.frames.lexicon import Flags, Lexicon, Numbers
from espalier.frames.lines import Lines

#: Sets of words are kept, (words,) each, for so many kinds of lines.
_KINDS: Final = 64

#: What a line asks of the word that ends it: its patterns, and its first letter, which a word alone in it must have.
Kind = tuple[tuple[str, ...], str]


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
        self.kinds: list[Kind] = [*zip(lines.patterns, initials, strict=True)]

    def words(self, line: int, sound: Sound | None) -> Numbers:
        """The words that may end a line of a rhyme letter, in order: after them the later lines have words as well."""
        later = self._later(line)
        if sound is None:
            return _beginning(self.lexicon, self.kinds[line], later)
        own = [self._of_part(part, line, later, sound.used) for part in sound.parts]
        return np.unique(np.concatenate(own)) if own else np.empty(0, np.int64)

    def after(self, line: int, sound: Sound | None, word: int) -> Sound | None:
        """What the letter of a line has after a word that ends the line; None if no later line has the letter."""
        later = self._later(line)
        if not later:
            return None
        own = self.lexicon.parts(self.lexicon.words[word])
        used = (sound.used if sound else frozenset()) | {word}
        shared = own & sound.parts if sound else own
        return Sound(frozenset(part for part in shared if _able(self.lexicon, part, later, used)), used)

    def _later(self, line: int) -> tuple[Kind, ...]:
        """The kinds of the later lines of a line's letter."""
        letter = self.letters[line]
        return tuple(
            kind
            for kind, other in zip(self.kinds[line + 1 :], self.letters[line + 1 :], strict=True)
            if other == letter
        )

    def _of_part(self, part: int, line: int, later: tuple[Kind, ...], used: frozenset[int]) -> Numbers:
        words = self.lexicon.of_part(part)
        words = words[closing(self.lexicon, self.kinds[line])[words]]
        words = words[~np.isin(words, [*used])]
        choices = _choices(self.lexicon, part, later, used)
        if all(len(each) > len(choices) for each in choices):  # each later line has a word to spare
            return words
        return words[[different([each - {word} for each in choices]) for word in words.tolist()]]


@lru_cache(_KINDS)
def closing(lexicon: Lexicon, kind: Kind) -> Flags:
    """(words,) whether each may end a line. Words of one syllable fill what is before it, unless it begins the line."""
    patterns, initial = kind
    last, whole = np.zeros(len(lexicon.shapes), np.bool_), np.zeros(len(lexicon.shapes), np.bool_)
    for pattern in patterns:
        for size in range(1, len(pattern) + 1):
            fitting = lexicon.fitting(pattern[-size:]) & (lexicon.lengths == size)
            (last if size < len(pattern) else whole)[fitting] = True
    found = lexicon.having(whole)[lexicon.kind]
    if initial:
        first, end = lexicon.span(initial)
        found[:first] = found[end:] = False
    return found | lexicon.having(last)[lexicon.kind]


@lru_cache(_KINDS)
def _beginning(lexicon: Lexicon, kind: Kind, later: tuple[Kind, ...]) -> Numbers:
    """The words that may end the first line of a rhyme letter, in order."""
    words, starts = lexicon.rhyming
    part = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    here = closing(lexicon, kind)[words]
    flags = [closing(lexicon, each)[words] for each in later]
    counts = np.array([np.add.reduceat(each, starts[:-1], dtype=np.int64) for each in flags])[:, part]
    if len({*later}) == 1:  # one set of words for all later lines, from which this line may take one
        return np.unique(words[here & (counts[0] - flags[0] >= len(later))])
    enough = here & (counts > len(later)).all(axis=0)
    for each in np.flatnonzero(here & ~enough & (counts > 0).all(axis=0)).tolist():
        enough[each] = _able(lexicon, int(part[each]), later, frozenset([int(words[each])]))
    return np.unique(words[enough])


def _choices(lexicon: Lexicon, part: int, later: tuple[Kind, ...], used: frozenset[int]) -> list[frozenset[int]]:
    """The unused words of a rhyme part that may end each of some lines."""
    words = lexicon.of_part(part)
    return [frozenset(words[closing(lexicon, kind)[words]].tolist()) - used for kind in later]


def _able(lexicon: Lexicon, part: int, later: tuple[Kind, ...], used: frozenset[int]) -> bool:
    """Whether a rhyme part has different unused words for the ends of some lines."""
    return different(_choices(lexicon, part, later, used))


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
