"""Records as tables and back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from espalier.corpora.records import Pair, Quarantined, Sentence, Verse, records_of, values_of, words_of
from espalier.text.language import Language
from tests.corpora.whole_tables import table_of

TEXT = st.text(max_size=12)
VERSES = st.builds(
    Verse, id=TEXT, origin=TEXT, language=st.sampled_from(["zh", "en"]), target=TEXT, author=TEXT, tune=TEXT, rhyme=TEXT
)


@given(st.lists(VERSES, max_size=4))
def test_a_table_of_records_reads_back_as_the_same_records(rows: list[Verse]) -> None:
    table = table_of(rows, Verse)
    assert list(table.columns) == ["id", "origin", "language", "target", "author", "tune", "rhyme"]
    assert records_of(table, Verse) == rows


def test_no_rows_still_have_their_columns() -> None:
    table = table_of([], Quarantined)
    assert list(table.columns) == ["id", "stage", "reason", "text"]
    assert records_of(table, Quarantined) == []


def test_columns_in_another_order_or_too_many_do_not_matter() -> None:
    row = Quarantined(id="a", stage="filter", reason="too few units", text="灯。")
    table = table_of([row], Quarantined)[["text", "reason", "stage", "id"]].assign(extra="x")
    assert records_of(table, Quarantined) == [row]


def test_a_group_has_a_column_only_if_a_row_fills_it() -> None:
    bare = Sentence(id="a", origin="mine", language="en", target="the lamp")
    grouped = Sentence(id="b", origin="mine", language="en", target="glows", group="d1")
    assert "group" not in table_of([bare], Sentence) and "group" not in values_of(bare)
    table = table_of([bare, grouped], Sentence)
    assert list(table["group"]) == ["", "d1"] and values_of(grouped)["group"] == "d1"
    assert records_of(table, Sentence) == [bare, grouped]
    assert records_of(table_of([bare], Sentence), Sentence) == [bare]
    assert "group" in table_of([], Pair)  # pairs have always had the column


def test_a_parser_fills_sentences_and_pairs() -> None:
    assert [kind.parsed for kind in (Verse, Sentence, Pair)] == [False, True, True]
    for kind in (Sentence, Pair):
        assert {f"{side}_tree" for side in kind.sides} <= set(table_of([], kind).columns)


def row(text: str, words: str = "", language: Language = "en") -> Sentence:
    return Sentence(id="a", origin="o", language=language, target=text, target_words=words)


def test_words_are_the_parsers_or_else_what_the_text_shows() -> None:
    assert words_of(row("Don't go.", "Do n't go ."), "target") == ["Do", "n't", "go", "."]
    assert words_of(row("Don't  go."), "target") == ["Don't", "go."]
    assert words_of(row("山 路远。", language="zh"), "target") == list("山路远。")
    assert words_of(row("山路远。", "山路 远 。", language="zh"), "target") == ["山路", "远", "。"]
    pair = Pair(id="a", origin="o", language="en", source="one two", target="three")
    assert words_of(pair, "source") == ["one", "two"]
