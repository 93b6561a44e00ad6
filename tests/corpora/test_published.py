"""Texts published by others: which line belongs to which row."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.corpora.published import published_texts
from espalier.io.errors import DataError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "texts.txt"


def test_the_number_at_the_end_of_an_id_is_its_line(file: Path) -> None:
    file.write_text("zero\none\ntwo  words\n", encoding="utf-8")
    assert published_texts(file, ["ci-000002", "ci-000000", "ci-000002"]) == ["two words", "zero", "two words"]


def test_an_id_and_a_tab_begin_the_line_of_a_row_of_any_id_in_any_order(file: Path) -> None:
    file.write_text("a.2\tsecond\nci-7\tseventh\na.1\tfirst\n", encoding="utf-8")
    assert published_texts(file, ["a.1", "ci-7", "a.2"]) == ["first", "seventh", "second"]


def test_ids_without_numbers_have_their_lines_in_the_order_of_the_rows(file: Path) -> None:
    file.write_text("first\nsecond\n", encoding="utf-8")
    assert published_texts(file, ["x", "x", "y", "y"]) == ["first", "first", "second", "second"]


def test_numbers_in_ids_need_not_be_those_of_lines(file: Path) -> None:
    file.write_text("first\nsecond\n", encoding="utf-8")
    assert published_texts(file, ["ci-000007", "ci-000000"], numbered=False) == ["first", "second"]


@pytest.mark.parametrize(
    ("text", "ids", "what"),
    [
        ("first\n", ["ci-0", "ci-1"], "1 lines, and none for row ci-1; write a line ID<TAB>TEXT for each row"),
        ("first\n", ["x", "y"], "1 lines for 2 rows, of ids such as x; write one line per row, or ID<TAB>TEXT"),
        ("x\tfirst\n", ["x", "y"], "1 lines, and none for row y; write a line ID<TAB>TEXT for each row"),
        ("x\tfirst\nx\tsecond\n", ["x"], "row 2: a second line of x; keep one"),
    ],
)
def test_a_row_without_a_line_or_with_two_is_named_with_a_remedy(
    file: Path, text: str, ids: list[str], what: str
) -> None:
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as error:
        published_texts(file, ids)
    assert str(error.value).endswith(what)
