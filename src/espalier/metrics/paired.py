"""Paired comparison of two systems: the difference of their scores over the same clusters of segments.

Both systems are scored on the same resamples of the clusters, so that the difficulty of segments cancels (Koehn 2004).
If each system has several seeds, its score is the mean over seeds, and interval and p come from
`espalier.metrics.seed_variance`, which accounts for the variance between seeds. If a system has only one seed, that
variance is unknown. Let d be the difference on all clusters, d_1 ... d_B the differences on the resamples where it is
defined, and d_0 the difference under the null hypothesis. Then the interval is the percentile interval, and

    p = min(1, 2 (1 + #{b: d_b <= d_0}) / (B + 1))    if d > d_0, with >= if d < d_0; p = 1 if d = d_0

is two-sided. The 1 counts the observed sample itself, so p is never 0 (Davison and Hinkley 1997, 4.2.3). With
several seeds p is no smaller than the least of these, 2 / (B + 1).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from espalier.io.errors import EspalierError
from espalier.metrics.bootstrap import Array, percentile_interval, resampled_sums, sums_by_group
from espalier.metrics.metric import Metric, require_lengths
from espalier.metrics.seed_variance import components


@dataclass(frozen=True, slots=True)
class Paired:
    """The value of one system minus that of another. All attributes are None if a value is undefined.

    Attributes:
        difference: the difference on all segments; positive if the first system has the larger value.
        low: lower end of the interval. `low`, `high` and `p` are None without resamples or with a single cluster.
        high: upper end of the interval.
        p: two-sided p-value, from 2 / (resamples + 1) to 1.
    """

    difference: float | None
    low: float | None
    high: float | None
    p: float | None


def paired(
    metric: Metric,
    one: Array,
    other: Array,
    *,
    seed: int,
    resamples: int = 10_000,
    confidence: float = 0.95,
    groups: Sequence[Hashable] | None = None,
    null: float = 0.0,
) -> Paired:
    """Compare two systems by one metric.

    Args:
        metric: the metric, computed from the statistics.
        one: (seeds, segments, k), statistics of the first system for each of its seeds; or (segments, k).
        other: the same for the second system and its own seeds; rows are the same segments.
        seed: seed of the resampling; the seed of `scores` gives the same resamples.
        resamples: number of resamples, an upper limit for B.
        confidence: confidence level of the interval.
        groups: one label per segment; segments with the same label form a cluster and are resampled together.
        null: the difference under the null hypothesis, d_0.

    Raises:
        EspalierError: the systems have different numbers of segments.
    """
    one, other = (rows[None] if rows.ndim == 2 else rows for rows in (one, other))
    segments, width = one.shape[1:]
    if segments != other.shape[1]:
        raise EspalierError(
            f"{segments} and {other.shape[1]} segments", where="paired comparison", remedy="pair them by id before"
        )
    seeds = len(one) + len(other)
    every = np.hstack([*one, *other])  # (segments, seeds * k)
    sizes = np.ones(segments)
    if groups is not None:
        require_lengths("segments", segments, groups=groups)
        every, sizes = sums_by_group(every, groups), sums_by_group(sizes[:, None], groups)[:, 0]

    def values(sums: Array) -> tuple[Array, Array]:
        by_seed = metric.aggregate(sums.reshape(*sums.shape[:-1], seeds, width))
        return by_seed[..., : len(one)], by_seed[..., len(one) :]

    scores = values(every.sum(axis=0))
    observed = float(scores[0].mean() - scores[1].mean())
    if not math.isfinite(observed):
        return Paired(None, None, None, None)
    drawn = values(resampled_sums(every, seed=seed, resamples=resamples if len(every) > 1 else 0))
    defined = np.isfinite(np.hstack(drawn)).all(axis=1)
    drawn = (drawn[0][defined], drawn[1][defined])
    count = int(defined.sum())
    if not count:
        return Paired(observed, None, None, None)
    least = 2 / (count + 1)
    if min(len(one), len(other)) > 1:
        parts = components(scores, drawn, sizes)
        half = parts.half_width(1.0 - confidence)
        return Paired(observed, observed - half, observed + half, max(least, parts.p(observed - null)))
    differences = drawn[0].mean(axis=1) - drawn[1].mean(axis=1)
    interval = percentile_interval(differences, confidence)
    assert interval is not None  # every difference is defined
    against = int(np.count_nonzero((differences - null) * np.sign(observed - null) <= 0))
    return Paired(observed, *interval, min(1.0, least * (1 + against)))
