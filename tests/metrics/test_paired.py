"""The paired bootstrap: against a slow loop, and where the answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from espalier.io.errors import EspalierError
from espalier.metrics.bleu import Bleu, bleu_statistics
from espalier.metrics.bootstrap import Array
from espalier.metrics.metric import Metric, ratio
from espalier.metrics.paired import Paired, paired

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
