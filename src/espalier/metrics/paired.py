"""Do two systems differ? One system's score less the other's, over clusters of segments that both have answered.

Both systems are scored on the same resamples of the clusters, so that what is hard for both cancels (Koehn 2004). Where
each system has several seeds, the score is the mean over its seeds, and the interval and p are those of
`espalier.metrics.seed_variance`, which ask whether other seeds would tell the same. With one seed of either they cannot
ask that: with d the difference on all clusters, d_1 ... d_B those of the resamples for which it is defined, and d_0 the
difference under the null hypothesis, the interval is that of the percentiles and

    p = min(1, 2 (1 + #{b: d_b <= d_0}) / (B + 1))    where d > d_0, and with >= where d < d_0; p = 1 where d = d_0

is two-sided; the 1 counts the observed sample itself, so that p is never 0 (Davison and Hinkley 1997, 4.2.3). With
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
    """One system's value less another's. All four are None where a value is undefined.

    Attributes:
        difference: on all segments; above 0 the first system has more.
        low: of the interval of the difference; None, as `high` and `p`, without resamples or with a single cluster.
        high: likewise.
        p: two-sided, from 2 / (resamples + 1) to 1.
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
        metric: over the statistics.
        one: (seeds, segments, k), the first system's statistics under each of its seeds; or (segments, k).
        other: the second's, under seeds of its own, row for row of the same segments.
        seed: of the resampling; that of `scores` draws the same resamples.
        resamples: how many, B at most.
        confidence: of the interval.
        groups: one label per segment; segments of one label are a cluster and are resampled together.
        null: the difference of which p is the probability.

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
