"""Filters: every dropped row has its reason, and nothing is lost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from espalier.corpora.filters import Filters, require, screen
from espalier.corpora.records import Verse
from espalier.io.errors import DataError


def verse(id: str, target: str, **changed: Any) -> Verse:
    values = {"origin": "o", "language": "zh", "author": "甲", "tune": "新调", "rhyme": ""}
    return Verse(**{**values, "id": id, "target": target, **changed})


ROWS = [
    verse("a", "山路远。\n水声长。"),
    verse("b", "山路远。"),
    verse("c", "山路远！\n水声长！"),  # the letters of a
    verse("d", "石。\n桥。\n灯。"),
    verse("e", "旧屋新窗，一夜听风雨。\n旧屋新窗，一夜听风雨。"),
    verse("f", "a lamp\nthe door", language="en", author="乙"),
]


@pytest.mark.parametrize(
    ("rules", "reasons"),
    [
        ({}, {}),
        ({"min_units": 2}, {"b": "too few units"}),
        ({"max_units": 2}, {"d": "too many units"}),
        ({"min_tokens": 5}, {"b": "too few tokens", "f": "too few tokens"}),
        ({"max_tokens": 21}, {"e": "too many tokens"}),
        ({"max_tokens": 22}, {}),
        ({"deduplicate": True}, {"c": "duplicate"}),
        ({"authors": ["乙"]}, dict.fromkeys("abcde", "another author")),
        ({"without_authors": ["乙"]}, {"f": "an author left out"}),
        ({"min_units": 2, "min_tokens": 7}, {"b": "too few units", "d": "too few tokens", "f": "too few tokens"}),
    ],
)
def test_each_rule_drops_what_breaks_it_and_says_so(rules: dict[str, Any], reasons: dict[str, str]) -> None:
    kept, aside = screen(ROWS, Filters.model_validate(rules))
    assert {row.id: row.reason for row in aside} == reasons
    assert [row.id for row in kept] == [row.id for row in ROWS if row.id not in reasons]
    assert {row.id: row.text for row in aside} == {row.id: row.target for row in ROWS if row.id in reasons}


@given(
    texts=st.lists(st.text(alphabet="山水。，\n", max_size=8), max_size=12),
    least=st.integers(1, 4),
    same=st.booleans(),
)
def test_kept_and_quarantined_add_up_and_a_second_pass_drops_nothing(texts: list[str], least: int, same: bool) -> None:
    rows = [verse(str(index), text) for index, text in enumerate(texts)]
    filters = Filters(min_tokens=least, deduplicate=same)
    kept, aside = screen(rows, filters)
    assert sorted([*(row.id for row in kept), *(row.id for row in aside)]) == sorted(row.id for row in rows)
    assert screen(kept, filters) == (kept, [])


def test_an_empty_corpus_says_that_it_is_empty() -> None:
    with pytest.raises(DataError, match="mine: the corpus is empty: no rows came in"):
        require(0, 0, Filters(), corpus="mine")
    with pytest.raises(DataError, match="mine: the corpus is empty: all 7 rows were quarantined"):
        require(0, 7, Filters(), corpus="mine")


def test_too_much_in_quarantine_is_an_error_with_the_numbers() -> None:
    require(9, 1, Filters(max_bad_fraction=0.1), corpus="mine")
    with pytest.raises(DataError, match=r"2 of 10 rows were quarantined, more than max_bad_fraction 0\.1"):
        require(8, 2, Filters(max_bad_fraction=0.1), corpus="mine")


@pytest.mark.parametrize(
    "rules",
    [
        {"min_units": 3, "max_units": 2},
        {"min_tokens": 0},
        {"max_bad_fraction": 1.1},
        {"minimum": 1},
        {"authors": ["甲"], "without_authors": ["甲"]},
    ],
)
def test_rules_that_cannot_be_are_refused(rules: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Filters.model_validate(rules)
