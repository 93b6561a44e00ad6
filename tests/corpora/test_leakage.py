"""Leakage: against a slow count that compares every row with every other."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Any, ClassVar

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.corpora.leakage import letters_of
from espalier.corpora.records import Record, Verse
from tests.corpora.whole_tables import leakage, table_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair(Record):
    sides: ClassVar[tuple[str, ...]] = ("source", "target")

    source: str


def poems(*texts: str, tune: str = "新调") -> pd.DataFrame:
    rest: dict[str, Any] = {"origin": "o", "language": "zh", "author": "", "rhyme": "", "tune": tune}
    return table_of([Verse(id=str(index), target=text, **rest) for index, text in enumerate(texts)], Verse)


def pairs(*rows: tuple[str, str]) -> pd.DataFrame:
    made = [Pair(id=str(i), origin="o", language="en", source=s, target=t) for i, (s, t) in enumerate(rows)]
    return table_of(made, Pair)


def test_letters_are_what_is_left_without_case_width_marks_digits_and_spaces() -> None:
    assert letters_of("Ｔhe  Lamp-post, 2 «é»!") == "thelamppostlé".replace("postl", "post")
    assert letters_of("山路，远。□ 3") == "山路远"
    assert letters_of("。，…") == ""


def test_every_way_of_leaking_through_verse_is_counted() -> None:
    found = leakage(
        {
            "train": poems("旧桥边、新月上。", "一夜西风吹过小楼东。\n灯。", "独行。"),
            "dev": poems("旧桥边、新月上。", "旧桥边，新月上！", "一夜西风，吹过小楼东。\n天明。", "灯。", tune="别调"),
            "test": poems("天明。"),
        },
        Verse,
    )
    assert found == {
        "dev_train_exact": 1,
        "dev_train_normalised": 2,
        "dev_train_shared_tune": 0,
        "dev_train_shared_format": 1,
        "dev_train_shared_unit": 3,
        "test_train_exact": 0,
        "test_train_normalised": 0,
        "test_train_shared_tune": 1,
        "test_train_shared_format": 1,
        "test_train_shared_unit": 0,
        "test_dev_exact": 0,
        "test_dev_normalised": 0,
        "test_dev_shared_tune": 0,
        "test_dev_shared_format": 0,
        "test_dev_shared_unit": 0,
    }


def test_pairs_are_told_by_both_sides_and_by_each() -> None:
    found = leakage(
        {"train": pairs(("a b", "c"), ("d", "e")), "test": pairs(("A, b", "c"), ("a b", "x"), ("y", "e"), ("e", "d"))},
        Pair,
    )
    assert {key: value for key, value in found.items() if key.startswith("test_train")} == {
        "test_train_exact": 0,
        "test_train_normalised": 1,
        "test_train_shared_source": 2,
        "test_train_shared_target": 2,
    }


def test_a_split_that_is_not_there_counts_as_empty_and_the_keys_stay() -> None:
    some = leakage({"train": poems("山。")}, Verse)
    assert set(some) == set(leakage({"train": poems(), "dev": poems(), "test": poems()}, Verse))
    assert set(some.values()) == {0}


def test_texts_without_letters_match_only_themselves() -> None:
    found = leakage({"train": poems("。。"), "dev": poems("，，", "。。")}, Verse)
    assert found["dev_train_exact"] == 1 and found["dev_train_normalised"] == 0


TEXTS = st.lists(st.text(alphabet="aAＡb，。\n", max_size=6), max_size=6)


def slowly(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if unicodedata.category(c)[0] == "L")


@settings(deadline=None)
@given(train=TEXTS, dev=TEXTS)
def test_counts_are_those_of_comparing_every_row_with_every_other(train: list[str], dev: list[str]) -> None:
    found = leakage({"train": poems(*train), "dev": poems(*dev)}, Verse)
    assert found["dev_train_exact"] == sum(any(left == right for right in train) for left in dev)
    assert found["dev_train_normalised"] == sum(
        any(slowly(left) == slowly(right) != "" for right in train) for left in dev
    )
