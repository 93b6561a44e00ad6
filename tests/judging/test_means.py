"""Means of ratings: the two-way analysis of variance by hand, and how often their intervals hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from espalier.judging.means import Rated, difference_of, mean_of, share_of

TRIALS = 400


def rated(table: np.ndarray) -> Rated:
    """(inputs, raters) ratings; NaN where a rater did not rate an input."""
    inputs, raters = np.nonzero(~np.isnan(table))
    return Rated(table[inputs, raters], inputs, raters)


def test_the_interval_is_that_of_the_analysis_of_variance() -> None:
    # Means of inputs 2, 3, 4, of raters 2, 4: m = 3. What is left is 0, 0, -.5, .5, .5, -.5. The mean squares are 4 / 2
    # of inputs, 6 / 1 of raters, 1 / 2 of both; each over the six ratings is a variance.
    table = np.array([[1.0, 3.0], [1.5, 4.5], [3.5, 4.5]])
    found = mean_of(rated(table))
    variances = (2 / 6, 1 - 0.5 / 6)
    half = np.sqrt(t.ppf(0.975, 2) ** 2 * variances[0] + t.ppf(0.975, 1) ** 2 * variances[1])
    assert (found.value, found.ratings) == (3.0, 6)
    assert (found.low, found.high) == (pytest.approx(3 - half), pytest.approx(3 + half))


def test_a_severe_rater_widens_a_mean_and_not_a_difference() -> None:
    generator = np.random.default_rng(2)
    base = generator.normal(size=(60, 4))
    severe = base + np.array([0.0, 0.0, 0.0, -5.0])
    one, other = rated(severe), rated(severe + generator.normal(1, 0.3, size=severe.shape))
    assert mean_of(one).high - mean_of(one).low > 5 * (mean_of(rated(base)).high - mean_of(rated(base)).low)  # type: ignore[operator]
    found = difference_of(other, one)
    assert found.value == pytest.approx(1, abs=0.1) and found.high - found.low < 0.3  # type: ignore[operator]
    assert found.p is not None and found.p < 0.001


@pytest.mark.parametrize(
    ("inputs", "raters", "deviations"),
    [(40, 3, (1.0, 0.5, 0.7)), (120, 4, (0.5, 0.0, 1.0)), (50, 8, (1.0, 0.2, 0.7)), (60, 3, (0.5, 1.0, 0.5))],
)
def test_an_interval_holds_the_true_mean_in_95_of_100_panels(
    inputs: int, raters: int, deviations: tuple[float, float, float]
) -> None:
    generator = np.random.default_rng(7)
    covered = 0
    for _ in range(TRIALS):
        shape = ((inputs, 1), (1, raters), (inputs, raters))
        table = sum(generator.normal(0, deviation, size) for deviation, size in zip(deviations, shape, strict=True))
        found = mean_of(rated(np.asarray(table)))
        covered += found.low <= 0 <= found.high  # type: ignore[operator]
    # Three standard errors of a share of .95 of the trials are .033.
    assert 0.917 <= covered / TRIALS <= 0.983


def test_the_interval_of_a_panel_in_which_each_rates_a_part_holds_the_true_mean() -> None:
    generator = np.random.default_rng(8)
    covered = 0
    for _ in range(TRIALS):
        table = generator.normal(0, 1, (90, 1)) + generator.normal(0, 0.5, (1, 9)) + generator.normal(0, 0.7, (90, 9))
        table[(np.arange(90)[:, None] + np.arange(9)) % 9 >= 3] = np.nan  # three raters for each input
        found = mean_of(rated(table))
        covered += found.low <= 0 <= found.high  # type: ignore[operator]
    assert 0.917 <= covered / TRIALS <= 0.983


def test_p_is_below_a_twentieth_in_a_twentieth_of_panels_without_a_difference() -> None:
    generator = np.random.default_rng(9)
    found = 0
    for _ in range(TRIALS):
        rest = generator.normal(0, 0.5, (60, 1)) + generator.normal(0, 0.5, (1, 3))
        one, other = (rated(rest + generator.normal(0, 1, (60, 3))) for _ in range(2))
        found += difference_of(one, other).p < 0.05  # type: ignore[operator]
    assert 0.017 <= found / TRIALS <= 0.083


def test_a_share_of_none_or_all_has_an_interval_of_some_width() -> None:
    ratings = rated(np.full((50, 3), 2.0))
    none, every = share_of(ratings, 1), share_of(ratings, 2)
    assert (none.value, none.low, every.value, every.high) == (0.0, 0.0, 1.0, 1.0)
    # Clopper and Pearson for 0 of 50: 1 - .025^(1 / 50).
    assert none.high == pytest.approx(1 - 0.025 ** (1 / 50)) == pytest.approx(1 - every.low)  # type: ignore[operator]
    some = share_of(rated(np.array([[1.0, 2.0, 2.0]] * 2 + [[1.0, 1.0, 1.0]])), 1)
    assert some.value == pytest.approx(5 / 9) and some.low == 0.0 and some.high == 1.0


def test_one_rater_has_the_interval_over_inputs_and_one_input_none() -> None:
    values = np.array([1.0, 2.0, 4.0])
    found = mean_of(rated(values[:, None]))
    half = t.ppf(0.975, 2) * values.std(ddof=1) / np.sqrt(3)
    assert found.high == pytest.approx(values.mean() + half)
    alone = mean_of(rated(values[None]))
    assert (alone.value, alone.low, alone.p) == (pytest.approx(7 / 3), None, None)
    assert mean_of(rated(np.empty((0, 3)))).value is None


def test_without_any_variance_p_is_that_of_a_sign_test_over_inputs() -> None:
    # The same gain in each of five inputs: either sign has probability 2 / 2^5. No gain at all says nothing.
    base = np.arange(10.0).reshape(5, 2)
    gain = difference_of(rated(base + 1 / 3), rated(base))
    assert (gain.value, gain.low, gain.high, gain.p) == (pytest.approx(1 / 3), None, None, 1 / 16)
    assert difference_of(rated(base), rated(base)).p == 1.0
    assert mean_of(rated(np.zeros((5, 2)))).p == 1.0
