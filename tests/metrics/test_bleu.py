"""BLEU-4: by hand, and equal to sacreBLEU."""

from __future__ import annotations

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.io.errors import EspalierError
from espalier.metrics.bleu import METRICS, SOURCE_METRICS, bleu_statistics, matches
from espalier.metrics.metric import scores, segment_scores

TEXTS = st.lists(st.sampled_from(["the", "a", "cat", "sat", "mat", ",", "."]), max_size=9).map(" ".join)
PAIRS = st.lists(st.tuples(TEXTS.filter(bool), TEXTS), min_size=1, max_size=5)


def bleu(references: list[str], hypotheses: list[str]) -> float | None:
    return scores(METRICS, bleu_statistics(references, hypotheses), seed=0, resamples=0)["bleu"].value


def test_statistics_are_lengths_matches_and_ngrams() -> None:
    # the: 2 of 3 match; "the cat" and "cat sat" of 5 pairs; "the cat sat" of 4.
    found = bleu_statistics(["the cat sat on the mat"], ["the the the cat sat down"])
    assert found.tolist() == [[6, 6, 4, 2, 1, 0, 6, 5, 4, 3]]


def test_smoothing_and_brevity_worked_out_by_hand() -> None:
    # 4/4, 2/3, 0/2 -> 1/4, 0/1 -> 1/4; two words too few: exp(1 - 6/4)
    hand = 100 * np.exp(-0.5) * (1 * 2 / 3 * 1 / 4 * 1 / 4) ** 0.25
    assert bleu(["a b c d e f"], ["a b d e"]) == pytest.approx(hand)


@pytest.mark.parametrize(
    ("references", "hypotheses", "expected"),
    [
        (["a b c d"], ["a b c d"], 100.0),
        (["a b c"], ["a b c"], 0.0),  # no 4-gram, as in sacreBLEU's corpus score
        (["a b c d"], [""], 0.0),
        (["a b c d"], ["e f g h"], 0.0),
        ([], [], None),
    ],
)
def test_corners(references: list[str], hypotheses: list[str], expected: float | None) -> None:
    assert bleu(references, hypotheses) == (None if expected is None else pytest.approx(expected))


@given(PAIRS)
@settings(deadline=None)
def test_corpus_and_segments_equal_sacrebleu(pairs: list[tuple[str, str]]) -> None:
    references, hypotheses = (list(side) for side in zip(*pairs, strict=True))
    expected = sacrebleu.corpus_bleu(hypotheses, [references], tokenize="none", force=True).score
    assert bleu(references, hypotheses) == pytest.approx(expected, abs=1e-9)
    single = segment_scores(METRICS[0], bleu_statistics(references, hypotheses))
    for value, (reference, hypothesis) in zip(single, pairs, strict=True):
        other = sacrebleu.sentence_bleu(hypothesis, [reference], tokenize="none", use_effective_order=False)
        assert value == pytest.approx(other.score, abs=1e-9)


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
def test_matches_are_the_sum_of_lesser_counts(one: list[str], other: list[str]) -> None:
    assert matches(one, other) == sum(min(one.count(each), other.count(each)) for each in set(one))


def test_copying_has_a_key_of_its_own() -> None:
    (metric,) = SOURCE_METRICS
    assert metric.name == "bleu_source" and "against:source" in metric.signature
    assert (
        METRICS[0].signature
        == "bleu|order:4|against:reference|refs:1|mean:corpus|case:mixed|eff:no|tok:none|smooth:exp"
    )


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(EspalierError, match="1 hypotheses for 2 references"):
        bleu_statistics(["a", "b"], ["a"])
