"""Stand-ins: means over the judged texts, and a correlation that is Spearman's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import spearmanr
from toy_judging import PAIRS

from espalier.judging.answers import merged
from espalier.judging.sample import Sample
from espalier.judging.simulate import simulated
from espalier.judging.stand_ins import stand_ins

Make = Callable[..., Sample]
QUALITY = {"chain": 1.6, "tree": 2.4, "reference": 2.8}
FLUENCY = {"fluency": {"question": "?", "levels": ["bad", "", "good"], "stand_ins": ["bleu", "unknown"]}}


def test_without_ratings_a_stand_in_has_the_means_over_the_judged_texts_alone(make_sample: Make) -> None:
    sample = make_sample(criteria=FLUENCY, inputs=5)
    inputs = {item.input for item in sample.items}
    values = {"bleu": {"chain": {f"r{n}": float(n) for n in range(20)}}}
    (found,) = stand_ins(sample, values)
    assert (found.criterion, found.metric, found.correlation, found.texts) == ("fluency", "bleu", None, 0)
    assert found.means == {"chain": pytest.approx(np.mean([int(one[1:]) for one in inputs]))}


def test_the_correlation_is_spearmans_with_ties(make_sample: Make) -> None:
    sample = make_sample(criteria=FLUENCY, inputs=12)
    answers = merged(simulated(sample, QUALITY, seed=3), sample)
    generator = np.random.default_rng(1)
    values = {
        "bleu": {run: {f"r{n}": float(generator.integers(0, 4)) for n in range(20)} for run in sample.protocol.systems}
    }
    (found,) = stand_ins(sample, values, answers)
    ratings, metric = list[float](), list[float]()
    for item in sample.items:
        ratings.append(np.mean([int(one.answers[item.number, "fluency"]) for one in answers]))
        metric.append(values["bleu"][item.sources[0][0].system][item.input])
    assert found.correlation == pytest.approx(spearmanr(ratings, metric).statistic) and found.texts == 24
    assert found.interval is not None and found.interval[0] < found.correlation < found.interval[1]


def test_a_metric_that_is_the_rating_correlates_fully_and_in_pairs_by_differences(make_sample: Make) -> None:
    criteria = {"relevance": {"question": "?", "stand_ins": ["meteor"]}}
    sample = make_sample(PAIRS | {"criteria": criteria, "reference": False})
    answers = merged(simulated(sample, QUALITY, seed=3), sample)
    wins = {
        item.input: np.mean([
            {"1": 1, "0": 0, "2": -1}[one.answers[item.number, "relevance"]]
            * (1 if item.sources[0][0].system == "chain" else -1)
            for one in answers
        ])
        for item in sample.items
    }  # fmt: skip
    values = {"meteor": {"chain": {one: 3 + win for one, win in wins.items()}, "tree": dict.fromkeys(wins, 3.0)}}
    (found,) = stand_ins(sample, values, answers)
    assert found.correlation == pytest.approx(1.0) and found.texts == 12
    values["meteor"]["chain"] = dict.fromkeys(wins, 1.0)  # constant
    assert stand_ins(sample, values, answers)[0].correlation is None
