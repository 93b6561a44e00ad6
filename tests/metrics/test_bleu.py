"""BLEU-4: by hand, and equal to sacreBLEU."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.io.errors import EspalierError
from espalier.metrics.bleu import (
    Bleu,
    SourceBleu,
    bleu_metric,
    bleu_statistics,
    bleu_statistics_all,
    library_bleu,
    matches,
    sentence_bleu,
)
from espalier.metrics.metric import confirmed, scores

METRICS = Bleu().metrics
TEXTS = st.lists(st.sampled_from(["the", "a", "cat", "sat", "mat", ",", "."]), max_size=9).map(" ".join)
SEVERAL = st.lists(st.tuples(st.lists(TEXTS.filter(bool), min_size=2, max_size=2), TEXTS), min_size=1, max_size=5)
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
    single = METRICS[0].aggregate(bleu_statistics(references, hypotheses))
    for value, (reference, hypothesis) in zip(single, pairs, strict=True):
        other = sacrebleu.sentence_bleu(hypothesis, [reference], tokenize="none", use_effective_order=False)
        assert value == pytest.approx(other.score, abs=1e-9)


@given(SEVERAL)
@settings(deadline=None)
def test_several_references_equal_sacrebleu(pairs: list[tuple[list[str], str]]) -> None:
    references, hypotheses = [own for own, _ in pairs], [text for _, text in pairs]
    ranked = [list(rank) for rank in zip(*references, strict=True)]
    expected = sacrebleu.corpus_bleu(hypotheses, ranked, tokenize="none", force=True).score
    found = bleu_statistics_all(references, hypotheses)
    assert METRICS[0].aggregate(found.sum(axis=0)) == pytest.approx(expected, abs=1e-9)
    for value, own, hypothesis in zip(sentence_bleu(found), references, hypotheses, strict=True):
        other = sacrebleu.sentence_bleu(hypothesis, own, tokenize="none", use_effective_order=True)
        assert value == pytest.approx(other.score, abs=1e-9)


@given(SEVERAL)
@settings(deadline=None)
def test_the_library_s_own_values_equal_those_of_the_statistics(pairs: list[tuple[list[str], str]]) -> None:
    references, hypotheses = [own[: 1 + number % 2] for number, (own, _) in enumerate(pairs)], [one for _, one in pairs]
    found = library_bleu(references, hypotheses)
    own = scores(METRICS, bleu_statistics_all(references, hypotheses), seed=0, resamples=0)
    assert found == pytest.approx({key: score.value for key, score in own.items()}, abs=1e-9)
    assert confirmed(own, found)["bleu"].value == found["bleu"]


def test_the_library_has_no_value_without_segments() -> None:
    assert library_bleu([], []) == {}


def test_length_ratio_and_brevity_penalty_by_hand() -> None:
    # 2 + 6 words, references of 4 + 6; then longer than the reference; then nothing at all
    found = [bleu_statistics(*pair) for pair in ((["a b c d", "a b c d e f"], ["a b", "a b c d e f"]),
                                                 (["a b"], ["a b c"]), (["a b"], [""]))]  # fmt: skip
    sums = np.array([rows.sum(axis=0) for rows in found])
    ratio, penalty = (metric.aggregate(sums).tolist() for metric in METRICS[1:])
    assert ratio == pytest.approx([0.8, 1.5, 0.0])
    assert penalty == pytest.approx([np.exp(1 - 10 / 8), 1.0, 0.0])
    assert [metric.name for metric in METRICS] == ["bleu", "length_ratio", "brevity_penalty"]


def test_an_ngram_matches_as_often_as_in_the_reference_that_has_it_most_often() -> None:
    # Each reference has "a" twice, one of them "a a" once: nothing adds up. Lengths 2 and 4 are as close to 3, and the
    # shorter counts.
    found = bleu_statistics_all([["a a", "a b c a"]], ["a a a"])
    assert found.tolist() == [[3, 2, 2, 1, 0, 0, 3, 2, 1, 0]]
    assert bleu_statistics_all([["a b c a", "a a"]], ["a a a"]).tolist() == found.tolist()


def test_a_sentence_is_judged_by_the_orders_it_is_long_enough_for() -> None:
    short = bleu_statistics(["a b", "a b", "a b", "a b c"], ["a b", "b a", "", "a b"])
    assert METRICS[0].aggregate(short).tolist() == [0.0] * 4
    assert sentence_bleu(short) == pytest.approx([100.0, 100 * 0.5**0.5, 0.0, 100 * np.exp(-0.5)])


def test_a_key_of_ones_own_says_what_is_its_own() -> None:
    metric = bleu_metric("bleu_all", refs="all", replies="first")
    assert metric.name == "bleu_all" and "|refs:all|" in metric.signature
    assert metric.signature.endswith(f"|smooth:exp|sacrebleu:{version('sacrebleu')}|replies:first")


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
def test_matches_are_the_sum_of_lesser_counts(one: list[str], other: list[str]) -> None:
    assert matches(one, other) == sum(min(one.count(each), other.count(each)) for each in set(one))


def test_copying_has_a_key_of_its_own() -> None:
    (metric,) = SourceBleu().metrics
    assert metric.name == "bleu_source" and "against:source" in metric.signature
    # The parts that sacreBLEU's own signature has, under its names.
    parts = "case:mixed|eff:no|tok:none|smooth:exp|sacrebleu:" + version("sacrebleu")
    assert METRICS[0].signature == f"bleu|order:4|against:reference|refs:1|mean:corpus|{parts}"


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(EspalierError, match="1 hypotheses for 2 references"):
        bleu_statistics(["a", "b"], ["a"])
    with pytest.raises(EspalierError, match="row 2: no reference; leave the row out"):
        bleu_statistics_all([["a"], []], ["a", "b"])
