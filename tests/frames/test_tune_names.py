"""Other names of tunes, for those who name a tune; corpora and scores know the names of the book alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from espalier.frames import Tune
from espalier.frames.tune_names import other_names, tune_name
from espalier.text.normalize import simplified
from espalier.verse.ci_books import open_books
from espalier.verse.tune_book import TuneBook
from tests.verse.couyun import write_couyun

VARIANT = ("2。2。", "中平中平", [[1, 3]])


@pytest.mark.parametrize(
    ("other", "name"),
    [
        ("丑奴儿", "采桑子"),
        ("鹊踏枝", "蝶恋花"),
        ("一翦梅", "一剪梅"),
        ("六么令", "六幺令"),
        ("采桑子", "采桑子"),
        ("无名", "无名"),
    ],
)
def test_another_name_is_that_of_the_book_and_others_stay(other: str, name: str) -> None:
    assert tune_name(other) == name


def test_traditional_names_are_found() -> None:
    pytest.importorskip("opencc", reason="pip install '.[parse]'")
    assert simplified("鵲") == "鹊" and tune_name("鵲踏枝") == "蝶恋花"


def test_a_frame_takes_other_names_while_the_book_that_corpora_ask_does_not(tmp_path: Path) -> None:
    books = open_books(write_couyun(tmp_path, tunes={("采桑子",): [VARIANT]}))
    report = Tune("丑奴儿").check("江风。山中。", books)
    assert report.variant == "采桑子 1" and report.kept
    assert "丑奴儿" not in books.tunes and not books.tunes.fitting("丑奴儿", "江风。山中。")


@pytest.mark.skipif(not os.environ.get("ESPALIER_MIRROR"), reason="the books are not at hand")
def test_no_other_name_hides_one_of_the_book_and_each_leads_to_a_tune() -> None:
    book = TuneBook(Path(os.environ["ESPALIER_MIRROR"], "couyun"))
    assert not [other for other in other_names() if other in book]
    assert all(name in book for name in other_names().values())


@pytest.mark.skipif(not os.environ.get("ESPALIER_MIRROR"), reason="the books are not at hand")
def test_the_variant_that_is_meant_is_the_one_that_poets_wrote_under_another_spelling() -> None:
    book = TuneBook(Path(os.environ["ESPALIER_MIRROR"], "couyun"))
    assert [book.count(each) for each in book.variants("一剪梅")[:4]] == [2, 20, 3, 15]
    assert [book.variant(name).number for name in ("一剪梅", "六幺令", "殢人娇")] == [2, 1, 1]
