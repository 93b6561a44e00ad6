"""The overview of one paper for the page over all papers: best texts, claims by verdict, main table, and size."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from espalier.io.errors import ArtifactError
from espalier.report.build import Report
from espalier.report.folding import fold
from espalier.report.items import Items
from espalier.report.printed import Paper
from espalier.report.showpieces import Showpieces, showpieces_of
from espalier.report.tables import Table

#: Largest number of columns of the main table on this page.
COLUMNS = 7


@dataclass(frozen=True, slots=True)
class Summary:
    """The overview of one paper in one profile.

    Attributes:
        profiles: (name, meaning).
        table: the measured part of the first table in which a trained run has a number; else of the first table with
            any measured number; None if there is none.
        verdicts: (verdict, number of claims).
        claims: (verdict, claim, evidence) of each claim about runs that were made.
        runs: number of runs; `missing` is the number of table places without a run.
        items: number of test items to browse.
        showpieces: the best texts of the system; None without scored texts.
    """

    paper: Paper
    profiles: tuple[tuple[str, str], ...]
    table: Table | None
    verdicts: tuple[tuple[str, int], ...]
    runs: int
    missing: int
    items: int
    claims: tuple[tuple[str, str, str], ...] = ()
    showpieces: Showpieces | None = None


def summary_of(report: Report, items: Items) -> Summary:
    """The summary of a report."""
    measured = [folded.shown for table in report.tables if (folded := fold(table)).measured]
    best = next(filter(_has_trained_run, measured), measured[0] if measured else None)
    verdicts = Counter(ordering.verdict for ordering in report.orderings)
    return Summary(
        paper=report.paper,
        profiles=report.profiles,
        table=_narrowed(best) if best else None,
        verdicts=tuple(verdicts.items()),
        runs=sum(bool(run.model) for run in report.runs),
        missing=len(report.missing),
        items=len(items.ids),
        claims=tuple(
            (ordering.verdict, ordering.claim, ordering.evidence)
            for ordering in report.orderings
            if ordering.verdict != "not computed"
        ),
        showpieces=showpieces_of(items, report.paper.shown),
    )


def summary_json(summary: Summary) -> dict[str, Any]:
    """The summary as plain JSON values."""
    return _ADAPTER.dump_python(summary, mode="json")


def read_summary(values: object, where: str) -> Summary:
    """A summary from JSON values.

    Raises:
        ArtifactError: the values are not a summary.
    """
    try:
        return _ADAPTER.validate_python(values)
    except ValidationError as error:
        raise ArtifactError("not the summary of a report", where=where, remedy="run its report again") from error


_ADAPTER = TypeAdapter(Summary)


def _has_trained_run(table: Table) -> bool:
    """Whether a run of a trained model has a number."""
    runs = (line for line in table.lines if line.kind == "run")
    return table.about == "runs" and any(cell.value is not None for run in runs for cell in run.cells)


def _narrowed(table: Table) -> Table:
    """The first columns with measured numbers, without notes on single rows."""
    ours = [line for line in table.lines if line.kind == "run"] or [line for line in table.lines if line.kind == "row"]
    places = [place for place in range(len(table.columns)) if any(line.cells[place].value is not None for line in ours)]
    places = places[:COLUMNS]
    lines = tuple(
        replace(line, cells=tuple(line.cells[place] for place in places)) for line in table.lines if line.kind != "also"
    )
    return replace(table, columns=tuple(table.columns[place] for place in places), lines=lines)
