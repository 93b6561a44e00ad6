"""What the paper claims of two systems, and whether our numbers bear it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from espalier.report.printed import Column, Printed, PrintedOrdering
from espalier.report.results import Comparison, RunResult
from espalier.report.tables import BLANK, Reading, reading_of

#: A difference counts where chance alone would bring one as large less often than this.
SIGNIFICANT = 0.05

Verdict = Literal["holds", "reversed", "undecided", "not computed"]


@dataclass(frozen=True, slots=True)
class Ordering:
    """A claim with the numbers of both runs, (better, worse) as the paper has them.

    `printed` has none where the paper prints none for a run of ours. `gain` is how much better the one is in our
    numbers, in the metric's own unit: below 0 where it is worse.
    """

    claim: str
    better: str
    worse: str
    column: Column
    profile: str
    printed: tuple[Reading, Reading]
    ours: tuple[Reading, Reading]
    gain: Reading
    p: float | None
    segments: int
    verdict: Verdict


def orderings_of(
    printed: Printed, runs: Sequence[RunResult], comparisons: Sequence[Comparison]
) -> tuple[Ordering, ...]:
    """Every claim, once for each profile that made either run; once without a profile where neither was made."""
    return tuple(
        _ordering(ordering, printed, runs, comparisons, profile)
        for ordering in printed.orderings
        for profile in dict.fromkeys(run.profile for run in runs if run.key in (ordering.better, ordering.worse))
        or [""]
    )


def probability(p: float | None) -> str:
    """A p as it is written: three digits, and never 0."""
    if p is None:
        return BLANK
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _ordering(
    claim: PrintedOrdering,
    printed: Printed,
    runs: Sequence[RunResult],
    comparisons: Sequence[Comparison],
    profile: str,
) -> Ordering:
    column = printed.columns[claim.column]
    metric, pair = column.ours[0].metric, (claim.better, claim.worse)
    comparison = next(
        (c for c in comparisons if (c.one, c.other, c.metric, c.profile) == (*pair, metric, profile)), None
    )
    by_key = {run.key: run for run in runs if run.profile == profile}
    better, worse = (reading_of(metric, by_key[key]) if key in by_key else Reading(None, why="not run") for key in pair)
    gain = _gain(comparison, column)
    return Ordering(
        claim.claim,
        *pair,
        column,
        profile,
        (_printed(printed, claim.better, claim.column), _printed(printed, claim.worse, claim.column)),
        (better, worse),
        gain,
        comparison.p if comparison else None,
        comparison.segments if comparison else 0,
        _verdict(gain.value, comparison.p if comparison else None),
    )


def _gain(comparison: Comparison | None, column: Column) -> Reading:
    if comparison is None:
        return Reading(None, why="not computed")
    sign = 1.0 if column.better == "higher" else -1.0
    if comparison.low is None or comparison.high is None:
        return Reading(sign * comparison.difference)
    low, high = sorted((sign * comparison.low, sign * comparison.high))
    return Reading(sign * comparison.difference, low, high)


def _verdict(gain: float | None, p: float | None) -> Verdict:
    if gain is None or p is None:
        return "not computed"
    if p >= SIGNIFICANT or gain == 0:
        return "undecided"
    return "holds" if gain > 0 else "reversed"


def _printed(printed: Printed, run: str, column: str) -> Reading:
    """What the paper prints in the first row of this run that has such a column."""
    for table in printed.tables:
        for row in table.rows:
            if column in row.printed and any(ref.run == run for ref in row.runs):
                value = row.printed[column]
                return Reading(value.value, spread=value.spread)
    return Reading(None)
