"""Reasons for missing numbers: notes under a table, referenced by letters beside dashes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Final

from espalier.report.tables import UNSAID, Line, Reading

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


def notes_of(lines: Sequence[Line]) -> dict[str, str]:
    """{reason: letter} of the missing numbers in the lines, in order.

    A number that was not computed has no note; every page explains a dash without a letter.
    """
    letters = map(_letter, count())
    notes = dict[str, str]()
    for line in lines:
        if line.kind in ("title", "rule", "also"):
            continue
        for reading in line.cells:
            if reading.value is None and reading.why not in ("", UNSAID) and reading.why not in notes:
                notes[reading.why] = next(letters)
    return notes


def letter_of(reading: Reading, notes: Mapping[str, str]) -> str:
    """The letter beside a dash; "" for a number or for a dash without a note."""
    return notes.get(reading.why, "") if reading.value is None else ""


def _letter(place: int) -> str:
    """The letter for an index: a to z, then aa, ab, ..."""
    rest, last = divmod(place, len(_LETTERS))
    return (_letter(rest - 1) if rest else "") + _LETTERS[last]
