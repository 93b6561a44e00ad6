"""Perplexity."""

from __future__ import annotations

from math import exp, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.io.errors import EspalierError
from espalier.metrics.metric import scores
from espalier.metrics.perplexity import METRICS, perplexity_statistics
from espalier.metrics.texts import CorpusLikelihood


def values(likelihood: CorpusLikelihood) -> dict[str, float | None]:
    found = scores(METRICS, perplexity_statistics(likelihood), seed=0, resamples=0)
    return {key: score.value for key, score in found.items()}


def test_the_three_perplexities_of_two_texts() -> None:
    found = values(CorpusLikelihood(nll=[6.0, 4.0], tokens=[3, 2], word_nll=[3.0, 3.0], words=[2, 1]))
    assert found == {
        "perplexity": pytest.approx(exp(2)),  # (6 + 4) / (3 + 2)
        "perplexity_words": pytest.approx(exp(2)),  # (3 + 3) / (2 + 1)
        "ppl_released": pytest.approx(4.0),  # (2^(6/3) + 2^(4/2)) / 2
    }


def test_the_released_value_is_a_mean_over_texts_of_powers_of_two() -> None:
    found = values(CorpusLikelihood(nll=[4.0, 6.0], tokens=[4, 2], word_nll=[0.0, 0.0], words=[4, 2]))
    assert found["perplexity"] == pytest.approx(exp(10 / 6))  # pooled over tokens
    assert found["ppl_released"] == pytest.approx(5.0)  # (2^1 + 2^3) / 2
    assert found["perplexity_words"] == pytest.approx(1.0)


def test_a_papers_ppl_is_far_below_the_true_one() -> None:
    # 12.64 as printed is 2^x for x = log2(12.64) = 3.660 nats: e^3.660 = 38.9 a token, were all poems alike.
    found = values(CorpusLikelihood(nll=[366.0], tokens=[100], word_nll=[366.0], words=[100]))
    assert found["ppl_released"] == pytest.approx(12.64, abs=0.01)
    assert found["perplexity"] == pytest.approx(38.86, abs=0.01)


def test_a_text_without_tokens_adds_nothing() -> None:
    some = CorpusLikelihood(nll=[2.0, 0.0], tokens=[2, 0], word_nll=[2.0, 0.0], words=[2, 0])
    assert values(some) == values(CorpusLikelihood([2.0], [2], [2.0], [2]))


def test_without_texts_or_words_the_value_is_undefined() -> None:
    assert set(values(CorpusLikelihood([], [], [], [])).values()) == {None}
    assert values(CorpusLikelihood([1.0], [1], [0.0], [0]))["perplexity_words"] is None


def test_a_perplexity_beyond_floating_point_is_undefined_not_infinite() -> None:
    found = scores(METRICS, perplexity_statistics(CorpusLikelihood([1e6, 1.0], [1, 1], [1.0, 1.0], [1, 1])), seed=0)
    assert (found["perplexity"].value, found["perplexity"].undefined) == (None, "too large")
    assert (found["ppl_released"].value, found["ppl_released"].undefined) == (None, "too large")


def test_lists_that_do_not_match_are_refused() -> None:
    with pytest.raises(EspalierError, match="1 words for 2 texts"):
        perplexity_statistics(CorpusLikelihood([1.0, 1.0], [1, 1], [1.0, 1.0], [1]))


def test_the_likelihood_of_a_diverged_model_is_refused() -> None:
    with pytest.raises(EspalierError, match="scoring, row 2: the likelihood is not a number; the model has diverged"):
        perplexity_statistics(CorpusLikelihood([1.0, nan], [1, 1], [1.0, 1.0], [1, 1]))


@given(st.lists(st.tuples(st.floats(0, 500), st.integers(1, 99)), min_size=1, max_size=9))
def test_the_corpus_lies_between_its_texts(pairs: list[tuple[float, int]]) -> None:
    nll, tokens = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    statistics = perplexity_statistics(CorpusLikelihood(nll, tokens, nll, tokens))
    for metric in METRICS:
        each = metric.aggregate(statistics)
        value = metric.aggregate(statistics.sum(axis=0))
        assert each.min() * (1 - 1e-9) <= value <= each.max() * (1 + 1e-9)
