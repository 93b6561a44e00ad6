"""English rhyme by overlapping units. asleep AH0 S L IY1 P, steep S T IY1 P, keep K IY1 P, sea S IY1, me M IY1."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.metrics.metric import scores
from espalier.metrics.rhyme_units import (
    RhymeUnits,
    overlap_with_reference,
    overlap_within,
    unit_statistics,
    units_of_word,
)


def lines(ends: str) -> str:
    return "\n".join(f"one more {end} ," if end != "-" else "," for end in ends.split())


def test_a_word_and_its_phonemes_are_its_units() -> None:
    assert units_of_word("Steep") == {("word", "steep"): 1} | {
        ("phoneme", sound): 1 for sound in ("S", "T", "IY1", "P")
    }
    assert units_of_word("qzxv") == {("word", "qzxv"): 1} and not units_of_word(None)


@pytest.mark.parametrize(
    ("ends", "scheme", "counts"),
    [
        ("asleep steep", "AA", (3, 6, 5)),  # the paper's example: S, IY1, P
        ("asleep steep", "AB", (0, 0, 0)),
        ("keep sea asleep me", "ABAB", (2 + 1, 4 + 3, 6 + 3)),  # IY1 P; IY1
        ("keep keep", "AA", (4, 4, 4)),
        ("keep qzxv", "AA", (0, 4, 1)),
        ("keep", "AA", (0, 4, 0)),
        ("keep -", "AA", (0, 4, 0)),
        ("keep steep asleep", "AAA", (2 + 2 + 3, 4 + 4 + 5, 5 + 6 + 6)),
        ("keep steep", "..", (0, 0, 0)),
    ],
)
def test_the_lines_of_a_letter_overlap(ends: str, scheme: str, counts: tuple[int, int, int]) -> None:
    assert overlap_within(lines(ends), scheme) == counts


@pytest.mark.parametrize(
    ("reference", "scheme", "hypothesis", "counts"),
    [
        ("keep steep", "AA", "keep steep", (9, 9, 9)),
        ("keep steep", "AA", "steep keep", (9, 9, 9)),  # a group has no order
        ("keep sea steep me", "ABAB", "sea keep me steep", (3 + 3, 15, 15)),  # each letter by itself: S, IY1 twice
        ("keep steep", "AA", "me sea", (2 + 1, 6, 9)),  # IY1 twice, S
        ("keep steep", "AA", "me", (1, 3, 9)),
        ("keep steep", "AA", "", (0, 0, 9)),
    ],
)
def test_a_letter_is_held_against_that_of_the_reference(
    reference: str, scheme: str, hypothesis: str, counts: tuple[int, int, int]
) -> None:
    assert overlap_with_reference(lines(reference), lines(hypothesis), scheme) == counts


def test_macro_is_a_mean_of_poems_micro_is_pooled_and_unknown_sounds_are_counted() -> None:
    references, hypotheses = [lines("keep steep"), lines("sea me")], [lines("asleep steep"), lines("sea qzxv")]
    statistics = unit_statistics(references, hypotheses, ["AA", "AA"], language="en")
    found = {
        key: score.value for key, score in scores(RhymeUnits("en").metrics, statistics, seed=0, resamples=0).items()
    }
    # Within: 6/11, and 0 of 3 + 1. Against the reference: 5 of steep's, IY1 P of the other, of 11 and 9; 3, of 4 and 6.
    assert found["rhyme_within_macro_f1"] == pytest.approx(100 * (6 / 11) / 2)
    assert found["rhyme_within_micro_f1"] == pytest.approx(100 * 6 / 15)
    assert found["rhyme_units_macro_f1"] == pytest.approx(100 * (14 / 20 + 6 / 10) / 2)
    assert found["rhyme_units_micro_f1"] == pytest.approx(100 * 20 / 30)
    assert found["rhyme_unknown"] == 25.0


def test_chinese_has_no_phoneme_overlap_and_counts_unknown_sounds() -> None:
    statistics = unit_statistics(["灯山。\n桥□。"], ["灯山。\n桥□。"], ["AA"], language="zh")
    found = scores(RhymeUnits("zh").metrics, statistics, seed=0, resamples=0)
    assert found["rhyme_unknown"].value == 50.0
    assert (
        found["rhyme_within_macro_f1"].undefined == found["rhyme_units_micro_f1"].undefined == "Chinese counts places"
    )


@given(
    st.lists(st.sampled_from(["keep", "steep", "sea", "me", "qzxv", "-"]), min_size=2, max_size=6),
    st.lists(st.sampled_from(["keep", "steep", "sea", "me", "qzxv", "-"]), max_size=7),
    st.data(),
)
def test_an_overlap_is_never_more_than_either_side(ends: list[str], others: list[str], data: st.DataObject) -> None:
    scheme = "".join(data.draw(st.lists(st.sampled_from("AB."), min_size=len(ends), max_size=len(ends))))
    reference, hypothesis = lines(" ".join(ends)), lines(" ".join(others))
    for overlap, one, other in (
        overlap_within(hypothesis, scheme),
        overlap_with_reference(reference, hypothesis, scheme),
    ):
        assert 0 <= overlap <= min(one, other)
    overlap, one, other = overlap_with_reference(reference, reference, scheme)
    assert overlap == one == other
