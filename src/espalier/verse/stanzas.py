"""Where the stanzas of a tune part.

The form book says of each tune whether it has one stanza (单调) or two (双调), but not where the second begins. The two
are nearly alike: the second often begins anew (换头) and ends like the first. So they part at the end of the sentence
at which they differ least, written as clauses. This is where all 126 patterns of the benchmark PoeTone part that the
book has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from espalier.verse.tunes import Clause

#: By so many edits the second best place must be worse, else it is not known where the stanzas part.
MARGIN: Final = 3


def first_stanza(clauses: Sequence[Clause], *, equal: bool = False) -> int:
    """The number of sentences of the first of two stanzas; 0 if it is not known.

    Args:
        clauses: the words of each clause and the mark after it, "。" at the end of a sentence.
        equal: whether both stanzas must have the same clauses.
    """
    places = [place for place, (_, mark) in enumerate(clauses, start=1) if mark == "。"][:-1]
    halves = [(_written(clauses[:place]), _written(clauses[place:])) for place in places]
    if equal:
        return next((number for number, (one, other) in enumerate(halves, start=1) if one == other), 0)
    ranked = sorted((edits(*pair), number) for number, pair in enumerate(halves, start=1))
    if not ranked or (len(ranked) > 1 and ranked[1][0] - ranked[0][0] < MARGIN):
        return 0
    return ranked[0][1]


def edits(one: str, other: str) -> int:
    """The edit distance of two strings: the least number of characters that are added, left out or replaced."""
    row = [*range(len(other) + 1)]
    for number, character in enumerate(one, start=1):
        before, row = row, [number]
        for place, own in enumerate(other):
            row.append(min(before[place + 1] + 1, row[place] + 1, before[place] + (character != own)))
    return row[-1]


def _written(clauses: Sequence[Clause]) -> str:
    return "".join("_" * words + mark for words, mark in clauses)
