"""Distinct-n."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.metrics.distinct import MACRO, MICRO, distinct_statistics, ngrams, pooled_statistics
from espalier.metrics.metric import scores, whole_score
from espalier.verse.text import Language


def values(texts: list[str], language: Language = "zh", samples: list[int] | None = None) -> dict[str, float | None]:
    macro = scores(MACRO, distinct_statistics(texts, language), seed=0, resamples=0)
    pooled = pooled_statistics(texts, language, samples)
    micro = {metric.name: whole_score(metric, pooled, segments=len(texts)) for metric in MICRO}
    return {key: score.value for key, score in {**macro, **micro}.items()}


def test_ngrams_run_across_units_and_marks() -> None:
    assert ["".join(gram) for gram in ngrams("山，\n水。", 2, "zh")] == ["山，", "，水", "水。"]
    assert list(ngrams("the sea ,\nthe sky", 2, "en"))[2] == (",", "the")


@pytest.mark.parametrize(
    ("texts", "unigrams", "bigrams", "pooled_unigrams", "pooled_bigrams"),
    [
        # 山山水: 2 of 3, 山山 山水: 2 of 2
        (["山山水"], 200 / 3, 100.0, 200 / 3, 100.0),
        # ABA: 2/3, AB BA 2/2; ABAB: 2/4, AB BA AB 2/3. Pooled: {A, B} of 7; {AB, BA} of 5.
        (["山水山", "山水山水"], 700 / 12, 500 / 6, 200 / 7, 200 / 5),
        # An empty text is the least diverse: (1 + 0)/2, and adds no n-gram to the pool.
        (["山水", ""], 50.0, 50.0, 100.0, 100.0),
        # One token: 1/1, and no bigram.
        (["山"], 100.0, 0.0, 100.0, 0.0),
        ([""], 0.0, 0.0, 0.0, 0.0),
        ([], None, None, None, None),
    ],
)
def test_values_worked_out_by_hand(
    texts: list[str],
    unigrams: float | None,
    bigrams: float | None,
    pooled_unigrams: float | None,
    pooled_bigrams: float | None,
) -> None:
    expected = [unigrams, bigrams, pooled_unigrams, pooled_bigrams]
    found = values(texts)
    assert list(found) == ["distinct_1_macro", "distinct_2_macro", "distinct_1_micro", "distinct_2_micro"]
    for value, hand in zip(found.values(), expected, strict=True):
        assert value == (None if hand is None else pytest.approx(hand))


def test_english_counts_tokens_not_letters() -> None:
    assert values(["sea sea sky"], "en")["distinct_1_macro"] == pytest.approx(200 / 3)


def test_pooled_distinct_is_averaged_over_draws_and_does_not_fall_with_their_number() -> None:
    once = values(["山水", "山月"])
    twice = values(["山水", "山月", "山水", "山月"], samples=[0, 0, 1, 1])
    assert once["distinct_1_micro"] == twice["distinct_1_micro"] == 75.0  # {山 水 月} of 4
    assert values(["山水", "山月", "山水", "山月"])["distinct_1_micro"] == 37.5  # all four in one pool: 3 of 8


def test_pooled_distinct_claims_no_interval() -> None:
    for metric in MICRO:
        score = whole_score(metric, pooled_statistics(["山水"], "zh"), segments=1)
        assert (score.low, score.high) == (None, None)
        assert "interval:none" in score.signature


@given(st.lists(st.text("山水月，", max_size=6), min_size=1, max_size=6))
def test_values_are_percentages_and_ignore_the_order_of_texts(texts: list[str]) -> None:
    found, reverse = values(texts), values(texts[::-1])
    for key, value in found.items():
        assert value is not None and 0 <= value <= 100
        assert reverse[key] == pytest.approx(value)
