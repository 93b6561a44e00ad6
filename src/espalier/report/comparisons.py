"""Paired comparisons of two runs by one metric, for the orderings that a paper claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from espalier.metrics.metric import Metric
from espalier.metrics.paired import paired
from espalier.report.printed import Printed
from espalier.report.results import Comparison

if TYPE_CHECKING:
    import pandas as pd

#: Of the bootstrap behind each comparison, and its seed.
RESAMPLES: Final = 2000
SEED: Final = 1

#: By metric: itself, and its family's statistics, one row for each id and cluster.
Statistics: TypeAlias = "dict[str, tuple[Metric, pd.DataFrame]]"


@dataclass(frozen=True, slots=True)
class RunSegments:
    """The statistics of a run's segments.

    Attributes:
        table: one row per segment: `id`, `cluster`, `seed`, `sample`, and the statistics in columns FAMILY.PLACE. A
            family's cells are empty where it has no statistics of the segment.
        metrics_of: the metrics of a family.
    """

    table: pd.DataFrame
    metrics_of: Callable[[str], Sequence[Metric]]


def comparisons_of(printed: Printed, runs: Mapping[str, RunSegments], profile: str) -> list[Comparison]:
    """Compare the two runs of every ordering, over the ids that both have.

    An ordering is left out if one of its runs is not among `runs`, if a run lacks its metric or has it under another
    signature, or if the metric belongs to the whole corpus, so that segments cannot be resampled.

    Args:
        printed: has the orderings.
        runs: by key.
        profile: of the runs.
    """
    statistics = dict[str, Statistics]()
    comparisons = []
    for ordering in printed.orderings:
        metric, pair = printed.columns[ordering.column].ours[0].metric, (ordering.better, ordering.worse)
        if not all(key in runs for key in pair):
            continue
        for key in pair:
            if key not in statistics:
                statistics[key] = _statistics(runs[key])
        one, other = (statistics[key].get(metric) for key in pair)
        if one is None or other is None or one[0].corpus_level or one[0].signature != other[0].signature:
            continue
        ids = one[1].index.intersection(other[1].index)
        sums = [table.loc[ids].to_numpy(dtype="float64") for _, table in (one, other)]
        clusters = list(ids.get_level_values("cluster"))
        result = paired(one[0], *sums, seed=SEED, resamples=RESAMPLES, groups=clusters)
        if result.difference is None or result.p is None:
            continue
        comparisons.append(
            Comparison(
                one=pair[0],
                other=pair[1],
                metric=metric,
                profile=profile,
                difference=result.difference,
                low=result.low,
                high=result.high,
                p=result.p,
                segments=len(ids),
            )
        )
    return comparisons


def _statistics(run: RunSegments) -> Statistics:
    """Of each metric, the statistics summed over the seeds and samples of an id."""
    families: dict[str, list[str]] = {}
    for name in map(str, run.table.columns):
        if name not in ("id", "cluster", "seed", "sample"):
            families.setdefault(name.rpartition(".")[0], []).append(name)
    statistics: Statistics = {}
    for family, columns in families.items():
        rows = run.table[["id", "cluster", *columns]].dropna(how="all", subset=columns)
        sums = rows.groupby(["id", "cluster"], sort=True)[columns].sum()
        statistics |= {metric.name: (metric, sums) for metric in run.metrics_of(family)}
    return statistics
