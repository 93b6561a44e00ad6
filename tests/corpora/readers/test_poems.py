"""Poems from local text files: what is a poem, a unit, a title and a rhyme."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.corpora.readers.poems import read
from espalier.corpora.records import Quarantined, Verse
from espalier.io.errors import ConfigError, DataError
from espalier.text.language import Language


def poems(folder: Path, text: str, language: Language = "en", **options: str) -> list[Verse | Quarantined]:
    folder.mkdir(exist_ok=True)
    (folder / "mine.txt").write_text(text, encoding="utf-8")
    return list(read({"src": folder}, language=language, **options))


def test_a_unit_is_a_line_and_an_empty_line_ends_a_poem(tmp_path: Path) -> None:
    first, second = poems(tmp_path / "a", "# Rain\nThe rain, it falls\n  It's late.\n\n \nO day!", rhyme="AB")
    assert isinstance(first, Verse) and isinstance(second, Verse)
    assert (first.id, first.tune, first.rhyme) == ("src/mine/1", "Rain", "AB")
    assert first.target == "the rain , it falls\nit's late ."
    assert (second.id, second.tune, second.rhyme, second.target) == ("src/mine/6", "", ".", "o day !")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_line_without_visible_characters_is_empty(tmp_path: Path, language: Language) -> None:
    first, second = poems(tmp_path / "a", "ra\u200bin\n\u200b\nday\n\n\ufeff \u200b\n", language)
    assert isinstance(first, Verse) and isinstance(second, Verse)
    assert [first.target, second.target] == ["rain", "day"]


def test_chinese_words_are_characters(tmp_path: Path) -> None:
    [poem] = poems(tmp_path / "a", "春 风，花落。\n夜雨\n", "zh", rhyme="A.")
    assert isinstance(poem, Verse) and (poem.target, poem.rhyme) == ("春风，花落。\n夜雨", "A.")


@pytest.mark.parametrize(
    ("text", "reason"),
    [("# Rain", "title without lines"), ("rain\n...", "line without words"), ("r\ufffdin", "damaged character")],
)
def test_what_is_no_poem_is_quarantined_with_its_reason(tmp_path: Path, text: str, reason: str) -> None:
    [row] = poems(tmp_path / "a", text)
    assert isinstance(row, Quarantined) and row.reason == reason and row.id == "src/mine/1"


def test_bad_input_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="reader poems: rhyme 'A-B'; a letter for each line"):
        poems(tmp_path / "a", "rain", rhyme="A-B")
    (tmp_path / "a/mine.txt").write_bytes(b"rain\n\xff\n")
    with pytest.raises(DataError, match=r"mine\.txt, row 2: not UTF-8"):
        list(read({"src": tmp_path / "a"}, language="en"))


LINES = st.lists(st.lists(st.from_regex(r"[a-z]{1,5}( [a-z]{1,5}){0,3}", fullmatch=True), min_size=1), min_size=1)


@given(LINES)
def test_every_line_of_plain_words_comes_back(
    tmp_path_factory: pytest.TempPathFactory, stanzas: list[list[str]]
) -> None:
    text = "\n\n".join("\n".join(lines) for lines in stanzas)
    found = poems(tmp_path_factory.mktemp("poems"), text)
    assert [row.target for row in found if isinstance(row, Verse)] == ["\n".join(lines) for lines in stanzas]
