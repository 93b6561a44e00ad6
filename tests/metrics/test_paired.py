"""The paired bootstrap: against a slow loop, and where the answer is known."""

from __future__ import annotations

import math
from dataclasses import astuple

import numpy as np
import pytest
from scipy.stats import t, ttest_ind

from espalier.io.errors import EspalierError
from espalier.metrics.bleu import Bleu, bleu_statistics
from espalier.metrics.bootstrap import Array
from espalier.metrics.metric import Metric, ratio
from espalier.metrics.paired import Components, Paired, components, paired

MEAN = Metric("mean", ratio(0, 1), "mean")


def column(values: list[float]) -> Array:
    return np.array([[value, 1.0] for value in values])


def test_it_equals_a_loop_over_resampled_segments() -> None:
    words = np.random.default_rng(7)
    texts = [[" ".join(words.choice(list("abc"), size=8)) for _ in range(12)] for _ in range(3)]
    references, one, other = texts
    metric = Bleu().metrics[0]
    found = paired(metric, bleu_statistics(references, one), bleu_statistics(references, other), seed=3, resamples=60)

    def bleu(hypotheses: list[str], rows: list[int]) -> float:
        picked = bleu_statistics([references[row] for row in rows], [hypotheses[row] for row in rows])
        return float(metric.aggregate(picked.sum(axis=0)))

    observed = bleu(one, list(range(12))) - bleu(other, list(range(12)))
    counts = np.random.default_rng(3).multinomial(12, [1 / 12] * 12, size=60)
    drawn = []
    for times in counts:
        rows = [row for row, count in enumerate(times) for _ in range(count)]
        drawn.append(bleu(one, rows) - bleu(other, rows))
    against = sum(each <= 0 if observed > 0 else each >= 0 for each in drawn)
    assert found.difference == pytest.approx(observed)
    assert found.p == pytest.approx(min(1.0, 2 * (1 + against) / 61))
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(drawn, [2.5, 97.5])))


def test_equal_systems_do_not_differ() -> None:
    same = column([1, 2, 3])
    assert paired(MEAN, same, same, seed=0, resamples=50) == Paired(0.0, 0.0, 0.0, 1.0)


def test_a_system_that_is_always_better_has_the_least_p() -> None:
    found = paired(MEAN, column([2, 3, 4]), column([1, 2, 3]), seed=0, resamples=99)
    assert (found.difference, found.low, found.high, found.p) == pytest.approx((1.0, 1.0, 1.0, 2 / 100))


def test_turned_round_it_says_the_same() -> None:
    draw = np.random.default_rng(0)
    one, other = column(list(draw.normal(0.2, 1, 50))), column(list(draw.normal(0, 1, 50)))
    found, turned = paired(MEAN, one, other, seed=1, resamples=500), paired(MEAN, other, one, seed=1, resamples=500)
    assert found.difference == -turned.difference and found.p == turned.p  # type: ignore[operator]
    assert found.low == pytest.approx(-turned.high)  # type: ignore[operator]


def test_p_is_that_of_the_normal_where_means_are_normal() -> None:
    # 2,000 differences with mean 2 standard errors above 0: two-sided p = erfc(2 / sqrt 2) = .0455
    draw = np.random.default_rng(5).normal(0, 1, 2000)
    differences = (draw - draw.mean()) / draw.std() + 2 / math.sqrt(2000)
    found = paired(MEAN, column(list(differences)), column([0.0] * 2000), seed=2, resamples=4000)
    assert found.p == pytest.approx(math.erfc(2 / math.sqrt(2)), abs=0.012)


def test_samples_of_one_segment_are_drawn_together() -> None:
    one, other = column([1, 1, 0, 0]), column([0, 0, 1, 0])
    grouped = paired(MEAN, one, other, seed=0, resamples=200, groups=["a", "a", "b", "b"])
    summed = paired(MEAN, np.array([[2.0, 2], [0, 2]]), np.array([[0.0, 2], [1, 2]]), seed=0, resamples=200)
    assert grouped == summed


def test_no_resamples_or_no_value() -> None:
    assert paired(MEAN, column([1]), column([0]), seed=0, resamples=0) == Paired(1.0, None, None, None)
    assert paired(MEAN, np.zeros((2, 2)), column([0, 0]), seed=0) == Paired(None, None, None, None)


def test_different_segments_are_refused() -> None:
    with pytest.raises(EspalierError, match="paired comparison: 1 and 2 segments; pair them by id before"):
        paired(MEAN, column([1]), column([1, 2]), seed=0)


CLUSTERS, TRIALS = 30, 600


def system(
    generator: np.random.Generator, clusters: Array, *, seeds: int, between: float, within: float, effect: float = 0.0
) -> Array:
    """(seeds, clusters, 2): an effect, what each seed adds, what each cluster adds, and what is left."""
    values = (
        effect
        + generator.normal(0, between, (seeds, 1))
        + clusters
        + generator.normal(0, within, (seeds, len(clusters)))
    )
    return np.stack([values, np.ones_like(values)], axis=-1)


def trials(
    *,
    seeds: int = 3,
    clusters: float,
    between: tuple[float, float],
    within: float,
    effect: float = 0.0,
    count: int = TRIALS,
) -> list[Paired]:
    generator = np.random.default_rng(20)
    found = []
    for trial in range(count):
        hard = generator.normal(0, 5.0, CLUSTERS)  # what is hard for both must not count
        one = system(
            generator, hard + generator.normal(0, clusters, CLUSTERS), seeds=seeds, between=between[0], within=within,
            effect=effect,
        )  # fmt: skip
        other = system(generator, hard, seeds=seeds, between=between[1], within=within)
        found.append(paired(MEAN, one, other, seed=trial, resamples=200))
    return found


def share(found: list[Paired], value: float) -> float:
    """How many of the intervals hold the value."""
    return float(np.mean([each.low <= value <= each.high for each in found]))  # type: ignore[operator]


#: What differs between the systems by cluster, between seeds (of one, of the other), and by both at once.
SETTINGS = {
    "clusters alone": (1.0, (0.0, 0.0), 0.0),
    "seeds alone": (0.0, (0.5, 0.5), 0.0),
    "small seed variance": (1.0, (0.05, 0.05), 0.0),
    "equal parts": (1.0, (0.2, 0.2), 0.3),
    "large seed variance": (0.5, (1.0, 1.0), 0.5),
    "one system varies": (1.0, (0.5, 0.1), 0.5),
    "one system's seeds alone": (0.0, (0.5, 0.1), 0.0),
    "chance of each text": (0.3, (0.0, 0.0), 1.0),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_no_effect_is_called_one_in_at_most_a_twentieth_of_trials(setting: str) -> None:
    clusters, between, within = SETTINGS[setting]
    found = trials(clusters=clusters, between=between, within=within)
    level = float(np.mean([each.p < 0.05 for each in found]))  # type: ignore[operator]
    # Three standard errors of a share of a twentieth; and not so wide that nothing is ever found.
    assert 0.007 <= level <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / TRIALS)
    # The interval covers where the test does not reject.
    assert share(found, 0.0) == pytest.approx(1 - level, abs=2 / TRIALS)


#: Segments of clusters: those of the SongNet authors' test tunes nearly, and a few.
UNEQUAL = {
    "two clusters hold most": (662, 205, *[4] * 23),
    "sizes fall": tuple(int(100 / rank) for rank in range(1, 26)),
    "six": (1,) * 6,
    "six unequal": (12, 6, 3, 2, 1, 1),
}


@pytest.mark.parametrize("sizes", UNEQUAL.values(), ids=UNEQUAL)
@pytest.mark.parametrize("between", [0.0, 0.3])
def test_the_level_holds_for_few_and_for_unequal_clusters(sizes: tuple[int, ...], between: float) -> None:
    """As it does not with one degree of freedom less than there are clusters: the first setting's level is .2 then."""
    generator, clusters = np.random.default_rng(21), np.repeat(np.arange(len(sizes)), sizes)
    rejected = 0
    for trial in range(TRIALS):
        hard = generator.normal(0, 5.0, len(sizes))[clusters]
        own = generator.normal(0, 1.0, len(sizes))[clusters]
        one, other = (system(generator, each, seeds=3, between=between, within=0.5) for each in (hard + own, hard))
        found = paired(MEAN, one, other, seed=trial, resamples=200, groups=clusters.tolist())
        rejected += found.p is not None and found.p < 0.05
    assert rejected / TRIALS <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / TRIALS)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (662, 205, *[4] * 23), (3, 1, 1, 1, 1, 1)])
def test_correction_and_degrees_of_freedom_are_those_of_the_quadratic_form(sizes: tuple[int, ...]) -> None:
    w = np.array(sizes) / sum(sizes)
    centred = np.eye(len(w)) - np.outer(np.ones(len(w)), w)
    form = centred.T @ np.diag(w**2) @ centred
    scores = (np.array([1.0, 3.0]), np.array([0.0, 0.0]))
    moved = (scores[0] + np.array([[0.0], [1.0], [-1.0], [0.0]]), np.zeros((4, 2)))
    parts = components(scores, moved, np.array(sizes, dtype=float))
    assert parts.cluster == pytest.approx(0.5 * (w @ w) / np.trace(form))
    assert parts.cluster_df == pytest.approx(np.trace(form) ** 2 / np.trace(form @ form))


def test_the_interval_covers_an_effect() -> None:
    found = trials(clusters=1.0, between=(0.2, 0.2), within=0.3, effect=3.0)
    assert 0.95 - 3 * math.sqrt(0.05 * 0.95 / TRIALS) <= share(found, 3.0) <= 0.993


def test_power_grows_with_the_effect_and_with_the_seeds() -> None:
    def power(effect: float, seeds: int) -> float:
        found = trials(clusters=1.0, between=(0.3, 0.3), within=0.5, effect=effect, seeds=seeds, count=150)
        return float(np.mean([each.p < 0.05 for each in found]))  # type: ignore[operator]

    assert power(0.3, 3) < power(1.0, 3) < power(2.0, 3)
    assert power(1.0, 3) + 0.1 < power(1.0, 6)
    assert power(2.0, 3) > 0.9


def test_percentiles_over_three_seeds_would_be_too_narrow() -> None:
    """Why seeds are not resampled: where all variance is between them, the level of their bootstrap is a fifth."""
    generator = np.random.default_rng(3)
    values = generator.normal(0, 1, (2, 2000, 3))
    drawn = generator.integers(3, size=(2, 500, 3))
    resampled = [np.take(system, places, axis=1).mean(axis=-1) for system, places in zip(values, drawn, strict=True)]
    low, high = np.percentile(resampled[0] - resampled[1], [2.5, 97.5], axis=1)
    assert np.mean((low > 0) | (high < 0)) > 0.15


def test_where_all_variance_is_between_seeds_it_is_the_test_of_welch() -> None:
    one, other = np.array([10.0, 12.0, 11.5]), np.array([9.0, 8.0, 8.75, 9.5])
    clusters = np.zeros(CLUSTERS)
    arrays = [
        np.stack([values[:, None] + clusters, np.ones((len(values), CLUSTERS))], axis=-1) for values in (one, other)
    ]
    found, welch = paired(MEAN, *arrays, seed=1, resamples=50_000), ttest_ind(one, other, equal_var=False)
    assert found.p == pytest.approx(welch.pvalue, rel=1e-6)
    assert (found.low, found.high) == pytest.approx(tuple(welch.confidence_interval(0.95)))
    assert found.difference == pytest.approx(one.mean() - other.mean())


def test_the_components_are_those_computed_by_hand() -> None:
    # Scores 1, 3 and 0, 0: s^2 / 2 = 1 and 0, so that Welch leaves the one degree of freedom of the first system.
    scores = (np.array([1.0, 3.0]), np.array([0.0, 0.0]))
    # Four resamples, where both seeds move together: effects 2, 3, 1, 2 have the variance 1/2; of 5 clusters, 5/8.
    move = np.array([0.0, 1.0, -1.0, 0.0])
    together = (scores[0] + move[:, None], np.zeros((4, 2)))
    assert astuple(components(scores, together, np.ones(5))) == pytest.approx((0.625, 4, 1.0, 1.0))
    # Where they move against each other, nothing is left to the clusters.
    apart = (scores[0] + np.stack([move, -move], axis=1), np.zeros((4, 2)))
    assert components(scores, apart, np.ones(5)).cluster == 0.0
    # Where one of two moves, effects vary by 1/8, and s^2 / 2 of the deviations is 1/4 in two of four resamples: 1/8.
    alone = (scores[0] + np.stack([move, 0 * move], axis=1), np.zeros((4, 2)))
    assert components(scores, alone, np.ones(5)).cluster == pytest.approx(0.0)


def test_the_half_width_adds_the_squares_of_two_intervals_and_p_inverts_it() -> None:
    parts = Components(cluster=4.0, cluster_df=9, seed=1.0, seed_df=2.5)
    expected = math.sqrt((2 * t.ppf(0.975, 9)) ** 2 + t.ppf(0.975, 2.5) ** 2)
    assert parts.half_width(0.05) == pytest.approx(expected)
    assert parts.p(expected) == pytest.approx(0.05)
    assert parts.p(-expected) == pytest.approx(0.05)
    assert parts.p(0.0) == 1.0
    assert Components(0.0, 9, 0.0, 4).p(1.0) < 1e-12


def test_a_null_hypothesis_shifts_p_and_not_the_interval() -> None:
    generator = np.random.default_rng(8)
    clusters = generator.normal(0, 1, 40)
    one, other = (system(generator, clusters, seeds=3, between=0.2, within=0.5, effect=effect) for effect in (0.4, 0))
    plain, shifted = (paired(MEAN, one, other, seed=1, resamples=300, null=null) for null in (0.0, -1.0))
    moved = paired(MEAN, one + np.array([1.0, 0.0]), other, seed=1, resamples=300)
    assert (plain.difference, plain.low, plain.high) == (shifted.difference, shifted.low, shifted.high)
    assert shifted.p == pytest.approx(moved.p, rel=1e-6) and shifted.p < plain.p  # type: ignore[operator]
    single = paired(MEAN, one[0], other[0], seed=1, resamples=300, null=-1.0)
    assert single.p == paired(MEAN, one[0] + np.array([1.0, 0.0]), other[0], seed=1, resamples=300).p


def test_one_cluster_or_one_seed_gives_no_more_than_they_can() -> None:
    generator = np.random.default_rng(9)
    one, other = (system(generator, np.zeros(20), seeds=3, between=0.2, within=0.5, effect=e) for e in (1.0, 0))
    whole = paired(MEAN, one, other, seed=1, resamples=99, groups=["a"] * 20)
    assert whole.difference == pytest.approx(float(one[..., 0].mean() - other[..., 0].mean()))
    assert (whole.low, whole.high, whole.p) == (None, None, None)
    # A single seed of the other: clusters are resampled, the first system's seeds averaged.
    found, mean = (paired(MEAN, rows, other[0], seed=1, resamples=99) for rows in (one, one.mean(axis=0)))
    assert astuple(found) == pytest.approx(astuple(mean))
