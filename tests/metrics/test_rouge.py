"""ROUGE: by hand, and equal to rouge-score."""

from __future__ import annotations

from importlib.metadata import version

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from espalier.io.errors import EspalierError
from espalier.metrics.metric import scores
from espalier.metrics.rouge import KEYS, Rouge, countable, library_rouge, longest_common, rouge_statistics

WORDS = ["The", "the", "cat", "Cats", "singing", "sings", "dies", "can't", "U.S.", "3.5", "café", ",", ".", "_"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)


def test_values_worked_out_by_hand() -> None:
    # 3 of 4 and of 5 words, "the cat" of 3 and of 4 pairs, "the cat mat" in order
    found = rouge_statistics(["the cat on a mat"], ["The cat, the mat."])
    assert found.tolist() == [pytest.approx([*[6 / 9, 2 / 7, 6 / 9] * 2, 1.0])]


def test_stems_are_of_words_of_more_than_three_letters() -> None:
    # "singing" and "sings" share a stem; "dos" stays, though "dogs" does not
    found = rouge_statistics(["she sings dogs dos"], ["she singing dog do"])
    assert found[0].tolist() == pytest.approx([3 / 4, 2 / 3, 3 / 4, 1 / 4, 0.0, 1 / 4, 1.0])


def test_order_counts_for_l_alone() -> None:
    assert rouge_statistics(["a b c d"], ["d c b a"]).tolist() == [[*[1.0, 0.0, 0.25] * 2, 1.0]]


def test_case_and_marks_do_not_count_and_signatures_say_so() -> None:
    assert rouge_statistics(["The cat ."], ["the cat !"])[0, 0] == 1.0
    one, *_, other = Rouge().metrics
    assert f"tokens:alphanumeric|stems:porter|case:lower|rouge-score:{version('rouge-score')}" in one.signature
    assert "type:L" in other.signature and "tokens:alphanumeric|stems:no|case:lower" in other.signature


@given(pair=st.tuples(TEXTS, TEXTS))
@settings(deadline=None)
def test_segments_equal_rouge_score(pair: tuple[str, str]) -> None:
    scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"])
    expected = [each.fmeasure for each in scorer.score(*pair).values()]
    expected.append(float(any(letter.isascii() and letter.isalnum() for letter in pair[0])))
    assert rouge_statistics(*([text] for text in pair))[0, 3:].tolist() == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
@settings(deadline=None)
def test_the_library_s_own_values_equal_those_of_the_statistics(pairs: list[tuple[str, str]]) -> None:
    references, hypotheses = (list(side) for side in zip(*pairs, strict=True))
    own = scores(Rouge().metrics, rouge_statistics(references, hypotheses), seed=0, resamples=0)
    found = library_rouge(*countable(references, hypotheses))
    defined = {key: score.value for key, score in own.items() if score.value is not None}
    assert found == pytest.approx(defined, abs=1e-9)
    assert library_rouge([], []) == {}


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
def test_longest_common_subsequence_equals_the_table(one: list[str], other: list[str]) -> None:
    above = [0] * (len(other) + 1)
    for word in one:
        here = [0]
        for place, another in enumerate(other):
            here.append(above[place] + 1 if word == another else max(above[place + 1], here[place]))
        above = here
    assert longest_common(one, other) == above[-1]


def test_scores_are_means_times_100() -> None:
    found = scores(Rouge().metrics, rouge_statistics(["a b", "a b"], ["a b", ""]), seed=0, resamples=0)
    assert {key: score.value for key, score in found.items()} == dict.fromkeys(KEYS, 50.0)
    none = scores(Rouge().metrics, rouge_statistics([], []), seed=0)
    assert [score.value for score in none.values()] == [None] * 6


def test_chinese_texts_have_no_score_and_a_reason_rather_than_0_against_themselves() -> None:
    texts = ["春眠不觉晓。", "处处闻啼鸟。"]
    found = scores(Rouge().metrics, rouge_statistics(texts, texts), seed=0)
    assert {(score.value, score.undefined) for score in found.values()} == {
        (None, "no reference has a letter from a to z or a digit")
    }
    one = scores(Rouge().metrics, rouge_statistics([*texts, "a b"], [*texts, "a b"]), seed=0)
    assert {score.value for score in one.values()} == {100.0}


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(EspalierError, match="1 hypotheses for 0 references"):
        rouge_statistics([], ["a"])
