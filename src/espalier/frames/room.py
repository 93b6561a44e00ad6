"""Where words that must occur still fit into lines of English verse that do not rhyme."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from espalier.frames.lexicon import Flags, Lexicon
from espalier.frames.lines import Lines
from espalier.frames.meters import fits


class Room:
    """Room for words. Words of one syllable fill any gap, so that a word may as well stand where it first fits."""

    def __init__(self, lines: Lines, lexicon: Lexicon) -> None:
        self.lines, self.lexicon = lines, lexicon
        self.behind = lru_cache(maxsize=None)(self._behind)
        self.lines_from = lru_cache(maxsize=None)(self._lines_from)
        self.places = lru_cache(maxsize=None)(self._places)

    def _lines_from(self, line: int, words: frozenset[str]) -> bool:
        """Whether lines from one on have room for all of some words."""
        if line == len(self.lines.patterns):
            return not words
        return not words or any(self.behind(line, index, 0, words) for index in range(len(self.lines.patterns[line])))

    def _behind(self, line: int, index: int, at: int, words: frozenset[str]) -> bool:
        """Whether the rest of a line, by one of its patterns, and the lines after it have room."""
        if self.lines_from(line + 1, words):
            return True
        pattern = self.lines.patterns[line][index]
        for word in words:
            for end in self._ends(word, line, pattern, at):
                left = words - {word}
                if self.behind(line, index, end, left) if end < len(pattern) else self.lines_from(line + 1, left):
                    return True
        return False

    def _ends(self, word: str, line: int, pattern: str, at: int) -> set[int]:
        """The first places behind a word in a line, for each of its shapes."""
        initial = self.lines.initials[line] if self.lines.initials and at == 0 else ""
        first = at if word.startswith(initial) else 1
        ends = set()
        for shape in self.lexicon.shapes_of(word):
            places = (place for place in range(first, len(pattern)) if fits(shape, pattern, place))
            if (place := next(places, None)) is not None:
                ends.add(place + len(shape))
        return ends

    def _places(self, line: int, words: frozenset[str]) -> tuple[Flags, ...]:
        """For each pattern of a line, (syllables + 1,) whether there is room behind each place before its end."""
        return tuple(
            np.array([*(self.behind(line, index, at, words) for at in range(len(pattern))), False], np.bool_)
            for index, pattern in enumerate(self.lines.patterns[line])
        )
