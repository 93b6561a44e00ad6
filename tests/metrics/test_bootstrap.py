"""The coverage of percentile intervals, by simulation; what else the bootstrap does is tested in test_metric.py."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta as beta_distribution
from scipy.stats import binomtest, t

from espalier.metrics.bootstrap import Array, percentile_interval, resampled_sums, share_interval
from espalier.metrics.metric import scores, share_of

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


SHARE = share_of("rare", 0, 1, "toy")
SHARES = 2000
#: 957 segments: each alone, in threes, in clusters of very different sizes.
SINGLE, THREES = np.ones(957), np.full(319, 3.0)
MIXED = np.array([20.0] * 8 + [5.0] * 40 + [2.0] * 150 + [1.0] * 297)


def share_coverage(share: float, sizes: Array, *, alike: bool) -> float:
    """How many of the intervals hold the true share; all segments of a cluster count together where they are alike."""
    generator = np.random.default_rng(4)
    shape = (SHARES, len(sizes))
    drawn = sizes * (generator.random(shape) < share) if alike else generator.binomial(sizes.astype(int), share, shape)
    return covered(drawn, share, sizes)


def covered(drawn: Array, share: float, sizes: Array) -> float:
    """How many of the intervals of these samples hold the true share."""
    bounds = [share_interval(row.astype(float), sizes, 0.95) for row in drawn]
    return float(np.mean([low <= share <= high for low, high in filter(None, bounds)]))


def test_without_clusters_it_is_the_exact_interval_of_clopper_and_pearson() -> None:
    for count in (0, 1, 2, 40, 957):
        found = share_interval(np.arange(957) < count, np.ones(957), 0.95)
        exact = binomtest(count, 957).proportion_ci(0.95)
        assert found == pytest.approx((exact.low, exact.high), rel=0.01, abs=1e-9)


def test_with_clusters_it_is_that_of_korn_and_graubard_step_by_step() -> None:
    successes, segments = np.array([2.0, 0.0, 1.0, 0.0]), np.array([2.0, 4.0, 3.0, 1.0])
    # p = .3; residuals 1.4, -1.2, .1, -.3: 3.5 squared; v = 4/3 * 3.5 / 100; .21 / v = 4.5
    quantiles = t.ppf(0.975, 9) / t.ppf(0.975, 3)
    effective = 0.21 / (4 / 3 * 3.5 / 100) * quantiles**2
    hits, misses = 0.3 * effective, 0.7 * effective
    expected = (beta_distribution.ppf(0.025, hits, misses + 1), beta_distribution.ppf(0.975, hits + 1, misses))
    assert share_interval(successes, segments, 0.95) == pytest.approx(expected)


@pytest.mark.parametrize("share", [0.002, 0.01, 0.2, 0.5, 0.998])
@pytest.mark.parametrize(
    ("sizes", "alike"),
    [(SINGLE, False), (THREES, False), (THREES, True), (MIXED, False)],
    ids=["single", "threes", "threes alike", "mixed"],
)
def test_it_covers(share: float, sizes: Array, alike: bool) -> None:
    # Two standard errors of a share of .95 over the trials are .01.
    assert share_coverage(share, sizes, alike=alike) >= 0.94


def test_a_rare_share_is_covered_even_where_large_clusters_are_alike() -> None:
    assert share_coverage(0.002, MIXED, alike=True) >= 0.94


def test_the_coverage_where_it_is_least_is_the_one_that_the_page_on_metrics_says() -> None:
    sizes = np.array([3.0] * 219 + [1.0] * 300)
    assert share_coverage(0.01, sizes, alike=True) == pytest.approx(0.9, abs=0.01)


@pytest.mark.parametrize(("correlation", "least"), [(0.001, 0.91), (0.05, 0.55)])
def test_where_two_clusters_hold_most_segments_it_covers_as_little_as_the_page_says(
    correlation: float, least: float
) -> None:
    sizes = np.array([662.0, 205.0, *[4.0] * 23])  # those of the SongNet authors' test tunes nearly
    spread = (1 - correlation) / correlation
    generator = np.random.default_rng(4)
    shares = generator.beta(0.3 * spread, 0.7 * spread, (SHARES, len(sizes)))
    assert covered(generator.binomial(sizes.astype(int), shares), 0.3, sizes) == pytest.approx(least, abs=0.015)


def test_percentiles_do_not_cover_a_rare_share() -> None:
    """Why there is another interval: two per mille of 957 segments."""
    counts = np.random.default_rng(4).binomial(957, 0.002, 400)
    generator = np.random.default_rng(5)
    bounds = [np.percentile(generator.binomial(957, count / 957, 1000), [2.5, 97.5]) / 957 for count in counts]
    assert np.mean([low <= 0.002 <= high for low, high in bounds]) < 0.9


def test_none_of_a_cluster_s_segments_are_fewer_than_none_of_as_many_clusters() -> None:
    def high(sizes: list[float]) -> float:
        bounds = share_interval(np.zeros(len(sizes)), np.array(sizes), 0.95)
        assert bounds is not None and bounds[0] == 0.0
        return bounds[1]

    # No success of n: 1 - .025^(1/n), at n = 12; at 4, for four clusters of three alike.
    assert high([1.0] * 12) == pytest.approx(1 - 0.025 ** (1 / 12))
    assert high([3.0] * 4) == pytest.approx(1 - 0.025 ** (1 / 4))


def test_one_cluster_has_none_and_clusters_without_segments_count_for_nothing() -> None:
    assert share_interval(np.array([3.0, 0.0]), np.array([9.0, 0.0]), 0.95) is None
    some = share_interval(np.array([1.0, 0.0]), np.array([2.0, 3.0]), 0.95)
    assert share_interval(np.array([1.0, 0.0, 0.0]), np.array([2.0, 0.0, 3.0]), 0.95) == some is not None
    # Every cluster has the same share, and the variance says nothing: as of single segments.
    assert share_interval(np.array([1.0, 1.0]), np.array([2.0, 2.0]), 0.95) == pytest.approx(
        tuple(binomtest(2, 4).proportion_ci(0.95))
    )


def test_a_score_has_it_in_percent_and_its_signature_says_so() -> None:
    rows = np.array([[float(place < 2), 1.0] for place in range(957)])
    found = scores([SHARE], rows, seed=1)["rare"]
    bounds = share_interval(rows[:, 0], rows[:, 1], 0.95)
    assert bounds is not None
    assert (found.value, found.low, found.high) == pytest.approx((200 / 957, 100 * bounds[0], 100 * bounds[1]))
    assert found.signature == "toy|n:957|ci:95|interval:korn-graubard"
    grouped = scores([SHARE], rows, seed=1, groups=[place // 3 for place in range(957)])["rare"]
    assert grouped.signature == "toy|n:957|groups:319|ci:95|interval:korn-graubard"
    assert grouped.high is not None and found.high is not None and grouped.high > found.high
    without = scores([SHARE], rows, seed=1, resamples=0)["rare"]
    assert (without.low, without.high, without.signature) == (None, None, "toy|n:957")
