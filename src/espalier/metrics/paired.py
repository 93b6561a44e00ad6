"""Do two systems differ? The paired bootstrap (Koehn 2004) over segments that both have answered.

Both systems are scored on the same resamples, so that what is hard for both cancels. With d the difference on all
segments and d_1 ... d_B those of the resamples for which it is defined,

    p = min(1, 2 (1 + #{b: d_b <= 0}) / (B + 1))    where d > 0, and with >= where d < 0; p = 1 where d = 0

is two-sided; the 1 counts the observed sample itself, so that p is never 0 (Davison and Hinkley 1997, 4.2.3).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from espalier.io.errors import EspalierError
from espalier.metrics.bootstrap import Array, percentile_interval, resampled_sums, sums_by_group
from espalier.metrics.metric import Metric, require_lengths


@dataclass(frozen=True, slots=True)
class Paired:
    """One system's value less another's. All four are None where a value is undefined.

    Attributes:
        difference: on all segments; above 0 the first system has more.
        low: of the percentile interval of the resampled differences; None, as `high` and `p`, without resamples.
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
) -> Paired:
    """Compare two systems by one metric.

    Args:
        metric: over the statistics.
        one: (segments, k), the first system's statistics.
        other: the second's, row for row of the same segments.
        seed: of the resampling; that of `scores` draws the same resamples.
        resamples: how many, B at most.
        confidence: of the interval.
        groups: one label per segment; segments of one label are resampled together.

    Raises:
        EspalierError: the systems have different numbers of segments.
    """
    if len(one) != len(other):
        raise EspalierError(
            f"{len(one)} and {len(other)} segments", where="paired comparison", remedy="pair them by id before"
        )
    both = np.hstack([one, other])
    if groups is not None:
        require_lengths("segments", len(one), groups=groups)
        both = sums_by_group(both, groups)

    def difference(sums: Array) -> Array:
        return metric.aggregate(sums[..., : one.shape[1]]) - metric.aggregate(sums[..., one.shape[1] :])

    observed = float(difference(both.sum(axis=0)))
    if not math.isfinite(observed):
        return Paired(None, None, None, None)
    differences = difference(resampled_sums(both, seed=seed, resamples=resamples))
    differences = differences[np.isfinite(differences)]
    interval = percentile_interval(differences, confidence)
    if interval is None:
        return Paired(observed, None, None, None)
    against = int(np.count_nonzero(differences * np.sign(observed) <= 0))
    return Paired(observed, *interval, min(1.0, 2 * (1 + against) / (len(differences) + 1)))
