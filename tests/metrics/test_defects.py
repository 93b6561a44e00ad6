"""Defects of paraphrases."""

from __future__ import annotations

import pytest

from espalier.io.errors import EspalierError
from espalier.metrics.defects import METRICS, defect_statistics, negations, repeats
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
        ("he does not know", "he knows", [0, 1, 0, 0, 1]),
        ("he does not know", "he Never knows", [0, 0, 0, 0, 1]),
        ("he does not know", "he does not know nothing", [0, 0, 1, 0, 1]),
        ("he never said no", "he said no", [0, 1, 0, 0, 1]),  # of two negations one is lost: the opposite
        ("he knows", "he does not know", [0, 0, 0, 0, 1]),  # gained, not doubled
        ("he does not know", " ", [0, 0, 0, 1, 1]),  # empty and nothing else
        ("he does not know", "no no", [1, 0, 1, 0, 1]),
    ],
)
def test_what_an_output_contributes(reference: str, hypothesis: str, expected: list[float]) -> None:
    assert defect_statistics(["a source"], [reference], [hypothesis]).tolist() == [expected]


def test_scores_are_shares_in_percent_and_signatures_list_the_words() -> None:
    statistics = defect_statistics(["a"] * 4, ["no dog"] * 4, ["dog", "no dog", "no no dog", ""])
    found = scores(METRICS, statistics, seed=0, resamples=0)
    assert {key: score.value for key, score in found.items()} == {
        "repeated_words": 25.0,
        "negation_lost": 25.0,
        "negation_doubled": 25.0,
        "empty": 25.0,
    }
    assert "words:n't+cannot+neither" in found["negation_lost"].signature


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(EspalierError, match="2 sources for 1 hypotheses"):
        defect_statistics(["a", "b"], ["a"], ["a"])
