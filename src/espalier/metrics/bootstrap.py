"""Bootstrap resampling of segments.

An aggregate is a function of summed statistics. A resample is therefore a row of counts (how often each segment was
drawn), and all resamples together are one matrix product: (resamples, segments) @ (segments, k).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Largest number of counts in memory at once (32 MB), whatever the number of segments.
_CELLS = 4_000_000


def resampled_sums(statistics: Array, *, seed: int, resamples: int) -> Array:
    """Sums of the statistics over each bootstrap resample, which draws as many segments as there are, with replacement.

    Args:
        statistics: (segments, k).
        seed: equal seeds give equal resamples for all metrics over the same segments, so the resamples of two systems
            are paired.
        resamples: number of resamples.

    Returns:
        (resamples, k); no rows if there are no segments.
    """
    segments, width = statistics.shape
    if not segments or not resamples:
        return np.empty((0, width))
    generator = np.random.default_rng(seed)
    chances = np.full(segments, 1.0 / segments)
    step = max(1, _CELLS // segments)
    # The generator's stream runs on from one part to the next: the size of a part never changes the result.
    with np.errstate(invalid="ignore"):  # an infinite statistic drawn no times is 0 * inf: undefined, and left out
        parts = [
            generator.multinomial(segments, chances, size=min(step, resamples - start)).astype(np.float64) @ statistics
            for start in range(0, resamples, step)
        ]
    return np.concatenate(parts)


def percentile_interval(values: Array, confidence: float) -> tuple[float, float] | None:
    """The central interval with the share `confidence` of the resampled values; None if all are undefined."""
    defined = values[np.isfinite(values)]
    if not len(defined):
        return None
    tail = 50.0 * (1.0 - confidence)
    low, high = np.percentile(defined, [tail, 100.0 - tail])
    return float(low), float(high)


def sums_by_group(statistics: Array, groups: Sequence[Hashable]) -> Array:
    """(segments, k) -> (groups, k) sums by group, in order of first appearance. Groups are resampled as wholes."""
    number = {group: index for index, group in enumerate(dict.fromkeys(groups))}
    summed = np.zeros((len(number), statistics.shape[1]))
    np.add.at(summed, np.array([number[group] for group in groups], dtype=np.int64), statistics)
    return summed
