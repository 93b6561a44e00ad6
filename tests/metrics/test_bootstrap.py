"""The coverage of percentile intervals, by simulation; what else the bootstrap does is tested in test_metric.py."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.metrics.bootstrap import percentile_interval, resampled_sums

TRIALS, RESAMPLES = 500, 400


def coverage(clusters: int, largest: int) -> float:
    """How many intervals of a mean over segments hold the true one.

    Clusters have 1 to `largest` segments, whose values share a part that is as large as their own.
    """
    generator = np.random.default_rng(5)
    covered = 0
    for trial in range(TRIALS):
        sizes = generator.integers(1, largest + 1, clusters)
        shared, own = generator.exponential(size=clusters), generator.exponential(size=(clusters, largest))
        sums = sizes * shared + np.where(np.arange(largest) < sizes[:, None], own, 0).sum(1)
        drawn = resampled_sums(np.stack([sums, sizes], 1), seed=trial, resamples=RESAMPLES)
        low, high = percentile_interval(drawn[:, 0] / drawn[:, 1], 0.95) or (np.nan, np.nan)
        covered += low <= 2 <= high  # the mean of two exponential variables
    return covered / TRIALS


@pytest.mark.parametrize(
    ("clusters", "largest", "least"), [(300, 1, 0.92), (300, 5, 0.92), (50, 5, 0.9), (50, 20, 0.9)]
)
def test_percentile_intervals_of_a_skewed_mean_cover_nearly_what_they_say(
    clusters: int, largest: int, least: float
) -> None:
    assert least <= coverage(clusters, largest) <= 0.97


def test_of_twenty_unequal_clusters_they_cover_less_as_the_page_on_metrics_says() -> None:
    assert coverage(20, 5) == pytest.approx(0.9, abs=0.02)
