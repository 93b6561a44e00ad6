"""Regulated verse (近体诗): the tones required by jueju, lüshi and pailü.

All lines have five words, or all have seven, and every second line rhymes on a level tone. In a couplet, the tones of
the second line are opposite to those of the first (对). The first line of the next couplet has the same opening tones
as that second line (粘).
"""

from __future__ import annotations

import re
from typing import Final

from espalier.verse.books import Books
from espalier.verse.variants import EITHER, LEVEL, OBLIQUE

#: The kinds of lines of five words. A line of seven has two more before them: the first has either tone, the second the
#: tone opposite to that of the second word here.
_LINES: Final = {"a": "中仄平平仄", "b": "平平仄仄平", "c": "中平平仄仄", "d": "中仄仄平平"}
#: The first couplet of each form, and the two that alternate after it. In the last two forms the first line rhymes.
_FORMS: Final = (("ab", "cd", "ab"), ("cd", "ab", "cd"), ("db", "cd", "ab"), ("bd", "ab", "cd"))


def regulated_forms(lines: int, words: int) -> list[str]:
    """The tones of `lines` lines of five or seven words in each of the four forms, one sign per word."""
    return [
        "".join(_line(kind, words) for kind in (first + (second + third) * lines)[:lines])
        for first, second, third in _FORMS
    ]


def regulated_tones(text: str, books: Books) -> str:
    """The tones of the form that a poem follows, one sign per word; empty if it follows none.

    It follows the form with the fewest faults, if there is at most one per couplet. A fault is a word without a reading
    in the tone of its place. A word that is not in the book is not a fault.
    """
    lines = [line for line in re.split(r"\W+", text) if line]
    lengths = {len(line) for line in lines}
    if len(lines) < 4 or len(lines) % 2 or lengths not in ({5}, {7}):
        return ""
    tones = [books.tones(word) for line in lines for word in line]

    def faults(form: str) -> int:
        return sum(sign != EITHER and bool(of) and sign not in of for sign, of in zip(form, tones, strict=True))

    form = min(regulated_forms(len(lines), *lengths), key=faults)
    return form if faults(form) <= len(lines) // 2 else ""


def _line(kind: str, words: int) -> str:
    five = _LINES[kind]
    return five if words == 5 else EITHER + (OBLIQUE if five[1] == LEVEL else LEVEL) + five
