"""A figure of the paper with our numbers, as data: metrics by setting, several metrics of runs, or measured texts."""

from collections.abc import Sequence
from dataclasses import dataclass

from espalier.report.printed import Measured, Points, Printed, PrintedFigure
from espalier.report.results import CorpusResult, RunResult
from espalier.report.tables import Reading, reading_of

#: (x, reading) from left to right.
Series = tuple[tuple[float, Reading], ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel of a figure.

    Attributes:
        lines: lines by name. A line is a profile if x is a setting, a run if there are `ticks`, or a measured column of
            a corpus if there are `rows`.
        levels: horizontal lines, by the name of their line.
        ticks: names of x = 0, 1, 2, ...
        rows: each x, with the number of texts behind its points if known.
    """

    heading: str
    better: str | None
    lines: tuple[tuple[str, Series], ...]
    levels: tuple[tuple[str, Reading], ...] = ()
    ticks: tuple[str, ...] = ()
    rows: tuple[tuple[float, float | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Study:
    """A figure of the paper with our numbers. `missing` are the keys of its runs without outputs."""

    printed: PrintedFigure
    panels: tuple[Panel, ...]
    missing: tuple[str, ...]

    @property
    def sampled(self) -> bool:
        """Whether any number has an interval."""
        lines = (line for panel in self.panels for _, line in panel.lines)
        return any(reading.low is not None for line in lines for _, reading in line)


def study_of(
    figure: PrintedFigure, printed: Printed, runs: Sequence[RunResult], corpora: Sequence[CorpusResult] = ()
) -> Study:
    """The panels with at least one line. A line has at least two points, all from one profile."""
    profiles = list(dict.fromkeys(run.profile for run in runs if run.key in figure.runs))
    panels = [_by_setting(name, figure, printed, runs, profiles) for name in figure.panels]
    for points in figure.points:
        for profile in profiles:
            members = [run for run in runs if run.key in figure.runs and run.profile == profile]
            heading = f"{points.name} · {profile}" if len(profiles) > 1 else points.name
            panels.append(_by_points(points, heading, figure, members))
    if figure.measured:
        panels += [_measured(figure.measured, corpus) for corpus in corpora if figure.measured.name in corpus.measures]
    named = (*figure.runs, *([figure.beside] if figure.beside else []))
    present = {run.key for run in runs}
    missing = tuple(key for key in named if key not in present)
    return Study(figure, tuple(panel for panel in panels if panel.lines), missing)


def _by_setting(
    name: str, figure: PrintedFigure, printed: Printed, runs: Sequence[RunResult], profiles: Sequence[str]
) -> Panel:
    column = printed.columns[name]
    metric = column.metric
    members = [run for run in runs if run.key in figure.runs and _is_number(run.settings.get(figure.setting))]
    lines, levels = [], []
    for profile in profiles:
        points = [
            (float(run.settings[figure.setting]), reading_of(metric, run)) for run in members if run.profile == profile
        ]
        points = sorted(((x, y) for x, y in points if y.value is not None), key=lambda point: point[0])
        if len(points) > 1:
            lines.append((profile, tuple(points)))
        level = next((run for run in runs if run.key == figure.beside and run.profile == profile), None)
        if level is not None and (reading := reading_of(metric, level)).value is not None:
            levels.append((profile, reading))
    return Panel(column.heading, column.better, tuple(lines), tuple(levels))


def _by_points(points: Points, heading: str, figure: PrintedFigure, runs: Sequence[RunResult]) -> Panel:
    lines = []
    for run in sorted(runs, key=lambda run: figure.runs.index(run.key)):
        readings = [(float(x), reading_of(metric, run)) for x, metric in enumerate(points.metrics.values())]
        known = tuple((x, reading) for x, reading in readings if reading.value is not None)
        if len(known) > 1:
            lines.append((run.key, known))
    return Panel(heading, points.better, tuple(lines), ticks=tuple(points.metrics))


def _measured(measured: Measured, corpus: CorpusResult) -> Panel:
    points = sorted(((float(x), row) for x, row in corpus.measures[measured.name].items()), key=lambda point: point[0])
    lines = [
        (label, tuple((x, Reading(row[name])) for x, row in points if name in row))
        for name, label in measured.lines.items()
    ]
    rows = tuple((x, row.get(measured.count) if measured.count else None) for x, row in points)
    return Panel(f"{corpus.key} · {corpus.profile}", None, tuple(line for line in lines if len(line[1]) > 1), rows=rows)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
