"""The shi reader, on poems written for it."""

import json
from pathlib import Path
from typing import Any

import pytest

from espalier.corpora.readers.shi import read
from espalier.corpora.records import Quarantined, Verse
from espalier.io.errors import ConfigError, DataError
from tests.verse.couyun import write_couyun


def poem(text: str) -> dict[str, Any]:
    return {"title": "題燈", "author": "無名氏", "paragraphs": [text], "id": "ignored"}


def write(folder: Path, dynasty: str, *poems: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / f"poet.{dynasty}.0.json").write_text(json.dumps(poems, ensure_ascii=False), encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(write(tmp_path / "shi", "tang"), "song")


def test_a_poem_becomes_simplified_with_the_marks_and_characters_of_ci(folder: Path) -> None:
    write(folder, "tang", poem("遠山疎；一燈明！歸鴈、秋風。"))
    assert list(read({"mine": folder})) == [
        Verse(
            id="shi/tang/0/0",
            origin="mine",
            language="zh",
            target="远山疏，一灯明。\n归雁，秋风。",
            author="无名氏",
            tune="题灯",
            rhyme="AA",
        )
    ]


def test_tang_comes_before_song_and_each_has_ids_of_its_own(folder: Path) -> None:
    for dynasty in ("song", "tang"):
        write(folder, dynasty, poem("山山。水水。"))
    assert [row.id for row in read({"mine": folder})] == ["shi/tang/0/0", "shi/song/0/0"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("山山（一作水水）。", "note in brackets"),
        ("山□。水水。", "illegible character"),
        ("山。", "too short"),
        ("", "empty"),
    ],
)
def test_a_poem_that_cannot_be_used_is_quarantined_as_published(folder: Path, text: str, reason: str) -> None:
    write(folder, "tang", poem(text))
    (row,) = read({"mine": folder})
    assert isinstance(row, Quarantined)
    assert (row.reason, row.text) == (reason, text)


def test_with_the_books_a_regulated_poem_has_tones_and_another_has_none(tmp_path: Path, folder: Path) -> None:
    regulated = "洞洞東東洞，東東洞洞東。東東東洞洞，洞洞洞東東。"
    write(folder, "tang", poem(regulated), poem("東東，洞洞。"))
    one, other = read({"mine": folder, "books": write_couyun(tmp_path / "books")})
    assert isinstance(one, Verse) and one.tones == "中仄平平仄平平仄仄平中平平仄仄中仄仄平平"
    assert isinstance(other, Verse) and other.tones == ""


def test_a_source_without_both_dynasties_or_with_another_beside_it_is_an_error(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"reader shi: 2 sources"):
        list(read({"one": folder, "two": folder}))
    (folder / "poet.song.0.json").unlink()
    with pytest.raises(DataError, match=r"no file poet\.song\.<number>\.json"):
        list(read({"mine": folder}))
    write(folder, "song", {"rhythmic": "", "author": "", "paragraphs": []})
    with pytest.raises(DataError, match=r"not a poem with title, author and paragraphs"):
        list(read({"mine": folder}))
