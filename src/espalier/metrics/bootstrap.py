"""Bootstrap over segments.

An aggregate here is a function of summed statistics, so a resample is a row of counts (how often each segment was
drawn) and all resamples together are one matrix product: (resamples, segments) @ (segments, k).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: At most so many counts are held at once (32 MB), however many segments there are.
_CELLS = 4_000_000


def resampled_sums(statistics: Array, *, seed: int, resamples: int) -> Array:
    """Sums of the statistics over each bootstrap resample (as many draws with replacement as there are segments).

    Args:
        statistics: (segments, k).
        seed: the same seed draws the same resamples for every metric over the same segments, so that two systems'
            resamples are paired.
        resamples: how many.

    Returns:
        (resamples, k); no rows where there are no segments.
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
    """The central interval that holds `confidence` of the resampled values; None where none of them is defined."""
    defined = values[np.isfinite(values)]
    if not len(defined):
        return None
    tail = 50.0 * (1.0 - confidence)
    low, high = np.percentile(defined, [tail, 100.0 - tail])
    return float(low), float(high)


def sums_by_group(statistics: Array, groups: Sequence[Hashable]) -> Array:
    """(segments, k) -> (groups, k), in order of first appearance: what belongs together is resampled together."""
    number = {group: index for index, group in enumerate(dict.fromkeys(groups))}
    summed = np.zeros((len(number), statistics.shape[1]))
    np.add.at(summed, np.array([number[group] for group in groups], dtype=np.int64), statistics)
    return summed
