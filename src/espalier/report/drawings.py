"""Drawings of single texts of runs: granularity (C-DNPG, figure 2) and structures (SAT, figures 2 and 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from espalier.report.examples import ExampleGroup, ExampleTable
from espalier.report.figures import granularity_figure, read_granularity
from espalier.report.printed import PrintedDrawings
from espalier.report.results import RunResult
from espalier.report.structures import aligned_figure, read_aligned


class Kind(NamedTuple):
    """A way to draw texts.

    Attributes:
        read: function from an output row, the run's label and the printed numbers to the data to draw; None if the run
            did not keep them.
        figure: function from the data of several texts and a prefix of ids to inline SVG.
    """

    read: Callable[[Mapping[str, str], RunResult, str, PrintedDrawings], Any]
    figure: Callable[[Sequence[Any], str], str]


KINDS: Final = {
    "granularity": Kind(lambda row, run, label, _: read_granularity(row, run.key, label), granularity_figure),
    "structures": Kind(
        lambda row, run, label, printed: read_aligned(row, run.language, label, printed.structures),
        aligned_figure,
    ),
}


@dataclass(frozen=True, slots=True)
class DrawingGroup:
    """The texts of one profile to draw, in the form of their kind."""

    profile: str
    texts: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Drawings:
    """Drawings for a report. `missing` are the keys of runs without data to draw."""

    id: str
    title: str
    caption: str
    note: str
    of: str
    groups: tuple[DrawingGroup, ...]
    missing: tuple[str, ...]

    @property
    def figures(self) -> list[tuple[str, str]]:
        """(profile, inline SVG) of each group."""
        figure = KINDS[self.of].figure
        return [(group.profile, figure(group.texts, f"{self.id}-{group.profile}")) for group in self.groups]


def drawings_of(printed: PrintedDrawings, examples: Sequence[ExampleTable], runs: Sequence[RunResult]) -> Drawings:
    """Drawings of the first of the named examples, text by text; under each text, the runs in order."""
    groups, drawn = list[DrawingGroup](), set[str]()
    for group in (group for each in examples if each.id == printed.examples for group in each.groups):
        found = _texts(printed, group, [run for run in runs if run.profile == group.profile])
        groups += [DrawingGroup(group.profile, tuple(text for _, text in found))] if found else []
        drawn |= {key for key, _ in found}
    missing = tuple(key for key in printed.runs if key not in drawn)
    return Drawings(printed.id, printed.title, printed.caption, printed.note, printed.of, tuple(groups), missing)


def _texts(printed: PrintedDrawings, group: ExampleGroup, runs: Sequence[RunResult]) -> list[tuple[str, Any]]:
    """(key of the run, data to draw) of each text."""
    ids = [one.id for one in group.examples[: printed.count]]
    rows = {
        (run.key, row["id"]): (run, row)
        for run in runs
        for row in reversed(run.rows)  # so that the first seed's stays, of several
        if run.key in printed.runs and row["id"] in ids
    }
    found = [
        (key, KINDS[printed.of].read(row, run, label, printed))
        for id_ in ids
        for key, label in printed.runs.items()
        if (key, id_) in rows
        for run, row in [rows[key, id_]]
    ]
    return [(key, text) for key, text in found if text is not None]
