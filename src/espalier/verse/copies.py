"""Repeated words of a tune: which places of a variant repeat the words of earlier places (叠句, 叠韵, 重).

The form book marks a clause with 叠 or 重, and does not say how much of it is repeated, nor from where. Its example
does. The source is the last earlier clause that ends with the same word. If the example repeats the whole clause
(如梦。如梦。, or 秦楼月 after 秦娥梦断秦楼月), all its places are copies; else only the rhyme word is one
(汴水流。泗水流。).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

#: A clause of the field `ge_lyu_sep`: tone signs, and what the clause ends with. A change of rhyme names its tone.
_CLAUSE = re.compile(r"[平仄中]+?(换[平仄]?韵|叶[平仄]韵|叶|韵|句|读|叠|重)")


def write_copies(copies: Sequence[tuple[int, int]]) -> str:
    """Copies as text: "7-4 8-5"."""
    return " ".join(f"{copy}-{source}" for copy, source in copies)


def read_copies(text: str) -> tuple[tuple[int, int], ...]:
    """The copies of a text, the inverse of `write_copies`."""
    return tuple((int(copy), int(source)) for copy, _, source in (each.partition("-") for each in text.split()))


def copies_of(written: Sequence[str], clauses: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """The repeated places of a variant, each with the place that it repeats, in the order of the text.

    Args:
        written: the field `ge_lyu_sep` of the variant.
        clauses: the words of each clause of its example.

    Raises:
        ValueError: a mark of repetition stands at no clause, or the example repeats nothing there.
    """
    marks = _CLAUSE.findall("".join(written))
    if not {"叠", "重"} & {*"".join(written)}:
        return ()
    if len(marks) != len(clauses):
        raise ValueError(f"{len(marks)} clauses for {len(clauses)} of the example")
    root: dict[int, int] = {}
    for number, mark in enumerate(marks):
        if mark in ("叠", "重"):
            for place, source in _copied(clauses, number):
                root[place] = root.get(source, source)
    return tuple(sorted(root.items()))


def _copied(clauses: Sequence[str], number: int) -> Iterator[tuple[int, int]]:
    """The places of a repeated clause that are copies, with their sources."""
    clause, before = clauses[number], "".join(clauses[:number])
    ends, end = [], 0
    for each in clauses[:number]:
        end += len(each)
        ends.append(end)
    source = next((end for end in reversed(ends) if before[end - 1] == clause[-1]), None)
    if source is None:
        raise ValueError(f"clause {number + 1} repeats no word")
    whole = before[:source].endswith(clause)
    for back in range(1, (len(clause) if whole else 1) + 1):
        yield len(before) + len(clause) - back, source - back
