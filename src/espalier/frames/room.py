"""Where words that must occur still fit into lines of English verse."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from espalier.frames.line_ends import Kind, LineEnds, Sound
from espalier.frames.meters import fits

Words = frozenset[str]
Sounds = tuple[tuple[str, Sound], ...]


class Group(NamedTuple):
    """The lines of a rhyme letter that are left, or (letter "") those that do not rhyme."""

    letter: str
    sound: Sound | None
    kinds: tuple[Kind, ...]


class Room:
    """Room for words. Words of one syllable fill any gap, so that a word may as well stand where it first fits.

    What has room for some words has room for fewer. So of two sets of words of which one is part of the other, only the
    larger one is tried, or only the smaller one where others must have room for the rest.
    """

    def __init__(self, ends: LineEnds) -> None:
        self.ends, self.lexicon = ends, ends.lexicon
        self.after = lru_cache(maxsize=4096)(self._after)
        self.latest = lru_cache(maxsize=4096)(self._latest)
        self.later = lru_cache(maxsize=4096)(self._later)
        self._needed = lru_cache(maxsize=4096)(self._needed_after)
        self._live = lru_cache(maxsize=65536)(self._groups_live)
        self._hold = lru_cache(maxsize=65536)(self._group_holds)
        self._ways = lru_cache(maxsize=65536)(self._ways_of)
        self._filled = lru_cache(maxsize=65536)(self._fill)
        self._rest = lru_cache(maxsize=65536)(self._rest_of)

    def _after(self, line: int, sounds: Sounds, words: Words) -> bool:
        """Whether the lines from one on have room for all of some words, by the rhyme letters that have begun."""
        return not words or self._live(self._groups(line - 1, sounds), words)

    def _latest(self, line: int, index: int, sounds: Sounds, words: Words) -> int:
        """The last place in a pattern of a line, before its end, behind which there is room; -1 if there is none."""
        kind, (group, needed) = self.ends.kinds[line], self._needed(line, sounds, words)
        pattern = kind.patterns[index]

        def lives(at: int) -> bool:
            rest = Kind((pattern[at:],), kind.initial * (not at))
            return any(self._hold(group._replace(kinds=(rest, *group.kinds)), some) for some in needed)

        return next(filter(lives, reversed(range(len(pattern))))) if lives(0) else -1

    def _later(self, line: int, sounds: Sounds, words: Words) -> tuple[tuple[Kind, ...], ...]:
        """What the later lines of the letter of a line may be asked for, so that all lines after it have the words."""
        group, needed = self._needed(line, sounds, words)
        return tuple({way for some in needed for way in self.ways(group, some)})

    def _needed_after(self, line: int, sounds: Sounds, words: Words) -> tuple[Group, list[Words]]:
        """The lines after a line that have its letter, and the words for which they or it must have room.

        These are sets of which one is enough, the smallest ones: the lines of other letters have room for the rest.
        """
        groups, letter = self._groups(line, sounds), self.ends.letters[line]
        own = next((group for group in groups if group.letter == letter), Group(letter, dict(sounds).get(letter), ()))
        others = tuple(group for group in groups if group.letter != letter)
        needed = list[Words]()
        for some in reversed(list(_subsets(words))):
            if not any(each <= some for each in needed) and self._live(others, words - some):
                needed.append(some)
        return own, needed

    def _groups(self, line: int, sounds: Sounds) -> tuple[Group, ...]:
        """The lines after a line, by their letters."""
        begun = dict(sounds)
        letters = sorted({*self.ends.letters[line + 1 :]})
        return tuple(Group(letter, begun.get(letter), self.ends.later(line, letter)) for letter in letters)

    def _groups_live(self, groups: tuple[Group, ...], words: Words) -> bool:
        """Whether all lines have words that end them, and room for some."""
        if not groups:
            return not words
        tried = list[Words]()
        for some in _subsets(words):
            if not any(some <= each for each in tried) and self._hold(groups[0], some):
                if self._live(groups[1:], words - some):
                    return True
                tried.append(some)
        return False

    def _group_holds(self, group: Group, words: Words) -> bool:
        """Whether the lines of a letter have words that end them, and room for some."""
        if group.letter:
            return any(self.ends.able(group.sound, way) for way in self.ways(group, words))
        if not words or not group.kinds:
            return not words
        others, tried = group._replace(kinds=group.kinds[1:]), list[Words]()
        for some in _subsets(words):
            if not any(some <= each for each in tried) and self._filled(group.kinds[0], some):
                if self._hold(others, words - some):
                    return True
                tried.append(some)
        return False

    def ways(self, group: Group, words: Words) -> Iterator[tuple[Kind, ...]]:
        """All ways to put words into lines that rhyme: what they leave of each line, or the one that ends it.

        Of lines of one kind, as many as there are words are enough.
        """
        if not words:
            return iter([group.kinds])
        some, others = list[Kind](), list[Kind]()
        for kind in group.kinds:
            (some if some.count(kind) < len(words) else others).append(kind)
        parts = {word: self.lexicon.parts(word) for word in words}
        sounds = frozenset[int]().union(*parts.values())
        if group.sound:
            sounds &= group.sound.parts
        ends = {frozenset(word for word in words if sound in parts[word]) for sound in sounds}
        found = {way for each in (frozenset[str](), *ends) for way in self._ways(tuple(some), words, each)}
        return ((*way, *others) for way in found)

    def _ways_of(self, kinds: tuple[Kind, ...], words: Words, ends: Words) -> frozenset[tuple[Kind, ...]]:
        """All ways to put words into each of some lines, some of which may end them."""
        if not kinds:
            return frozenset([()] * (not words))
        found = set[tuple[Kind, ...]]()
        for some in _subsets(words) if kinds[1:] else [words]:
            for word in ("", *(some & ends)):
                end = self._filled(kinds[0], some - {word})
                if end and any(end.patterns):  # with room for the word that ends the line
                    end = end._replace(only=word)
                    found.update(tuple(sorted((end, *way))) for way in self._ways(kinds[1:], words - some, ends))
        return frozenset(found)

    def _fill(self, kind: Kind, words: Words) -> Kind | None:
        """What words leave of a line; None if they do not fit."""
        if not words:
            return kind
        rest = [self._rest(pattern, kind.initial, words) for pattern in kind.patterns]
        return Kind(tuple(each for each in rest if each is not None)) if any(r is not None for r in rest) else None

    def _rest_of(self, pattern: str, initial: str, words: Words) -> str | None:
        """The most that words leave of a pattern; None if they do not fit."""
        if not words:
            return pattern
        found = list[str]()
        for word in words:
            left = self._rest(pattern, initial, words - {word})
            if left is None:
                continue
            first = len(words) == 1 and not word.startswith(initial)
            for shape in self.lexicon.shapes_of(word):
                places = (place for place in range(first, len(left)) if fits(shape, left, place))
                found += [left[place + len(shape) :] for place in [next(places, None)] if place is not None]
        return max(found, key=len, default=None)


def _subsets(words: Words) -> Iterator[Words]:
    """The sets of some of the words, the largest first."""
    for size in range(len(words), -1, -1):
        yield from map(frozenset, combinations(sorted(words), size))
