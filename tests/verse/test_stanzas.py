"""Where the stanzas of tunes part."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.verse.stanzas import edits, first_stanza
from espalier.verse.tune_book import TuneBook
from espalier.verse.tunes import Clause, tunes
from tests.verse.couyun import write_couyun

HALF = "3。3、4。"
WORDS = "中平平中仄平平平仄平"
GROUPS = [[2, 9]]


def clauses(pattern: str) -> list[Clause]:
    return [(int(words), mark) for words, mark in re.findall(r"(\d+)(\D)", pattern)]


@given(st.text("ab_", max_size=6), st.text("ab_", max_size=6))
def test_the_edit_distance_is_that_of_its_definition(one: str, other: str) -> None:
    @lru_cache
    def slow(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        change = slow(i - 1, j - 1) + (one[i - 1] != other[j - 1])
        return min(slow(i - 1, j) + 1, slow(i, j - 1) + 1, change)

    assert edits(one, other) == slow(len(one), len(other))


@pytest.mark.parametrize(
    ("pattern", "sentences"),
    [
        ("5，5。7，5。5，5。7，5。", 2),  # 卜算子: equal halves
        ("4，7。4。5。4，5。3。4。5。", 3),  # 点绛唇: the second stanza begins anew
        ("4。5。7。6。6。6。6，6。", 4),  # 清平乐: and does not end alike
        ("7。7。", 1),
        ("7。", 0),
        ("5。5。5。", 0),  # after the first as well as after the second
        ("", 0),
    ],
)
def test_stanzas_part_where_they_differ_least_or_it_is_not_known(pattern: str, sentences: int) -> None:
    assert first_stanza(clauses(pattern)) == sentences


def test_the_tunes_of_the_catalogue_part_where_the_rule_says() -> None:
    for name, tune in tunes().items():
        if name in ("如梦令", "忆王孙"):
            assert tune.stanza == 0
        else:
            assert tune.stanza == first_stanza([clause for unit in tune.units for clause in unit]) > 0, name


def test_a_tune_of_the_book_has_the_stanzas_that_the_book_says(tmp_path: Path) -> None:
    twice = [(HALF * 2, WORDS * 2, [[2, 9, 12, 19]])]
    book = TuneBook(
        write_couyun(
            tmp_path,
            tunes={
                ("双词",): twice,
                ("三词",): twice,
                ("无词",): twice,
                ("单词",): [(HALF, WORDS, GROUPS), *twice, ("5，5。5，5。", WORDS * 2, [[9, 19]])],
                ("短词",): twice,
            },
            kinds={"双词": ("双调", 20), "三词": ("三段", 20), "单词": ("单调", 10), "短词": ("单调", 20)},
        )
    )
    assert [book.stanza(book.variant(name)) for name in ("双词", "三词", "无词", "短词")] == [2, 0, 0, 0]
    assert [book.stanza(each) for each in book.variants("单词")] == [0, 2, 1]
