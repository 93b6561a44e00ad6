"""A report as data: everything that a page, a terminal or a Markdown file shows, decided once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from espalier.report.poems import Poem, mark
from espalier.report.printed import Paper, Printed, PrintedFigure
from espalier.report.results import CorpusResult, Curve, Provenance, RunResult
from espalier.report.tables import Reading, Table, by_profile, reading_of, table_of, tags_of


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run as it was made."""

    key: str
    title: str
    model: str
    profile: str
    settings: tuple[tuple[str, str], ...]
    provenance: Provenance | None


@dataclass(frozen=True, slots=True)
class CorpusLine:
    """A corpus as it was read: its counts, and its quarantine by reason."""

    key: str
    title: str
    profile: str
    counts: tuple[tuple[str, float], ...]
    quarantined: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """One metric against a setting: per profile, points of (setting, reading), and the level of the run beside them."""

    heading: str
    better: str | None
    lines: tuple[tuple[str, tuple[tuple[float, Reading], ...]], ...]
    levels: tuple[tuple[str, Reading], ...]


@dataclass(frozen=True, slots=True)
class Study:
    """A figure of the paper, with our numbers. `missing` are its runs that were not made."""

    id: str
    title: str
    caption: str
    note: str
    setting: str
    beside: str | None
    panels: tuple[Panel, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PoemGroup:
    """Some verses of one run. The first run of each profile and language is `featured`: it stands open."""

    key: str
    title: str
    tags: tuple[str, ...]
    language: str
    poems: tuple[Poem, ...]
    featured: bool


@dataclass(frozen=True, slots=True)
class Computation:
    """How a score was computed. `runs` names those with this signature, and is empty when it is that of all."""

    metric: str
    signature: str
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What is shown, in the order in which it is shown. `missing` are runs that a table names and nobody made."""

    paper: Paper
    profiles: tuple[tuple[str, str], ...]
    protocols: tuple[tuple[str, str], ...]
    tables: tuple[Table, ...]
    studies: tuple[Study, ...]
    curves: tuple[Curve, ...]
    poems: tuple[PoemGroup, ...]
    runs: tuple[RunLine, ...]
    corpora: tuple[CorpusLine, ...]
    computations: tuple[Computation, ...]
    missing: tuple[str, ...]


def build(
    printed: Printed,
    results: Sequence[RunResult],
    curves: Sequence[Curve] = (),
    corpora: Sequence[CorpusResult] = (),
    *,
    poems_per_run: int = 3,
) -> Report:
    """Put runs beside what a paper prints.

    Args:
        printed: the paper's numbers, and which run belongs to which row.
        results: the runs that were made, of one or several profiles. Runs that no table names are listed all the same.
        curves: the losses of their models.
        corpora: what the corpora hold, for tables about corpora.
        poems_per_run: how many samples of each run to show.
    """
    runs = by_profile(results)
    tables = tuple(table_of(table, printed, runs, by_profile(corpora)) for table in printed.tables)
    return Report(
        paper=printed.paper,
        profiles=_explained(
            printed.profiles, [*(run.profile for run in runs), *(corpus.profile for corpus in corpora)]
        ),
        protocols=_explained(printed.protocols, _protocols(runs, tables)),
        tables=tables,
        studies=tuple(_study(figure, printed, runs) for figure in printed.figures),
        curves=tuple(curve for curve in by_profile(curves) if curve.points),
        poems=_poems(runs, poems_per_run),
        runs=tuple(_run_line(run) for run in runs),
        corpora=tuple(
            CorpusLine(c.key, c.title, c.profile, tuple(c.counts.items()), tuple(c.quarantined.items()))
            for c in by_profile(corpora)
        ),
        computations=_computations(runs),
        missing=_missing(printed, runs),
    )


def _poems(runs: Sequence[RunResult], count: int) -> tuple[PoemGroup, ...]:
    groups: list[PoemGroup] = []
    seen: set[tuple[str, str]] = set()
    for run in runs:
        poems = tuple(mark(sample, run.language) for sample in run.samples[:count])
        if poems:
            featured = (run.profile, run.language) not in seen
            seen.add((run.profile, run.language))
            groups.append(PoemGroup(run.key, run.title, tags_of(run), run.language, poems, featured))
    return tuple(groups)


def _run_line(run: RunResult) -> RunLine:
    settings = tuple((name, _worded(value)) for name, value in run.settings.items() if value not in (None, "", [], ()))
    return RunLine(run.key, run.title, run.model, run.profile, settings, run.provenance)


def _worded(value: object) -> str:
    return ", ".join(str(part) for part in value) if isinstance(value, list | tuple) else str(value)


def _study(figure: PrintedFigure, printed: Printed, runs: Sequence[RunResult]) -> Study:
    profiles = dict.fromkeys(run.profile for run in runs)
    made = [run for run in runs if run.key in figure.runs and _is_number(run.settings.get(figure.setting))]
    panels = []
    for name in figure.panels:
        column = printed.columns[name]
        metric = column.ours[0].metric
        lines, levels = [], []
        for profile in profiles:
            points = [
                (float(run.settings[figure.setting]), reading_of(metric, run)) for run in made if run.profile == profile
            ]
            points = sorted(((x, y) for x, y in points if y.value is not None), key=lambda point: point[0])
            if len(points) > 1:
                lines.append((profile, tuple(points)))
            level = next((run for run in runs if run.key == figure.beside and run.profile == profile), None)
            if level is not None and (reading := reading_of(metric, level)).value is not None:
                levels.append((profile, reading))
        if lines:
            heading = " ".join(part for part in (column.group, column.name) if part)
            panels.append(Panel(heading, column.better, tuple(lines), tuple(levels)))
    wanted = (*figure.runs, *([figure.beside] if figure.beside else []))
    keys = {run.key for run in runs}
    missing = tuple(key for key in wanted if key not in keys)
    return Study(
        figure.id, figure.title, figure.caption, figure.note, figure.setting, figure.beside, tuple(panels), missing
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _explained(texts: dict[str, str], used: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, texts.get(name, "")) for name in dict.fromkeys(used) if name)


def _protocols(runs: Sequence[RunResult], tables: Sequence[Table]) -> list[str]:
    decoding = [str(run.settings.get("protocol") or "") for run in runs]
    readings = [line.label for table in tables for line in table.lines if line.kind == "also"]
    return [*decoding, *readings]


def _computations(runs: Sequence[RunResult]) -> tuple[Computation, ...]:
    found: dict[str, dict[str, list[str]]] = {}
    for run in runs:
        for metric, signature in run.signatures.items():
            found.setdefault(metric, {}).setdefault(signature, []).append(f"{run.key} ({run.profile})")
    return tuple(
        Computation(metric, signature, tuple(keys) if len(signatures) > 1 else ())
        for metric, signatures in sorted(found.items())
        for signature, keys in signatures.items()
    )


def _missing(printed: Printed, runs: Sequence[RunResult]) -> tuple[str, ...]:
    made = {run.key for run in runs}
    named = (ref.run for table in printed.tables if table.about == "runs" for row in table.rows for ref in row.runs)
    return tuple(dict.fromkeys(key for key in named if key not in made))
