"""A table in two parts: rows with measured numbers, and rows that are only printed; and notes on missing numbers."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Final

from espalier.judging.result import DECODED_ANEW, NO_RATINGS
from espalier.report.tables import NURSERY, UNSAID, Line, Reading, Table

_MEASURED = ("run", "row")


@dataclass(frozen=True, slots=True)
class Folded:
    """The two parts of a table, with the same columns.

    Attributes:
        shown: rows with measured runs, and rows without a trained model.
        rest: printed rows without a run, missing runs, and printed numbers that `shown` leaves out. Every line of the
            table is in one part; the label of a row may be in both.
        left_out: the columns in which no row of `shown` has a number, which it leaves out: (why, headings).
    """

    shown: Table
    rest: Table
    left_out: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def measured(self) -> bool:
        """Whether the table has a measured run."""
        return any(line.kind in _MEASURED for line in self.shown.lines)

    @property
    def unmeasured(self) -> str:
        """The columns that are left out, with the reason, as a sentence; "" if there are none."""
        parts = [f"{', '.join(headings)} ({why})" for why, headings in self.left_out]
        return f"Columns without a number here: {'; '.join(parts)}." if parts else ""

    @property
    def summary(self) -> str:
        """A short description of `rest`; "" if it is empty."""
        printed = sum(line.kind == "paper" for line in self.rest.lines)
        absent = sum(line.kind == "absent" for line in self.rest.lines)
        parts = [f"{printed} printed row{'s' * (printed != 1)}"] if printed else []
        parts += [f"{absent} run{'s' * (absent != 1)} not made"] if absent else []
        return ", ".join(parts)


def fold(table: Table) -> Folded:
    """Divide a table. Printed numbers are shown beside our runs, unless all of these are runs of the nursery.

    The texts of the nursery are not those of the paper, so printed numbers beside its numbers would suggest a
    comparison. If our runs have no number in any printed column, or nobody has rated them in one, there is none.
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
        apart = set[int]()
        if head.kind == "paper" and all(line.profile == NURSERY for line in ours) and _compared(head, ours):
            apart = {*range(len(head.cells))} - _unrated(ours)
        shown += [_without_numbers(head, apart), *(line for line in followers if line.kind != "absent")]
        if apart or absent:
            rest += [_without_numbers(head, {*range(len(head.cells))} - apart), *absent]
    narrowed, left_out = _without_empty_columns(replace(table, lines=tuple(shown)))
    return Folded(narrowed, replace(table, lines=tuple(rest)), left_out)


def _without_empty_columns(table: Table) -> tuple[Table, tuple[tuple[str, tuple[str, ...]], ...]]:
    """The table without columns of dashes, and these by the reason that their first row has; all if all are empty."""
    full = [any(line.cells[place].value is not None for line in table.lines) for place in range(len(table.columns))]
    if all(full) or not any(full):
        return table, ()
    reasons = dict[str, list[str]]()
    for place in (place for place, has in enumerate(full) if not has):
        whys = (line.cells[place].why for line in table.lines if line.kind in _MEASURED)
        reasons.setdefault(next(filter(None, whys), UNSAID), []).append(table.columns[place].heading)
    kept = [place for place, has in enumerate(full) if has]
    lines = (replace(line, cells=tuple(line.cells[place] for place in kept)) for line in table.lines)
    narrowed = replace(table, columns=tuple(table.columns[place] for place in kept), lines=tuple(lines))
    return narrowed, tuple((why, tuple(headings)) for why, headings in reasons.items())


def _compared(head: Line, ours: Sequence[Line]) -> bool:
    """Whether any column has a printed number and one of ours."""
    return any(
        printed.value is not None and line.cells[place].value is not None
        for place, printed in enumerate(head.cells)
        for line in ours
    )


def _unrated(ours: Sequence[Line]) -> set[int]:
    """The columns that wait for ratings by people."""
    waits = (NO_RATINGS, DECODED_ANEW)
    return {place for place in range(len(ours[0].cells)) if all(line.cells[place].why in waits for line in ours)}


def _blocks(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Blocks of lines: a row of the paper with the lines under it; lines after a rule; or lines without such rows."""
    block: list[Line] = []
    for line in lines:
        if block and (line.kind in ("paper", "title") or (line.kind == "rule" and block[0].kind != "rule")):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _without_numbers(line: Line, places: Collection[int]) -> Line:
    """A row of the paper without its numbers in these columns; only its title, if no number is left."""
    cells = tuple(Reading(None) if place in places else cell for place, cell in enumerate(line.cells))
    return replace(line, cells=cells, kind=line.kind if any(cell.value is not None for cell in cells) else "title")


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
