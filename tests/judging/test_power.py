"""Power: more inputs find more, the promised share is found, and a pilot tells the spread that was planted."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from scipy.stats import norm

from espalier.io.errors import ConfigError
from espalier.judging.answers import merged
from espalier.judging.power import inputs_for, power_of, spread_of
from espalier.judging.sample import Sample
from espalier.judging.simulate import Spread, simulated

LEVELS = (1, 2, 3, 4, 5)
SPREAD = Spread(inputs=0.5, texts=0.5, raters=0.5, noise=0.7)


def test_power_is_that_of_a_normal_test_where_raters_are_many_and_a_scale_is_long() -> None:
    # Texts of 2 x .5^2 and noise of 2 x .7^2 / 16, and a twelfth for the rounding of each rating; raters cancel.
    variance = 2 * (0.5**2 + (0.7**2 + 1 / 12) / 16) / 60
    expected = norm.cdf(0.3 / variance**0.5 - 1.96)
    assert 0.8 < expected < 0.9
    assert power_of(60, 16, 0.3, range(1, 30), spread=SPREAD).power == pytest.approx(expected, abs=0.06)
    assert power_of(60, 3, 0.3, range(1, 30), spread=SPREAD).power < expected - 0.1  # three raters are few


def test_no_difference_is_found_as_often_as_p_says_and_more_claims_find_less() -> None:
    assert power_of(40, 3, 0.0, LEVELS, spread=SPREAD).power <= 0.05  # the wrong sign is no finding
    one, many = (power_of(40, 3, 0.4, LEVELS, spread=SPREAD, claims=claims).power for claims in (1, 10))
    assert one > many + 0.1


def test_the_number_of_inputs_reaches_the_wanted_power_in_other_panels() -> None:
    *others, found = inputs_for(3, 0.5, LEVELS, spread=SPREAD, panels=200)
    assert found.power >= 0.8 and all(each.power < 0.8 or each.inputs >= found.inputs for each in others)
    again = power_of(found.inputs, 3, 0.5, LEVELS, spread=SPREAD, seed=99)
    assert again.power == pytest.approx(0.8, abs=0.1)
    assert power_of(found.inputs // 2, 3, 0.5, LEVELS, spread=SPREAD).power < 0.75


def test_what_no_number_of_inputs_finds_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("espalier.judging.power.LARGEST", 40)
    assert [each.inputs for each in inputs_for(3, 0.01, LEVELS, panels=20)] == [10, 20, 40]


def test_a_pilot_tells_the_planted_spread(make_sample: Callable[..., Sample]) -> None:
    levels = {"question": "?", "lowest": 0, "levels": ["x"] * 9}
    rows = {run: [{"id": f"r{n}", "text": f"{run} {n}"} for n in range(300)] for run in ("chain", "tree")}
    sample = make_sample(
        rows=rows, inputs=300, raters=8, given={}, claims=[], criteria={"fluency": levels},
    )  # fmt: skip
    planted = Spread(inputs=0.8, texts=0.6, raters=0.5, noise=0.7)
    files = simulated(sample, {"chain": 3.6, "tree": 4.4}, seed=5, spread=planted)
    found = spread_of(sample, merged(files, sample), "fluency")
    assert (found.inputs, found.texts) == (pytest.approx(0.8, abs=0.1), pytest.approx(0.6, abs=0.1))
    assert found.noise == pytest.approx((0.7**2 + 1 / 12) ** 0.5, abs=0.05)
    assert found.raters == pytest.approx(0.5, abs=0.3)  # of eight raters


def test_a_pilot_of_one_rater_is_refused_and_not_replaced_by_stated_values(make_sample: Callable[..., Sample]) -> None:
    sample = make_sample()
    (one, *_) = merged(simulated(sample, {"chain": 1.6, "tree": 2.4}, seed=1), sample)
    with pytest.raises(
        ConfigError, match=r"^--pilot: 12 inputs that all of 1 raters judged on fluency; a spread needs"
    ):
        spread_of(sample, [one], "fluency")
