"""NLTK's sentence BLEU with method 7: equal to NLTK's own code, with each release's formula put into it."""

from __future__ import annotations

import math
import warnings
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.io.errors import EspalierError
from espalier.io.imports import nltk_module
from espalier.metrics.nltk_bleu import Smoothing, nltk_bleu


def by_nltk(reference: list[str], hypothesis: list[str], smoothing: str) -> list[float]:
    """Through NLTK's own `sentence_bleu`, one order at a time; its method 4 as the release wrote it."""
    nltk_module()
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    class Release(SmoothingFunction):  # type: ignore[misc]
        def method4(self, p_n: list[Any], references: Any, hypothesis: Any, hyp_len: Any = None, *args: Any) -> Any:
            words, missed = len(hypothesis), 0
            for order, precision in enumerate(p_n):
                if precision.numerator == 0 and words > 1:
                    missed += 1
                    if smoothing == "nltk_3_4":
                        p_n[order] = 1 / (order + self.k / math.log(words))
                    elif smoothing == "nltk_3_5":
                        p_n[order] = (order + self.k / math.log(words)) / precision.denominator
                    else:
                        p_n[order] = 1 / (2**missed * self.k / math.log(words)) / precision.denominator
            return p_n

    weights = [(0.5, 0.5, 0.0, 0.0), (0.25,) * 4]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [sentence_bleu([reference], hypothesis, each, Release().method7) for each in weights]


words = st.lists(st.sampled_from("abcd"), max_size=9)


@given(words.filter(bool), words, st.sampled_from(get_args(Smoothing)))
def test_each_formula_is_nltk_s_code_with_it(reference: list[str], hypothesis: list[str], smoothing: Smoothing) -> None:
    found = nltk_bleu([reference], [hypothesis], smoothing)[0]
    assert found.tolist() == pytest.approx(by_nltk(reference, hypothesis, smoothing), abs=1e-12)


@pytest.mark.parametrize("smoothing", get_args(Smoothing))
def test_equal_texts_of_five_words_exceed_one(smoothing: Smoothing) -> None:
    five = list("abcde")
    # The means of method 5 are 4/3, 10/9, 28/27, 82/81.
    assert nltk_bleu([five], [five], smoothing)[0, 1] == pytest.approx(1.116747, abs=1e-6)
    assert nltk_bleu([five], [five], smoothing)[0, 0] == pytest.approx(math.sqrt(4 / 3 * 10 / 9), abs=1e-12)


def test_the_formulas_differ_where_an_order_has_no_match() -> None:
    # Four words, one match: p = 1/4, then orders 1 to 3 smoothed, and no 5-gram. ln 4 = 1.386294.
    logs = math.log(4)
    for smoothing, filled in {
        "nltk_3_4": [1 / (i + 5 / logs) for i in (1, 2, 3)],
        "nltk_3_5": [(i + 5 / logs) / n for i, n in ((1, 3), (2, 2), (3, 1))],
        "nltk_3_6": [logs / (5 * 2**k) / n for k, n in ((1, 3), (2, 2), (3, 1))],
    }.items():
        p = [0.25, *filled, 0.0]
        mean, product = 1.25, 1.0
        for order in range(4):
            mean = (mean + p[order] + p[order + 1]) / 3
            product *= mean
        found = nltk_bleu([["a", "b", "c", "d"]], [["a", "x", "y", "z"]], smoothing)  # type: ignore[arg-type]
        assert found[0, 1] == pytest.approx(product**0.25, abs=1e-12), smoothing


def test_one_word_whose_logarithm_is_zero_has_a_value() -> None:
    for smoothing in get_args(Smoothing):
        # p = 1, 0, 0, 0, 0: the means are 1, 1/3, 1/9, 1/27.
        assert nltk_bleu([["a"]], [["a"]], smoothing).tolist() == [pytest.approx([3**-0.5, 3**-1.5])]
        assert nltk_bleu([["a"], ["a"]], [["b"], []], smoothing).tolist() == [[0, 0], [0, 0]]


def test_lists_of_different_lengths_are_one_line() -> None:
    with pytest.raises(EspalierError, match="scoring: 1 hypotheses for 2 references"):
        nltk_bleu([["a"], ["b"]], [["a"]], "nltk_3_4")
    assert nltk_bleu([], [], "nltk_3_4").shape == (0, 2)
