"""Regulated verse (近体诗): the tones required by jueju, lüshi and pailü.

All lines have five words, or all have seven, and every second line rhymes on a level tone. In a couplet, the tones of
the second line are opposite to those of the first (对). The first line of the next couplet has the same opening tones
as that second line (粘).

Which words of a line are free is said by Wang Li (王力, 《汉语诗律学》). The first, third and fifth are (一三五不论),
but a line that begins on a level tone and rhymes has two level words side by side before the rhyme (else it is 孤平),
and no line ends with three level words (三平调).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from espalier.verse.books import Books
from espalier.verse.variants import EITHER, LEVEL, OBLIQUE

#: The kinds of lines of five words, by their plainest tones. A line of seven has two more before them: the first has
#: either tone, the second the tone opposite to that of the second word here.
_LINES: Final = {"a": "中仄平平仄", "b": "平平仄仄平", "c": "中平平仄仄", "d": "中仄仄平平"}
#: The ways in which poets write each kind, the most usual first. In the second way of b a level third word makes up for
#: an oblique first one (孤平拗救). In that of c the third word and the fourth are exchanged, and the first is not free
#: (特拗). Not among them: three oblique words that end c, and what a line makes up for in the one before it (对句相救).
_WAYS: Final = {
    "a": ("中仄中平仄",),
    "b": ("平平中仄平", "仄平平仄平"),
    "c": ("中平平仄仄", "平平仄平仄"),
    "d": ("中仄仄平平",),
}
#: The first couplet of each form, and the two that alternate after it. In the last two forms the first line rhymes.
_FORMS: Final = (("ab", "cd", "ab"), ("cd", "ab", "cd"), ("db", "cd", "ab"), ("bd", "ab", "cd"))


def regulated_ways(lines: int, words: int) -> list[tuple[tuple[str, ...], ...]]:
    """For each of the four forms, the ways of each of its lines of five or seven words, the most usual first."""
    return [tuple(tuple(_line(way, words) for way in _WAYS[kind]) for kind in kinds) for kinds in _kinds(lines)]


def regulated_forms(lines: int, words: int) -> list[str]:
    """The tones of `lines` lines in each of the four forms, one sign per word, without what poets put for them."""
    return ["".join(_line(_LINES[kind], words) for kind in kinds) for kinds in _kinds(lines)]


def faults(tones: str, readings: Sequence[frozenset[str]]) -> int:
    """How many words have no reading in the tone of their place. A word without readings is no fault."""
    return sum(sign != EITHER and bool(of) and sign not in of for sign, of in zip(tones, readings, strict=True))


def regulated_tones(text: str, books: Books) -> str:
    """The tones of the form that a poem follows, one sign per word; empty if it follows none.

    It follows the form (`regulated_forms`) with the fewest faults, if there is at most one per couplet. The ways of
    poets are faults here: corpora were read so, and models trained on them. A word that is not in the book is no fault.
    """
    lines = [line for line in re.split(r"\W+", text) if line]
    lengths = {len(line) for line in lines}
    if len(lines) < 4 or len(lines) % 2 or lengths not in ({5}, {7}):
        return ""
    tones = [books.tones(word) for line in lines for word in line]
    form = min(regulated_forms(len(lines), *lengths), key=lambda form: faults(form, tones))
    return form if faults(form, tones) <= len(lines) // 2 else ""


def _kinds(lines: int) -> list[str]:
    """The kind of each line, in each of the four forms."""
    return [(first + (second + third) * lines)[:lines] for first, second, third in _FORMS]


def _line(five: str, words: int) -> str:
    return five if words == 5 else EITHER + (OBLIQUE if five[1] == LEVEL else LEVEL) + five
