"""Paired comparisons of two runs by one metric, for the orderings claimed by a paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from espalier.metrics.metric import Metric
from espalier.metrics.paired import paired
from espalier.metrics.registry import families_of
from espalier.report.printed import Column, Printed
from espalier.report.results import Comparison

if TYPE_CHECKING:
    import pandas as pd

#: Number of resamples in the bootstrap of each comparison, and its seed.
RESAMPLES: Final = 2000
SEED: Final = 1


@dataclass(frozen=True, slots=True)
class RunSegments:
    """The statistics of the segments of a run.

    Attributes:
        table: one row per segment: `id`, `cluster`, `seed`, `sample`, and the statistics in columns FAMILY.PLACE. Cells
            are empty if a family has no statistics for a segment.
        task: the task that the run was scored by.
        trained: whether a model wrote the texts. Else they are the same under every seed.
    """

    table: pd.DataFrame
    task: str
    trained: bool = True

    @property
    def metrics(self) -> list[tuple[Metric, list[str]]]:
        """All metrics, each with the columns of its statistics."""
        families = families_of(self.table.columns, self.task)
        return [(metric, columns) for family, columns in families.items() for metric in family.metrics]


class Statistics(NamedTuple):
    """A metric, and for each seed the statistics of its family, one row per id and cluster."""

    metric: Metric
    by_seed: list[pd.DataFrame]
    trained: bool

    def under(self, seeds: int) -> list[pd.DataFrame]:
        """The statistics under so many seeds if no model wrote the texts, which then never vary; else its own."""
        return self.by_seed if self.trained else self.by_seed * (seeds // len(self.by_seed))


def comparisons_of(printed: Printed, runs: Mapping[str, RunSegments], profile: str) -> list[Comparison]:
    """Compare the two runs of every ordering by each of its columns, over the ids that both have for all seeds.

    An ordering is left out if one of its runs is not among `runs`. If runs cannot be compared, the comparison gives the
    reason: a run lacks the metric or has it with another signature, the metric is defined only for whole corpora, no id
    is shared, or all segments form one cluster.

    Args:
        runs: runs by key, and rows without a model by ENTRY/ROW.
    """
    statistics = dict[str, dict[str, Statistics]]()
    comparisons = []
    for ordering in printed.orderings:
        pair = (ordering.better, ordering.worse)
        if not all(key in runs for key in pair):
            continue
        for key in pair:
            if key not in statistics:
                statistics[key] = _statistics(runs[key])
        for column in (printed.columns[name] for name in ordering.columns):
            for metric in column.compared:
                comparison = Comparison(
                    one=pair[0], other=pair[1], metric=metric, profile=profile, null=null_of(column, ordering.margin)
                )
                comparisons.append(_compared(comparison, *(statistics[key].get(metric) for key in pair)))
    return comparisons


def null_of(column: Column, margin: float | None) -> float:
    """The difference at which the better run of the claim is worse by exactly the margin; 0 without a margin."""
    return 0.0 if margin is None else -margin if column.better == "higher" else margin


def _compared(comparison: Comparison, one: Statistics | None, other: Statistics | None) -> Comparison:
    def without(why: str, **facts: Any) -> Comparison:
        return replace(comparison, why=why, **facts)

    if one is None or other is None:
        return without("a run lacks the metric")
    if one.metric.corpus_level:
        return without("the metric is of the whole corpus")
    if one.metric.signature != other.metric.signature:
        return without("the runs' signatures differ")
    both = one.under(len(other.by_seed)), other.under(len(one.by_seed))
    tables = [*both[0], *both[1]]
    ids, every = tables[0].index, tables[0].index
    for table in tables[1:]:
        ids, every = ids.intersection(table.index), every.union(table.index)
    clusters = list(ids.get_level_values("cluster"))
    facts: dict[str, Any] = {
        "seeds": (len(both[0]), len(both[1])),
        "clusters": len(set(clusters)),
        "segments": len(ids),
        "left_out": len(every) - len(ids),
    }
    if not len(ids):
        return without("the runs share no id", **facts)
    # (seeds, ids, k) of each system.
    rows = (np.stack([table.loc[ids].to_numpy(dtype="float64") for table in system]) for system in both)
    result = paired(
        one.metric, *rows,
        seed=SEED, resamples=RESAMPLES, groups=clusters, null=comparison.null,
    )  # fmt: skip
    facts |= {"difference": result.difference, "low": result.low, "high": result.high, "p": result.p}
    if result.difference is None:
        return without(one.metric.undefined, **facts)
    return without("all segments are one cluster" if facts["clusters"] == 1 else "", **facts)


def _statistics(run: RunSegments) -> dict[str, Statistics]:
    """For each metric, the statistics of each seed, summed over the samples of an id."""
    statistics: dict[str, Statistics] = {}
    for family, columns in families_of(run.table.columns, run.task).items():
        rows = run.table[["seed", "id", "cluster", *columns]].dropna(how="all", subset=columns)
        by_seed = [
            table.groupby(["id", "cluster"], sort=True)[columns].sum() for _, table in rows.groupby("seed", sort=True)
        ]
        if by_seed:
            statistics |= {metric.name: Statistics(metric, by_seed, run.trained) for metric in family.metrics}
    return statistics
