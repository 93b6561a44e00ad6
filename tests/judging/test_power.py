"""Power: more inputs find more, the promised share is found, and the expected answers are those of the formula."""

from __future__ import annotations

from typing import Any

import pytest
from scipy.stats import norm
from toy_judging import BEST_WORST, PAIRS, SCALE

from espalier.judging.power import LARGEST, claims_of, expected, inputs_for, power_of
from espalier.judging.protocol import Protocol
from espalier.judging.simulate import TIE_WIDTH, Spread

SPREAD = Spread(inputs=0.5, texts=0.5, raters=0.5, noise=0.7)


def protocol(design: dict[str, Any] = SCALE, levels: int = 5, **changes: Any) -> Protocol:
    criteria = {"fluency": {"question": "?", "levels": ["x"] * levels}} if design is SCALE else design["criteria"]
    return Protocol.model_validate(design | {"criteria": criteria} | changes)


def test_power_is_that_of_a_normal_test_where_raters_are_many_and_a_scale_is_long() -> None:
    # Texts of 2 x .5^2 and noise of 2 x .7^2 / 16, and a twelfth for the rounding of each rating; raters cancel.
    variance = 2 * (0.5**2 + (0.7**2 + 1 / 12) / 16) / 60
    wanted = norm.cdf(0.3 / variance**0.5 - 1.96)
    assert 0.8 < wanted < 0.9
    long = protocol(levels=9)
    assert power_of(long, 60, 0.3, raters=16, spread=SPREAD).power == pytest.approx(wanted, abs=0.06)
    assert power_of(long, 60, 0.3, raters=3, spread=SPREAD).power < wanted - 0.1  # three raters are few


def test_the_power_of_pairs_is_that_of_a_normal_test_of_wins_minus_losses() -> None:
    # Of one rater, each input has a value of 1, 0 or -1 with the probabilities of win, tie and loss.
    deviation = (2 * (0.5**2 + 0.7**2)) ** 0.5
    win, loss = (norm.cdf((side * 0.5 - TIE_WIDTH) / deviation) for side in (1, -1))
    gain = win - loss
    wanted = norm.cdf(gain / ((win + loss - gain**2) / 60) ** 0.5 - 2.0)
    assert 0.7 < wanted < 0.9
    assert power_of(protocol(PAIRS, raters=1), 60, 0.5, spread=SPREAD).power == pytest.approx(wanted, abs=0.06)


def test_the_expected_answers_are_those_of_the_formula_and_a_larger_difference_sets_scores_apart() -> None:
    deviation = (2 * (0.5**2 + 0.7**2)) ** 0.5
    answers = expected(protocol(PAIRS), 0.5, SPREAD)
    assert answers["win"] == pytest.approx(100 * norm.cdf((0.5 - TIE_WIDTH) / deviation), abs=1)
    assert answers["loss"] == pytest.approx(100 * norm.cdf((-0.5 - TIE_WIDTH) / deviation), abs=1)
    assert sum(answers.values()) == pytest.approx(100)
    none, some = (expected(protocol(BEST_WORST), difference, SPREAD) for difference in (0.0, 0.5))
    assert none == {"better": pytest.approx(0, abs=0.02), "worse": pytest.approx(0, abs=0.02)}
    assert some["better"] == pytest.approx(-some["worse"], abs=0.02) and some["better"] > 0.2
    # Of two systems far apart, each set has the one as its best and the other as its worst.
    assert expected(protocol(BEST_WORST), 50.0, SPREAD) == {"better": 1.0, "worse": -1.0}
    assert expected(protocol(), 0.5, SPREAD) == {}


@pytest.mark.parametrize("design", [SCALE, PAIRS, BEST_WORST], ids=["scale", "pairs", "best_worst"])
def test_no_difference_is_found_as_often_as_p_says_and_more_claims_find_less(design: dict[str, Any]) -> None:
    asked = protocol(design)
    assert power_of(asked, 40, 0.0, spread=SPREAD).power <= 0.05  # the wrong sign is no finding
    one, many = (power_of(asked, 40, 0.4, spread=SPREAD, claims=claims).power for claims in (1, 10))
    assert one > many + 0.1


@pytest.mark.parametrize("design", [PAIRS, BEST_WORST], ids=["pairs", "best_worst"])
def test_what_an_input_and_a_rater_do_to_all_texts_cancels(design: dict[str, Any]) -> None:
    few, many = (
        power_of(protocol(design), 30, 0.4, spread=Spread(inputs=own, texts=0.5, raters=own, noise=0.7)).power
        for own in (0.0, 3.0)
    )
    assert few == pytest.approx(many, abs=0.08)


def test_sets_of_some_systems_and_inputs_of_some_raters_have_less_power() -> None:
    runs = ["chain", "tree", "third", "fourth", "fifth"]
    whole, part = (
        power_of(protocol(BEST_WORST, runs=runs, size=size), 40, 0.5, spread=SPREAD).power for size in (6, 3)
    )
    assert whole > part + 0.1
    every, two = (power_of(protocol(raters=6, per_input=count), 40, 0.3, spread=SPREAD).power for count in (None, 2))
    assert every > two + 0.1


@pytest.mark.parametrize("design", [SCALE, PAIRS, BEST_WORST], ids=["scale", "pairs", "best_worst"])
def test_the_number_of_inputs_reaches_the_wanted_power_in_other_panels(design: dict[str, Any]) -> None:
    asked = protocol(design)
    *others, found = inputs_for(asked, 0.5, spread=SPREAD, panels=200)
    assert found.power >= 0.8 and all(each.power < 0.8 or each.inputs >= found.inputs for each in others)
    again = power_of(asked, found.inputs, 0.5, spread=SPREAD, seed=99)
    assert again.power == pytest.approx(0.8, abs=0.1)
    assert power_of(asked, found.inputs // 2, 0.5, spread=SPREAD).power < 0.75


def test_what_no_number_of_inputs_finds_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    assert LARGEST > 40
    monkeypatch.setattr("espalier.judging.power.LARGEST", 40)
    assert [each.inputs for each in inputs_for(protocol(), 0.01, panels=20)] == [10, 20, 40]


def test_claims_are_counted_by_criterion() -> None:
    claim = {"better": "tree", "worse": "chain", "criteria": ["fluency", "style"]}
    levels = {name: {"question": "?", "levels": ["x"] * 3} for name in ("fluency", "style")}
    assert claims_of(Protocol.model_validate(SCALE | {"criteria": levels, "claims": [claim]})) == 2
    assert claims_of(protocol(claims=[])) == 1
