"""Agreement by hand, by NLTK, and by what krippendorff and irrCAC print for the same tables; coverage by simulation."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.metrics.agreement import AnnotationTask

from espalier.judging.agreement import Agreement, Coefficient, Counts, agreement

RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text())["tables"]
#: Equality up to the last digits of a double.
EXACT = 1e-12


def value(coefficient: Coefficient, counts: list[list[int]], *, ordered: bool = False) -> float | None:
    return agreement(coefficient, np.array(counts), range(len(counts)), ordered=ordered).value


def counts_of(ratings: list[list[int | None]], answers: int) -> Counts:
    """(raters, units) -> (units, answers)."""
    return np.array([[column.count(answer) for answer in range(answers)] for column in zip(*ratings, strict=True)])


def test_kappa_is_that_of_a_worked_example() -> None:
    # a = (1 + 1/3 + 1 + 0) / 4 = 7/12; of 12 answers 4, 3 and 5: e = (16 + 9 + 25) / 144 = 50/144.
    assert value("kappa", [[3, 0, 0], [0, 2, 1], [0, 0, 3], [1, 1, 1]]) == pytest.approx(34 / 94, abs=EXACT)
    assert value("kappa", [[2, 0, 0], [0, 2, 0]]) == pytest.approx(1, abs=EXACT)
    assert value("kappa", [[1, 1, 0], [1, 1, 0]]) == pytest.approx(-1, abs=EXACT)


def test_ac1_and_nominal_alpha_are_those_of_a_worked_example() -> None:
    counts = [[2, 0], [2, 0], [1, 1], [0, 2]]
    # a = 3/4, q = (5/8, 3/8): e = 2 * 15/64 = 30/64, and (48 - 30) / (64 - 30).
    assert value("ac1", counts) == pytest.approx(18 / 34, abs=EXACT)
    # One unit of four disagrees: sum o d = 2, n = (5, 3), sum e d = 2 * 15 / 7.
    assert value("alpha", counts) == pytest.approx(1 - 2 * 7 / 30, abs=EXACT)


def test_ordinal_alpha_is_that_of_a_worked_example() -> None:
    # n = (3, 2, 1): d_01 = 2.5^2, d_12 = 1.5^2, d_02 = 4^2. sum o d = 2 * 16, sum e d = 2 (37.5 + 48 + 4.5) / 5.
    assert value("alpha", [[2, 0, 0], [1, 0, 1], [0, 2, 0]], ordered=True) == pytest.approx(1 / 9, abs=EXACT)


@pytest.mark.parametrize("table", RECORDED, ids=range(len(RECORDED)))
def test_every_coefficient_equals_the_libraries_where_ratings_are_missing(table: dict) -> None:  # type: ignore[type-arg]
    counts = counts_of(table["ratings"], table["answers"]).tolist()
    assert value("alpha", counts) == pytest.approx(table["alpha_nominal"], abs=EXACT)
    assert value("alpha", counts, ordered=True) == pytest.approx(table["alpha_ordinal"], abs=EXACT)
    assert value("ac1", counts) == pytest.approx(table["ac1"], abs=EXACT)
    assert value("kappa", counts) == pytest.approx(table["kappa"], abs=EXACT)


@given(st.integers(2, 5).flatmap(lambda raters: st.lists(
    st.lists(st.integers(0, 3), min_size=raters, max_size=raters), min_size=2, max_size=12
)))  # fmt: skip
def test_alpha_and_kappa_equal_nltk_where_all_rate_all(units: list[list[int]]) -> None:
    rows = [(f"rater {r}", f"unit {u}", answer) for u, unit in enumerate(units) for r, answer in enumerate(unit)]
    ratings: list[list[int | None]] = [list(rater) for rater in zip(*units, strict=True)]
    counts = counts_of(ratings, 4).tolist()
    if len({answer for unit in units for answer in unit}) == 1:  # then NLTK divides by 0, or calls it 1
        assert value("alpha", counts) is None and value("kappa", counts) is None
        return
    assert value("alpha", counts) == pytest.approx(AnnotationTask(data=rows).alpha(), abs=EXACT)
    assert value("kappa", counts) == pytest.approx(AnnotationTask(data=rows).pi(), abs=EXACT)


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4).filter(any), min_size=2, max_size=10))
def test_a_unit_with_one_rater_changes_no_alpha_and_names_of_answers_no_nominal_value(counts: list[list[int]]) -> None:
    alone = [unit for unit in counts if sum(unit) > 1]
    known = value("alpha", counts, ordered=True)
    assert known == (pytest.approx(value("alpha", alone, ordered=True), abs=EXACT) if known is not None else None)
    renamed = [[unit[place] for place in (2, 0, 3, 1)] for unit in counts]
    for coefficient in ("alpha", "ac1", "kappa"):
        one, other = value(coefficient, counts), value(coefficient, renamed)
        assert one == (pytest.approx(other, abs=1e-9) if one is not None else other)


@pytest.mark.parametrize("counts", [[[1, 0, 0], [0, 1, 0]], [[3, 0, 0], [3, 0, 0]], []])
def test_kappa_of_one_rater_of_one_answer_or_of_nothing_is_not_defined(counts: list[list[int]]) -> None:
    table = np.array(counts, dtype=np.int64).reshape(-1, 3)
    assert agreement("kappa", table, "ab"[: len(counts)], ordered=False).value is None
    assert agreement("alpha", table, "ab"[: len(counts)], ordered=True).interval is None


def test_raters_who_always_choose_one_answer_agree_by_ac1_where_kappa_is_not_defined() -> None:
    assert (value("ac1", [[3, 0], [3, 0]]), value("kappa", [[3, 0], [3, 0]])) == (1.0, None)


def test_one_input_has_no_interval() -> None:
    found = agreement("kappa", np.array([[2, 0], [1, 1]]), ["a", "a"], ordered=False)
    assert found.value is not None and found.interval is None


def test_the_interval_of_kappa_covers_the_true_one_and_draws_the_texts_of_an_input_together() -> None:
    generator = np.random.default_rng(3)

    def texts(inputs: int) -> np.ndarray:
        """Two raters, two texts for an input: alike in whether they agree, 70 % of the inputs do. Kappa is 0.4."""
        first = generator.integers(0, 2, inputs)
        second = np.where(generator.random(inputs) < 0.7, first, 1 - first)
        one = np.stack([(first == level).astype(int) + (second == level) for level in range(3)], axis=1)
        return np.repeat(one, 2, axis=0)

    covered, alone = 0, 0
    for _ in range(200):
        counts = texts(60)
        low, high = agreement(
            "kappa", counts, np.repeat(np.arange(60), 2).tolist(), ordered=False, resamples=400
        ).interval or (0, 0)
        covered += low <= 0.4 <= high
        low, high = agreement("kappa", counts, np.arange(120).tolist(), ordered=False, resamples=400).interval or (0, 0)
        alone += low <= 0.4 <= high
    assert covered > 180 > alone


@pytest.mark.parametrize(
    ("coefficient", "number", "words"),
    [("kappa", 0.81, "almost perfect"), ("kappa", 0.166, "slight"), ("ac1", 0.5, "moderate"), ("alpha", 0.7, "good for "
     "tentative conclusions only"), ("alpha", 0.6, "not reliable"), ("kappa", -0.1, "no better than chance"),
     ("kappa", None, "")],
)  # fmt: skip
def test_a_value_is_said_in_the_words_of_its_field(coefficient: Coefficient, number: float, words: str) -> None:
    assert Agreement(coefficient, number, None, 3).meaning == words
