"""Defects of paraphrases."""

from __future__ import annotations

import pytest

from espalier.io.errors import EspalierError
from espalier.metrics.defects import Defects, defect_statistics, negations, repeats, unknown_words
from espalier.metrics.metric import scores


@pytest.mark.parametrize(
    ("hypothesis", "others", "expected"),
    [
        ("the the dog", [""], True),
        ("The the dog", [""], True),
        ("a dog saw a dog", [""], False),  # twice, not in a row
        ("dog and dog and dog", [""], True),
        ("a dog , a cat and a cow", [""], False),  # common words may
        ("no , no", [""], False),  # not in a row
        (". . .", [""], False),  # no words
        ("very very good", ["very very good", "good"], False),  # the source has it
        ("very very very good", ["very very good"], True),  # but less often
        ("dog dog saw dog", ["dog dog dog"], False),
        ("dog by dog by dog", ["dog dog dog"], False),  # as often in all
        ("", [""], False),
    ],
)
def test_repeated_words(hypothesis: str, others: list[str], expected: bool) -> None:
    found = repeats(hypothesis.lower().split(), *(other.split() for other in others))
    assert found == expected


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("he did n't go", 1),
        ("he didn't go and never will", 2),
        ("he didn’t go", 1),
        ("i can not , i cannot", 2),
        ("neither you nor i", 1),
        ("a note on nothingness", 0),
        ("", 0),
    ],
)
def test_negations(text: str, count: int) -> None:
    assert negations(text.split()) == count


@pytest.mark.parametrize(
    ("reference", "hypothesis", "expected"),
    [
        ("he does not know", "he knows", [0, 1, 0, 0]),
        ("he does not know", "he Never knows", [0, 0, 0, 0]),
        ("he does not know", "he does not know nothing", [0, 0, 1, 0]),
        ("he never said no", "he said no", [0, 1, 0, 0]),  # of two negations one is lost: the opposite
        ("he knows", "he does not know", [0, 0, 0, 0]),  # gained, not doubled
        ("he does not know", " ", [0, 0, 0, 1]),  # empty and nothing else
        ("he does not know", "no no", [1, 0, 1, 0]),
    ],
)
def test_what_an_output_contributes(reference: str, hypothesis: str, expected: list[float]) -> None:
    assert defect_statistics(["a source"], [reference], [hypothesis]).tolist() == [[*expected, 0, 0, 1]]


@pytest.mark.parametrize(
    ("hypothesis", "unknown"),
    [
        ("it is brokenke .", ["brokenke"]),
        ("It is Broken .", []),  # case is ignored
        ("the xyzzy is broken", []),  # the source has it
        ("it is 1987 .", []),  # no letter
        ("qux is qux", ["qux", "qux"]),
        ("", []),
    ],
)
def test_words_that_neither_training_nor_source_has(hypothesis: str, unknown: list[str]) -> None:
    training, source = {"it", "is", "broken", "."}, "the Xyzzy"
    assert unknown_words(hypothesis.lower().split(), source.lower().split(), training) == unknown
    found = defect_statistics([source], ["it is not"], [hypothesis], training)
    assert found[0, 4:].tolist() == [float(bool(unknown)), 1, 1]


def test_incomprehensible_outputs_are_a_share_where_training_words_are_known() -> None:
    texts = (["a"] * 4, ["a dog"] * 4, ["a dog", "dogke", "a", "cat"])
    known = scores(Defects.metrics, defect_statistics(*texts, {"dog"}), seed=0, resamples=0)["incomprehensible"]
    assert known.value == 50.0 and "against:training+source" in known.signature
    unknown = scores(Defects.metrics, defect_statistics(*texts), seed=0, resamples=0)["incomprehensible"]
    assert (unknown.value, unknown.undefined) == (None, "no training words")


def test_scores_are_shares_in_percent_and_signatures_list_the_words() -> None:
    statistics = defect_statistics(["a"] * 4, ["no dog"] * 4, ["dog", "no dog", "no no dog", ""])
    found = scores(Defects.metrics, statistics, seed=0, resamples=0)
    assert {key: score.value for key, score in found.items()} == {
        "repeated_words": 25.0,
        "negation_lost": 25.0,
        "negation_doubled": 25.0,
        "empty": 25.0,
        "incomprehensible": None,
    }
    assert "words:n't+cannot+neither" in found["negation_lost"].signature


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(EspalierError, match="2 sources for 1 hypotheses"):
        defect_statistics(["a", "b"], ["a"], ["a"])
