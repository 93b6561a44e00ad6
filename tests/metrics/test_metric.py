"""The shape of every metric."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.io.errors import EspalierError
from espalier.metrics import bootstrap
from espalier.metrics.bootstrap import percentile_interval, resampled_sums, sums_by_group
from espalier.metrics.metric import (
    Metric,
    Score,
    confirmed,
    details_json,
    f1,
    f1_of_means,
    headline_json,
    ratio,
    require_lengths,
    scores,
    signature_of,
)

MEAN = Metric("mean", ratio(0, 1), signature_of("toy", of="column 0"), "nothing there")


def rows(*values: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([[value, 1.0] for value in values]).reshape(len(values), 2)


def test_a_signature_names_the_family_and_its_settings_in_order() -> None:
    assert signature_of("format", protocol="paper", delta=0) == "format|protocol:paper|delta:0"
    assert signature_of("bleu") == "bleu"


def test_corpus_and_segment_scores_come_from_one_aggregate() -> None:
    statistics = rows(1, 2, 6)
    assert scores([MEAN], statistics, seed=0)["mean"].value == 3.0  # (1 + 2 + 6) / 3
    assert MEAN.aggregate(statistics).tolist() == [1.0, 2.0, 6.0]


def test_ratios_are_zero_or_undefined_as_their_evidence_says() -> None:
    sums = np.array([[3.0, 4.0, 1.0], [3.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    # 3/4; 3/0 with evidence is 0, without is undefined; no evidence is undefined
    assert np.array_equal(ratio(0, 1)(sums), [0.75, math.nan, math.nan], equal_nan=True)
    assert np.array_equal(ratio(0, 1, evidence=2, scale=100)(sums), [75.0, 0.0, math.nan], equal_nan=True)


def test_micro_f1_and_f1_of_means() -> None:
    # correct 2, produced 4, wanted 6: 2*2/10 = .4, which is 2pr/(p+r) with p 1/2, r 1/3: (1/3)/(5/6)
    assert f1(0, 1, 2, evidence=2)(np.array([2.0, 4.0, 6.0])) == pytest.approx(0.4)
    assert math.isnan(f1(0, 1, 2, evidence=2)(np.array([0.0, 4.0, 0.0])))
    # two texts, p (1, .5), r (.5, .5): means .75 and .5, F = .75/1.25 = .6; the mean of F1s is (2/3 + 1/2)/2 = .583
    assert f1_of_means(0, 1, evidence=2)(np.array([1.5, 1.0, 2.0])) == pytest.approx(0.6)
    assert f1_of_means(0, 1, evidence=2)(np.array([0.0, 0.0, 2.0])) == 0.0


@pytest.mark.parametrize(("cells", "kept"), [(4_000_000, 64_000_000), (1, 64_000_000), (1, 0)])
def test_the_bootstrap_equals_drawing_segments_one_by_one(
    cells: int, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    bootstrap._kept_draws.cache_clear()
    monkeypatch.setattr(bootstrap, "_CELLS", cells)
    monkeypatch.setattr(bootstrap, "_KEPT", kept)
    values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0]
    generator = np.random.default_rng(11)
    means = []
    for _ in range(200):
        counts = generator.multinomial(7, [1 / 7] * 7)
        drawn = [value for value, times in zip(values, counts, strict=True) for _ in range(times)]
        means.append(sum(drawn) / len(drawn))
    means.sort()

    def percentile(share: float) -> float:  # linear between the two nearest ranks
        place = share * (len(means) - 1)
        low = int(place)
        return means[low] + (place - low) * (means[min(low + 1, len(means) - 1)] - means[low])

    found = scores([MEAN], rows(*values), seed=11, resamples=200, confidence=0.9)["mean"]
    assert found.low == pytest.approx(percentile(0.05))
    assert found.high == pytest.approx(percentile(0.95))
    assert found.signature == "toy|of:column 0|n:7|bs:200|seed:11|ci:90"


def test_a_thousand_resamples_of_a_thousand_segments_are_drawn_once_for_all_metrics_of_a_family() -> None:
    statistics = np.random.default_rng(0).random((1000, 2))
    drawn = resampled_sums(statistics, seed=5, resamples=1000)
    assert drawn.shape == (1000, 2)
    # Each resample has 1,000 draws of a uniform number: mean 500, standard deviation about 9.
    assert abs(drawn[:, 0].mean() - statistics[:, 0].sum()) < 2
    assert 7 < drawn[:, 0].std() < 12


def test_counts_are_drawn_once_for_the_same_segments_and_anew_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = list[tuple[int, int, int]]()
    draws = bootstrap._draws
    monkeypatch.setattr(bootstrap, "_draws", lambda *given: drawn.append(given) or draws(*given))  # type: ignore[func-returns-value]
    bootstrap._kept_draws.cache_clear()
    one, other = np.random.default_rng(0).random((2, 300, 4))
    first, again, both = (resampled_sums(each, seed=5, resamples=9) for each in (one, other, one + other))
    assert first + again == pytest.approx(both)  # 300 segments: counts that need two bytes
    assert drawn == [(300, 5, 9)]
    for seed, resamples, size in ((6, 9, 300), (5, 8, 300), (5, 9, 299)):
        assert not np.array_equal(resampled_sums(one[:size], seed=seed, resamples=resamples), first)
    assert len(drawn) == 4


def test_segments_of_one_group_are_resampled_together() -> None:
    # Two groups with the same sums: every resample of groups has the same mean, though the segments differ.
    found = scores([MEAN], rows(0, 10, 10, 0), seed=1, groups=["a", "a", "b", "b"])["mean"]
    assert (found.value, found.low, found.high) == (5.0, 5.0, 5.0)
    assert found.segments == 4
    assert "|n:4|groups:2|" in found.signature
    # One group says nothing of others.
    alone = scores([MEAN], rows(0, 10), seed=1, groups=["a", "a"])["mean"]
    assert (alone.value, alone.low, alone.high) == (5.0, None, None)
    assert sums_by_group(rows(1, 2, 4), ["x", "y", "x"]).tolist() == [[5.0, 2.0], [2.0, 1.0]]


def test_undefined_values_are_null_with_a_reason_and_never_nan() -> None:
    empty = scores([MEAN], rows(), seed=0)["mean"]
    assert (empty.value, empty.low, empty.high, empty.undefined) == (None, None, None, "nothing there")
    huge = scores([Metric("huge", lambda sums: sums[..., 0], "huge")], np.array([[math.inf]]), seed=0)["huge"]
    assert (huge.value, huge.undefined) == (None, "too large")
    assert percentile_interval(np.array([math.nan, math.nan]), 0.95) is None
    # A resample in which a value is undefined says nothing of it.
    assert percentile_interval(np.array([1.0, math.nan, 3.0]), 0.5) == (1.5, 2.5)


def test_no_resamples_mean_no_interval_and_no_mention_of_one() -> None:
    found = scores([MEAN], rows(1, 2), seed=0, resamples=0)["mean"]
    assert (found.low, found.high, found.signature) == (None, None, "toy|of:column 0|n:2")


def test_the_json_has_six_digits_null_for_the_undefined_and_the_same_keys_throughout() -> None:
    found = {
        "a": Score(2 / 3 * 100, 60.0, 1e-9 / 3, "sa", 2),
        "b": Score(None, None, None, "sb", 2, "no rhyme place"),
        "c": Score(12345678.0, None, None, "sc", 2),
    }
    printed = details_json(found)
    assert printed == {
        "scores": {"a": 66.6667, "b": None, "c": 12345700.0},
        "intervals": {"a": [60.0, 3.33333e-10], "b": None, "c": None},
        "signatures": {"a": "sa", "b": "sb", "c": "sc"},
        "undefined": {"b": "no rhyme place"},
    }
    json.dumps(printed, allow_nan=False)
    assert headline_json(found, {"first": "a", "second": "b", "third": "c", "fourth": "d"}) == {
        "first": 66.667,
        "third": 12346000.0,
    }


def test_a_metric_of_the_whole_corpus_has_no_interval_and_its_signature_names_none() -> None:
    whole = Metric("total", ratio(0, 1), "toy", corpus_level=True)
    score = scores([whole], rows(1, 2, 6), seed=0, groups=["a", "a", "b"])["total"]
    assert (score.value, score.low, score.high, score.signature) == (3.0, None, None, "toy|n:3")


def test_a_library_s_value_is_the_one_that_is_recorded_if_it_is_equal() -> None:
    own = {"a": Score(1.0, 0.5, 1.5, "a|lib:2", 3), "b": Score(2.0, None, None, "b", 3)}
    found = confirmed(own, {"a": 1.0 + 5e-7})
    assert found == {"a": Score(1.0 + 5e-7, 0.5, 1.5, "a|lib:2", 3), "b": own["b"]}
    for value in (1.0 + 2e-6, float("nan")):
        with pytest.raises(EspalierError, match=r"a is 1.0 by the statistics .* by its library; .*\(a\|lib:2\)"):
            confirmed(own, {"a": value})
    with pytest.raises(EspalierError, match="a is None"):
        confirmed({"a": Score(None, None, None, "a", 0, "no segments")}, {"a": 1.0})


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(EspalierError, match="3 hypotheses for 2 references"):
        require_lengths("references", 2, rhymes=["", ""], hypotheses=["", "", ""])


@given(st.lists(st.floats(0, 100), min_size=2, max_size=20), st.integers(0, 2**32 - 1))
def test_value_and_interval_stay_within_the_segments(values: list[float], seed: int) -> None:
    found = scores([MEAN], rows(*values), seed=seed, resamples=20)["mean"]
    assert found.value is not None and found.low is not None and found.high is not None
    slack = 1e-9 * max(1.0, *values)
    assert min(values) - slack <= found.low <= found.high <= max(values) + slack
    assert min(values) - slack <= found.value <= max(values) + slack


@given(st.permutations([1.0, 2.0, 3.0, 5.0]))
def test_the_order_of_segments_does_not_change_the_value(values: list[float]) -> None:
    assert scores([MEAN], rows(*values), seed=0, resamples=0)["mean"].value == 11 / 4
