"""Distinct-n."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.metrics.distinct import (
    MACRO,
    MICRO,
    WORDS_MACRO,
    WORDS_POOLED,
    Text,
    distinct_statistics,
    draw_shares,
    pooled_shares,
)
from espalier.metrics.metric import scores
from espalier.text.language import Language


def values(texts: list[str], language: Language = "zh", draws: list[int] | None = None) -> dict[str, float | None]:
    macro = scores(MACRO, distinct_statistics(texts, language), seed=0, resamples=0)
    micro = scores(MICRO, draw_shares(texts, language, draws), seed=0)
    return {key: score.value for key, score in {**macro, **micro}.items()}


def test_ngrams_run_across_units_and_marks() -> None:
    assert pooled_shares(["山，\n水。"], "zh").tolist() == [[4, 4, 3, 3, 1]]  # 山， ，水 水。
    assert pooled_shares(["the sea ,\nthe sky"], "en").tolist() == [[4, 5, 4, 4, 1]]  # among them ", the"


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
    # One text of the first draw, two of the second: 2/2 and {山 水 月} of 4; each draw counts as one.
    uneven = values(["山水", "山水", "山月"], draws=[0, 1, 1])
    assert uneven["distinct_1_micro"] == pytest.approx(100 * (1 + 3 / 4) / 2)
    once = values(["山水", "山月"])
    twice = values(["山水", "山月", "山水", "山月"], draws=[0, 0, 1, 1])
    assert once["distinct_1_micro"] == twice["distinct_1_micro"] == 75.0  # {山 水 月} of 4
    assert values(["山水", "山月", "山水", "山月"])["distinct_1_micro"] == 37.5  # all four in one pool: 3 of 8


def test_pooled_distinct_claims_no_interval() -> None:
    for metric in MICRO:
        score = scores([metric], draw_shares(["山水"], "zh"), seed=0)[metric.name]
        assert (score.low, score.high) == (None, None)
        assert "interval:none" in score.signature


@given(st.lists(st.text("山水月，", max_size=6), min_size=1, max_size=6))
def test_values_are_percentages_and_ignore_the_order_of_texts(texts: list[str]) -> None:
    found, reverse = values(texts), values(texts[::-1])
    for key, value in found.items():
        assert value is not None and 0 <= value <= 100 + 1e-9  # shares of 1/m sum to 1 but for the last bits
        assert reverse[key] == pytest.approx(value)


# --- Words -----------------------------------------------------------------------------------------------------------


def of_words(texts: Sequence[Text]) -> dict[str, float | None]:
    macro = scores(WORDS_MACRO, distinct_statistics(texts), seed=0, resamples=0)
    pooled = scores(WORDS_POOLED, pooled_shares(texts), seed=0)
    return {key: score.value for key, score in {**macro, **pooled}.items()}


@pytest.mark.parametrize("split", [str, str.split], ids=["joined", "listed"])
def test_words_are_words_however_long_and_however_given(split: Callable[[str], Text]) -> None:
    # 下雨 了 下雨: 2 of 3, 2 of 2; 下雨 了 。: 3 of 3, 2 of 2. Pooled: {下雨 了 。} of 6; {下雨了 了下雨 了。} of 4.
    found = of_words([split(text) for text in ("下雨 了 下雨", "下雨 了 。")])
    assert found == {
        "distinct_1_macro": pytest.approx(500 / 6),
        "distinct_2_macro": pytest.approx(100.0),
        "distinct_1": pytest.approx(50.0),
        "distinct_2": pytest.approx(75.0),
    }


def test_words_without_ngrams_have_0_and_no_texts_have_no_value() -> None:
    assert of_words([["好"], []]) == {
        "distinct_1_macro": 50.0, "distinct_2_macro": 0.0, "distinct_1": 100.0, "distinct_2": 0.0
    }  # fmt: skip
    assert set(of_words([]).values()) == {None}


def test_an_ngram_is_shared_among_all_its_places() -> None:
    # 下雨 stands three times, 了 and 啊 once each; 下雨下雨, 下雨了 and 下雨啊 once each.
    found = pooled_shares([["下雨", "下雨", "了"], ["下雨", "啊"], []])
    assert found == pytest.approx(np.array([[5 / 3, 3, 2, 2, 1], [4 / 3, 2, 1, 1, 1], [0, 0, 0, 0, 1]]))


@given(st.lists(st.lists(st.sampled_from(["a", "bb", "ab", "b"]), max_size=6), min_size=1, max_size=6))
def test_shares_sum_to_what_the_pool_has(texts: list[list[str]]) -> None:
    for n in (1, 2):
        pool = [tuple(text[at : at + n]) for text in texts for at in range(len(text) - n + 1)]
        expected = 100 * len(set(pool)) / len(pool) if pool else 0.0
        assert of_words(texts)[f"distinct_{n}"] == pytest.approx(expected)


def test_keys_and_signatures_of_words_are_their_own() -> None:
    verse, words = ({metric.signature for metric in metrics} for metrics in (MACRO + MICRO, WORDS_MACRO + WORDS_POOLED))
    assert not verse & words
    assert all("tokens:words+marks" in signature for signature in verse)
    assert all("tokens:words|" in signature for signature in words)
