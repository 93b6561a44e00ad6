"""A table in two parts: what was measured, and what the paper prints of which nothing was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from espalier.report.tables import NURSERY, Line, Reading, Table

_MEASURED = ("run", "row")


@dataclass(frozen=True, slots=True)
class Folded:
    """The two parts of a table, with the same columns.

    Attributes:
        shown: the rows that have measured runs, and the rows without a trained model.
        rest: printed rows without a run, runs that were not made, and the printed numbers that `shown` leaves out.
            Every line of the table stands in one of the parts; the label of a row may stand in both.
    """

    shown: Table
    rest: Table

    @property
    def measured(self) -> bool:
        """Whether any run of the table was made."""
        return any(line.kind in _MEASURED for line in self.shown.lines)

    @property
    def summary(self) -> str:
        """What `rest` holds, in a few words; "" for nothing."""
        printed = sum(line.kind == "paper" for line in self.rest.lines)
        absent = sum(line.kind == "absent" for line in self.rest.lines)
        parts = [f"{printed} printed row{'s' * (printed != 1)}"] if printed else []
        parts += [f"{absent} run{'s' * (absent != 1)} not made"] if absent else []
        return ", ".join(parts)


def fold(table: Table) -> Folded:
    """Part a table. Printed numbers stay beside our runs, but not beside runs of the nursery alone.

    The nursery has other texts, so its numbers beside printed ones would look like a comparison.
    """
    shown, rest = list[Line](), list[Line]()
    for block in _blocks(table.lines):
        head, followers = block[0], block[1:]
        if head.kind not in ("paper", "title"):
            shown += block
            continue
        ours = [line for line in followers if line.kind in _MEASURED]
        absent = [line for line in followers if line.kind == "absent"]
        if not ours:
            rest += block
            continue
        apart = head.kind == "paper" and all(line.profile == NURSERY for line in ours)
        shown += [_without_numbers(head) if apart else head, *(line for line in followers if line.kind != "absent")]
        if apart or absent:
            rest += [head if apart else _without_numbers(head), *absent]
    return Folded(replace(table, lines=tuple(shown)), replace(table, lines=tuple(rest)))


def _blocks(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """A row of the paper with the lines under it; all that follows a rule; the lines of a table without such rows."""
    block: list[Line] = []
    for line in lines:
        if block and (line.kind in ("paper", "title") or (line.kind == "rule" and block[0].kind != "rule")):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _without_numbers(line: Line) -> Line:
    return replace(line, kind="title", cells=(Reading(None),) * len(line.cells))
