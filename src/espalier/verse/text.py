"""How a verse is written down, and which of its tokens are words, marks and rhymes.

A verse is one string: its units (sentences of a ci, lines of a sonnet) joined by line feeds. A Chinese unit is its
characters; an English unit is its tokens joined by single spaces. Nothing else in the project splits or joins verse.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from espalier.text.language import is_mark

#: A Chinese unit ends after one of these (an English one only where its line does).
TERMINALS = "。！？"


def units_of(text: str) -> list[str]:
    """The units of a verse, in order. Split at line feeds alone: U+2028 and its kin are text."""
    return text.split("\n") if text else []


def join_units(units: Iterable[str]) -> str:
    """A verse from its units; the inverse of `units_of`."""
    return "\n".join(units)


def rhyme_place(tokens: Sequence[str]) -> int | None:
    """Index of the unit's last word, the one that rhymes where any does; None in a unit of marks alone."""
    return next((index for index in range(len(tokens) - 1, -1, -1) if not is_mark(tokens[index])), None)
