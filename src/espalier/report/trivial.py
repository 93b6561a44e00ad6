"""Rows without a trained model: which ones belong under a run, and which values of the run are worse."""

import math
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from espalier.metrics.metric import protocol_of
from espalier.report.results import RunResult

#: Stands before a value that is worse than the best trivial row.
MARK: Final = "▾"


def rows_of(run: RunResult, results: Iterable[RunResult]) -> tuple[RunResult, ...]:
    """The rows without a model that are scored on the texts of a run: same profile, dataset and ids."""
    return tuple(row for row in results if row.row and _texts(row) == _texts(run))


def comparable_rows(rows: Iterable[RunResult], *runs: RunResult) -> list[RunResult]:
    """The rows that read no structure of the text to come that one of these runs lacks.

    A row that names a method of decoding is compared only with runs that have it.
    """

    def fits(row: RunResult, run: RunResult) -> bool:
        return row.structures <= run.structures and row.method in ("", run.method)

    return [row for row in rows if any(fits(row, run) for run in runs)]


def groups_of(
    runs: Sequence[RunResult], results: Sequence[RunResult]
) -> tuple[list[tuple[list[RunResult], tuple[RunResult, ...]]], list[RunResult]]:
    """Groups of runs with the rows that belong under them.

    Returns:
        Groups of runs scored on the same texts, each with its rows; and the runs without such rows.
    """
    groups: dict[object, tuple[list[RunResult], tuple[RunResult, ...]]] = {}
    alone: list[RunResult] = []
    for run in runs:
        if run.row:
            continue
        if _texts(run) not in groups:
            groups[_texts(run)] = ([], rows_of(run, results))
        members, rows = groups[_texts(run)]
        (members if rows else alone).append(run)
    return [group for group in groups.values() if group[0]], alone


def is_below(
    metric: str,
    better: Literal["higher", "lower"] | None,
    run: RunResult,
    rows: Iterable[RunResult],
    *,
    ties: bool = False,
) -> bool:
    """Whether the value of a run is worse than the best value of the trivial rows; with `ties`, or equal to it.

    References are not trivial rows. A row counts only if its value is computed in the same way and does not follow from
    its construction. Values are compared without intervals.
    """
    value = run.scores.get(metric)
    if run.row or value is None or not math.isfinite(value):
        return False
    return any(
        worse(value, row.scores.get(metric), better) or (ties and value == row.scores.get(metric))
        for row in rows
        if row.trivial and not _is_given(metric, row) and _protocol(row, metric) == _protocol(run, metric)
    )


def worse(value: float, other: float | None, better: Literal["higher", "lower"] | None) -> bool:
    """Whether a value is worse than another; False if the direction or the other value is missing."""
    return better is not None and other is not None and (other > value if better == "higher" else other < value)


def _texts(entry: RunResult) -> tuple[str, str, frozenset[str]]:
    return entry.profile, entry.dataset, entry.ids


def _is_given(metric: str, row: RunResult) -> bool:
    """Whether a value follows from the construction of the row, over all texts or over a part such as `_seen`."""
    return any(metric == given or metric.startswith(f"{given}_") for given in row.given)


def _protocol(entry: RunResult, metric: str) -> str:
    return protocol_of(entry.signatures.get(metric, ""))
