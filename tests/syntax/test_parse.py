"""A parse in columns and back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from espalier.syntax.parse import Parse, columns_of, parse_of

WORDS = st.lists(st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=4), max_size=5).map(tuple)


@given(st.builds(Parse, WORDS, WORDS, st.text(), st.lists(st.integers(0, 9)).map(tuple), WORDS))
def test_columns_hold_all_of_a_parse(parse: Parse) -> None:
    columns = columns_of(parse, "target")
    assert sorted(columns) == [f"target_{name}" for name in ("heads", "labels", "tags", "tree", "words")]
    assert parse_of(columns, "target") == parse


def test_one_word_is_not_nothing() -> None:
    assert columns_of(Parse(("a",), heads=(0,)), "source")["source_heads"] == "0"
    assert parse_of(columns_of(Parse(()), "source"), "source") == Parse(())
