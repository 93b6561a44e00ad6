"""The tables of the paper with our lines beside the printed ones, as data; and the formatting of numbers."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeVar

from espalier.report import printed as printed_values
from espalier.report.results import CorpusResult, Curve, RunResult, TrainingResult
from espalier.report.trivial import MARK, comparable_rows, groups_of, is_below, rows_of, worse

#: The profile of corpora that the project generates.
NURSERY: Final = "nursery"
#: The order of profiles; others follow in the order of their runs.
PROFILES: Final = (NURSERY, "small", "paper")
BLANK = "—"
#: The meaning of emphasis, in every format of the report.
KEY: Final = (
    "Bold: printed by the paper. Italic: measured in the nursery, on generated texts; no estimate of the paper's "
    "numbers. With our numbers stand their 95 % intervals."
)
#: The reason of a missing value that nothing more is known of.
UNSAID: Final = "not computed"

Kind = Literal["paper", "title", "run", "also", "absent", "rule", "row"]
Emphasis = Literal["bold", "italic", ""]
Entry = RunResult | CorpusResult | TrainingResult
Profiled = TypeVar("Profiled", bound=Entry | Curve)


@dataclass(frozen=True, slots=True)
class Reading:
    """A number in a cell, with its interval if it is ours, or its printed spread.

    `why` may give the reason for a missing number. `below` tells whether it is worse than the best row without a
    trained model.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    spread: float | None = None
    why: str = ""
    below: bool = False


_NOTHING = Reading(None)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a table, with one reading per column.

    Kinds: "paper", printed numbers; "title", the label of a row without printed numbers, above our runs; "run", one of
    our runs (or a corpus, or a training), with the closest metrics; "also", the same run with other metrics, named by
    the label; "absent", a missing run; "rule", a line above the rows without a trained model; "row", one of these rows.
    `profile` is the profile of our lines; "" for lines of the paper and for missing runs.
    """

    kind: Kind
    label: str
    tags: tuple[str, ...]
    note: str
    cells: tuple[Reading, ...]
    profile: str = ""

    @property
    def emphasis(self) -> Emphasis:
        """The style of the line's label and numbers, in every format of the report.

        Printed numbers are "bold". Numbers of the nursery are "italic", since they do not estimate the paper's.
        """
        if self.kind in ("paper", "title"):
            return "bold"
        return "italic" if self.profile == NURSERY else ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table that is ready to be rendered.

    `legend` explains its rule and marks; "" without them. `about` names the subject of our lines.
    """

    id: str
    title: str
    caption: str
    note: str
    columns: tuple[printed_values.Column, ...]
    lines: tuple[Line, ...]
    legend: str = ""
    about: printed_values.About = "runs"

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Headings over neighbouring columns, each with the number of columns that it spans."""
        spans: list[tuple[str, int]] = []
        for column in self.columns:
            if spans and spans[-1][0] == column.group:
                spans[-1] = (column.group, spans[-1][1] + 1)
            else:
                spans.append((column.group, 1))
        return spans


def table_of(
    table: printed_values.PrintedTable,
    printed: printed_values.Printed,
    runs: Sequence[RunResult],
    corpora: Sequence[CorpusResult],
    trainings: Sequence[TrainingResult] = (),
) -> Table:
    """A printed table with our lines under each row, in the order of `by_profile`."""
    columns = tuple(printed.columns[name] for name in table.columns)
    about: dict[str, Sequence[Entry]] = {"runs": runs, "corpora": corpora, "trainings": trainings}
    entries = about[table.about]
    absent = "not measured" if table.about == "trainings" else "not run"
    copies = (run for run in runs if run.row == "copy" and run.dataset == table.printed_on)
    copied = max(copies, key=lambda run: len(run.ids), default=None)
    lines: list[Line] = []
    shown: list[Entry] = []
    for row in table.rows:
        cells = tuple(_printed(row.printed.get(name), printed.columns[name], copied) for name in table.columns)
        lines.append(Line("paper" if row.printed or not row.runs else "title", row.label, (), row.note, cells))
        notes = {ref.run: ref.note for ref in row.runs}
        ours = [entry for key in notes for entry in entries if entry.key == key]
        for entry in by_profile(ours):
            # Rows that nobody judged stand below no line of a judged table.
            lines += _lines(entry, columns, notes[entry.key], () if table.judged else runs)
        shown += ours
        present = {entry.key for entry in ours}
        lines += [
            Line("absent", key, (absent,), note, (_NOTHING,) * len(columns))
            for key, note in notes.items()
            if key not in present
        ]
    made = Table(table.id, table.title, table.caption, table.note, columns, tuple(lines), about=table.about)
    return made if table.judged else _ruled(made, shown, runs)


def other_runs(printed: printed_values.Printed, runs: Sequence[RunResult]) -> Table | None:
    """The runs that no table of the paper names, with the metrics of its tables; None if there are none.

    Rows without a trained model are included only if there is no run on their texts.
    """
    named = {ref.run for table in printed.tables if table.about == "runs" for row in table.rows for ref in row.runs}
    used = {row.key for run in runs if not run.row for row in rows_of(run, runs)}
    others = [run for run in runs if run.key not in named | used]
    columns = tuple(
        column
        for column in printed.columns.values()
        if any(reading_of(ours.metric, run).value is not None for ours in column.ours for run in others)
    )
    if not columns:
        return None
    lines = tuple(line for run in others for line in _lines(run, columns, run.title, runs))
    table = Table("other-runs", "Other runs", "Runs that no table above names", "", columns, lines)
    return _ruled(table, others, runs)


def other_metrics(printed: printed_values.Printed, runs: Sequence[RunResult]) -> Table | None:
    """The metrics that no table or figure of the paper names, for all runs that have any; None if there are none."""
    columns = {name for table in printed.tables for name in table.columns}
    columns |= {name for figure in printed.figures for name in figure.panels}
    named = {ours.metric for name in columns for ours in printed.columns[name].ours}
    named |= {metric for figure in printed.figures for points in figure.points for metric in points.metrics.values()}
    models = [run for run in runs if not run.row]
    values = ((run, metric, reading_of(metric, run).value) for run in models for metric in run.scores)
    others = [(run.key, metric) for run, metric, value in values if metric not in named and value is not None]
    if not others:
        return None
    keys = {key for key, _ in others}
    shown = tuple(
        printed_values.Column(group="", name=metric, digits=3, ours=(printed_values.OwnMetric(metric=metric),))
        for metric in dict.fromkeys(metric for _, metric in others)
    )
    others_of = [run for run in models if run.key in keys]
    lines = tuple(line for run in others_of for line in _lines(run, shown, "", runs))
    table = Table("other-metrics", "Other metrics", "Metrics that no table above names", "", shown, lines)
    return _ruled(table, others_of, runs)


def reading_of(metric: str, entry: Entry) -> Reading:
    """The reading of an entry for one metric; without a value if it is missing or not finite."""
    scores: Mapping[str, float | None] = entry.counts if isinstance(entry, CorpusResult) else entry.scores
    value = scores.get(metric)
    if value is None or not math.isfinite(value):
        reasons = entry.undefined if isinstance(entry, RunResult) else {}
        return Reading(None, why="" if isinstance(entry, CorpusResult) else reasons.get(metric, UNSAID))
    bounds = entry.intervals.get(metric) if isinstance(entry, RunResult) else None
    low, high = bounds if bounds and len(bounds) == 2 else (None, None)
    return Reading(float(value), low, high)


def tags_of(entry: Entry) -> tuple[str, ...]:
    """Tags to show beside every number of an entry: profile, protocol, and whether it was made elsewhere."""
    tags = [entry.profile]
    if isinstance(entry, RunResult):
        tags.append(str(entry.settings.get("protocol") or ""))
        if entry.provenance is not None:
            tags.append("made elsewhere")
            if entry.provenance.shortened:
                tags.append(f"{entry.provenance.steps:,} of {entry.provenance.steps_asked:,} steps")
    return tuple(tag for tag in tags if tag)


def by_profile(entries: Iterable[Profiled]) -> list[Profiled]:
    """The entries, those of the nursery first; the order within a profile is kept."""
    listed = list(entries)
    known = [*PROFILES, *dict.fromkeys(entry.profile for entry in listed)]
    return sorted(listed, key=lambda entry: known.index(entry.profile))


def number(value: float | None, digits: int) -> str:
    """A number as text, with fixed digits and separated thousands; a dash for None."""
    return BLANK if value is None else f"{value:,.{digits}f}".replace("-", "−")


def value_of(reading: Reading, digits: int) -> str:
    """The number of a reading, after `MARK` if it is below the rows without a trained model."""
    return f"{MARK if reading.below else ''}{number(reading.value, digits)}"


def margin(reading: Reading, digits: int) -> str:
    """The text beside or below a number: the printed "± 0.10", or our interval "98.12–99.20"; "" if there is neither.

    An interval that begins below 0 has the form "−0.12 to 0.20".
    """
    if reading.spread is not None:
        return f"± {number(reading.spread, digits)}"
    if reading.low is not None and reading.high is not None:
        between = " to " if reading.low < 0 else "–"
        return f"{number(reading.low, digits)}{between}{number(reading.high, digits)}"
    return ""


def arrow(better: str | None) -> str:
    """An arrow for the better direction."""
    return {"higher": "↑", "lower": "↓"}.get(better or "", "")


def _printed(
    value: printed_values.PrintedValue | None, column: printed_values.Column, copied: RunResult | None
) -> Reading:
    """A printed value, marked `below` if copying the source is better by the metric closest to its column."""
    if value is None:
        return _NOTHING
    other = copied.scores.get(column.metric) if copied and column.ours else None
    return Reading(value.value, spread=value.spread, below=worse(value.value, other, column.better))


def _lines(
    entry: Entry, columns: Sequence[printed_values.Column], note: str, runs: Sequence[RunResult] = ()
) -> Iterable[Line]:
    """The lines of an entry or of a row without a model. Values below the rows of `runs` are marked."""
    rows = comparable_rows(rows_of(entry, runs), entry) if isinstance(entry, RunResult) and not entry.row else []

    def cell(column: printed_values.Column, metric: str | None) -> Reading:
        if metric is None:
            return _NOTHING
        reading = reading_of(metric, entry)
        below = isinstance(entry, RunResult) and is_below(metric, column.better, entry, rows)
        return replace(reading, below=below)

    nearest = tuple(cell(column, column.metric if column.ours else None) for column in columns)
    kind: Kind = "row" if isinstance(entry, RunResult) and entry.row else "run"
    if isinstance(entry, TrainingResult):
        note = "; ".join(part for part in (note, entry.machine) if part)
    yield Line(kind, entry.key, tags_of(entry), note, nearest, entry.profile)
    for name in dict.fromkeys(reading.name for column in columns for reading in column.ours[1:]):
        metrics = [next((r.metric for r in column.ours[1:] if r.name == name), None) for column in columns]
        cells = tuple(cell(column, metric) for column, metric in zip(columns, metrics, strict=True))
        if any(reading.value is not None for reading in cells):
            yield Line("also", name, (), "", cells, entry.profile)


def _ruled(table: Table, shown: Sequence[Entry], runs: Sequence[RunResult]) -> Table:
    """The table with the rows without a trained model at the bottom, under a rule, and a legend."""
    groups, alone = groups_of([entry for entry in shown if isinstance(entry, RunResult)], runs)
    above = {entry.key for entry in shown}
    lines = list(table.lines)
    for members, rows in groups:
        one = members[0]
        texts = f"{one.dataset}, {number(len(one.ids), 0)} records" if one.ids else one.dataset
        names = ", ".join(dict.fromkeys(run.key for run in members))
        of = texts if len(groups) == 1 and not alone else f"{texts}: those of {names}"
        lines.append(
            Line("rule", "Without a trained model", tags_of(one)[:1], of, (_NOTHING,) * len(table.columns), one.profile)
        )
        for row in rows:
            if row.key not in above:
                lines += _lines(row, table.columns, row.title)
    parts = []
    if groups:
        parts.append("Below the rule: rows without a trained model, on the same records as the runs.")
    if any(reading.below for line in lines if line.kind != "paper" for reading in line.cells):
        searched = any(row.method for _, rows in groups for row in rows)
        parts.append(
            f"{MARK} worse than the best of these rows in its column. References do not count here, nor do values that "
            "follow from how a row is made, nor rows that are given a structure that the run is not given"
            f"{', nor rows that name another method of decoding than the run has' if searched else ''}."
        )
    if any(reading.below for line in lines if line.kind == "paper" for reading in line.cells):
        parts.append(f"Of printed values {MARK} marks those that are worse than copying the source.")
    if alone:
        names = ", ".join(dict.fromkeys(run.key for run in alone))
        parts.append(f"Without such rows, for none is scored on the same records: {names}.")
    return replace(table, lines=tuple(lines), legend=" ".join(parts))
