"""A pilot tells the spread that was planted, as far as its design can."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from toy_judging import BEST_WORST, PAIRS

from espalier.io.errors import ConfigError
from espalier.judging.answers import Answers, merged
from espalier.judging.pilot import spread_of
from espalier.judging.sample import Sample
from espalier.judging.simulate import Spread, simulated

Make = Callable[..., Sample]


def piloted(make_sample: Make, design: dict[str, Any], planted: Spread, **changes: Any) -> Spread:
    runs = changes.get("runs", design["runs"])
    rows = {run: [{"id": f"r{n}", "reference": f"human {n}", "text": f"{run} {n}"} for n in range(400)] for run in runs}
    sample = make_sample(design, rows=rows, inputs=400, raters=4, given={}, claims=[], **changes)
    qualities = dict(zip(sample.protocol.systems, (2.0, 2.6, 2.4, 2.8, 2.2, 1.9), strict=False))
    files = simulated(sample, qualities, seed=3, spread=planted)
    return spread_of(sample, merged(files, sample), next(iter(sample.protocol.criteria)))


def test_a_pilot_tells_the_planted_spread(make_sample: Make) -> None:
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


@pytest.mark.parametrize(("texts", "noise"), [(0.5, 0.7), (0.9, 0.4), (0.0, 0.6)])
def test_pairs_tell_the_spread_of_texts_and_of_noise(make_sample: Make, texts: float, noise: float) -> None:
    found = piloted(make_sample, PAIRS, Spread(texts=texts, noise=noise))
    assert (found.texts, found.noise) == (pytest.approx(texts, abs=0.1), pytest.approx(noise, abs=0.1))
    assert (found.inputs, found.raters) == (0, 0)


@pytest.mark.parametrize("runs", [["chain", "tree"], ["chain", "tree", "third", "fourth", "fifth"]])
@pytest.mark.parametrize(("texts", "noise"), [(0.5, 0.7), (0.9, 0.4)])
def test_sets_tell_the_share_of_the_spread_that_lies_in_the_texts(
    make_sample: Make, runs: list[str], texts: float, noise: float
) -> None:
    found = piloted(make_sample, BEST_WORST, Spread(texts=texts, noise=noise), runs=runs, size=3)
    assert found.texts**2 + found.noise**2 == pytest.approx(0.5**2 + 0.7**2)
    share = found.texts**2 / (found.texts**2 + found.noise**2)
    assert share == pytest.approx(texts**2 / (texts**2 + noise**2), abs=0.1)


def test_a_pilot_of_one_rater_is_refused_and_not_replaced_by_stated_values(make_sample: Make) -> None:
    for design in (None, PAIRS, BEST_WORST):
        sample = make_sample(design) if design else make_sample()
        (one, *_) = merged(simulated(sample, dict.fromkeys(sample.protocol.systems, 2.0), seed=1), sample)
        criterion = next(iter(sample.protocol.criteria))
        with pytest.raises(
            ConfigError, match=rf"^--pilot: 12 inputs that all of 1 raters judged on {criterion}; a spread needs"
        ):
            spread_of(sample, [one], criterion)


def test_a_system_that_never_loses_leaves_the_spread_to_the_others(make_sample: Make) -> None:
    rows = {run: [{"id": f"r{n}", "reference": f"human {n}", "text": f"{run} {n}"} for n in range(400)]
            for run in ("chain", "tree")}  # fmt: skip
    sample = make_sample(PAIRS, rows=rows, inputs=400, raters=4, given={}, claims=[])
    planted = {"chain": 2.4, "tree": 2.0, "reference": -9.0}
    files = simulated(sample, planted, seed=3, spread=Spread(texts=0.5, noise=0.7))
    found = spread_of(sample, merged(files, sample), "relevance")
    assert (found.texts, found.noise) == (pytest.approx(0.5, abs=0.1), pytest.approx(0.7, abs=0.1))


def test_a_system_in_no_set_that_all_raters_judged_is_left_out(make_sample: Make) -> None:
    runs = ["chain", "tree", "third", "fourth", "fifth"]
    rows = {run: [{"id": f"r{n}", "reference": f"human {n}", "text": f"{run} {n}"} for n in range(12)] for run in runs}
    sample = make_sample(BEST_WORST, rows=rows, raters=2, given={}, claims=[], runs=runs, size=3)
    first, second = merged(simulated(sample, dict.fromkeys(sample.protocol.systems, 2.0), seed=1), sample)
    has_fifth = {i.number for i in sample.items if any(s.system == "fifth" for own in i.sources for s in own)}
    kept = {place: answer for place, answer in second.answers.items() if place[0] not in has_fifth}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = spread_of(sample, [first, replace(second, answers=kept)], next(iter(sample.protocol.criteria)))
    assert found.texts >= 0 and found.texts**2 + found.noise**2 == pytest.approx(0.5**2 + 0.7**2)


def test_raters_who_never_say_neither_tell_no_width_of_a_tie(make_sample: Make) -> None:
    sample = make_sample(PAIRS)
    generator = np.random.default_rng(1)
    answers = [
        Answers(rater, "a.json", {place: str(generator.choice(["1", "2"])) for place in sample.asked(rater)})
        for rater in sample.orders
    ]
    with pytest.raises(
        ConfigError, match=r"^--pilot: no system with wins, ties and losses on a criterion; a spread needs"
    ):
        spread_of(sample, answers, "relevance")
