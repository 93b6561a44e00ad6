"""One's own songs: lines by their times; what a file without lines says."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.corpora.readers.lrc import read, sung
from espalier.corpora.records import Quarantined, Sentence
from espalier.io.errors import DataError

SONG = (
    "[ti:灯下]\n[ar:某人]\n[offset:+500]\n[00:00.00]作词 : 某人\n[00:12.00]灯下的人\n"
    "[00:15.50]<00:15.50>桥<00:16.00>边的雨\n"
    "\n[00:20.10][01:00.10]石上无风\n[00:24]雨后青山\n[00:28.000]\n"
)


def put(folder: Path, **files: str | bytes) -> dict[str, Path]:
    for name, data in files.items():
        (folder / f"{name}.lrc").write_bytes(data.encode() if isinstance(data, str) else data)
    return {"mine": folder}


def test_lines_are_in_the_order_of_their_times_and_a_line_with_two_times_occurs_twice() -> None:
    assert sung(SONG) == ["作词 : 某人", "灯下的人", "桥 边的雨", "石上无风", "雨后青山", "石上无风"]
    assert sung("[00:02.5]b\n[00:02.45]a\n[00:02.500]c\nafter\n[1:02:03]d\n") == ["a", "b", "c", "after", "d"]
    assert sung("[Chorus: all]\n[by: me]\n[00:01.00] [Chorus] la\n") == ["[Chorus] la"]


def test_chinese_lines_are_paired_as_in_the_reader_of_lyrics(tmp_path: Path) -> None:
    found = list(read(put(tmp_path, a=SONG), language="zh"))
    assert [(row.id, row.target, row.group) for row in found if isinstance(row, Sentence)] == [
        ("mine/a.1", "灯下的人，桥边的雨", "mine/a"), ("mine/a.3", "石上无风，雨后青山", "mine/a"),
    ]  # fmt: skip
    assert [(row.id, row.reason) for row in found if isinstance(row, Quarantined)] == [
        ("mine/a.0", "credit or name"), ("mine/a.5", "duplicate"),
    ]  # fmt: skip


def test_english_lines_are_sentences_of_their_song(tmp_path: Path) -> None:
    found = list(read(put(tmp_path, a="[00:01.00]作词 : 某人\n[00:02.00]The lamp  is low\n"), language="en"))
    assert [(row.id, row.target, row.group) for row in found if isinstance(row, Sentence)] == [
        ("mine/a.1", "The lamp is low", "mine/a")
    ]
    assert [row.reason for row in found if isinstance(row, Quarantined)] == ["another language"]


def test_a_song_without_lines_says_so_and_another_encoding_is_read_if_it_is_named(tmp_path: Path) -> None:
    folders = put(tmp_path, a="[ti:灯下]\n[00:01.00]\n", b=SONG.encode("gb18030"))
    (tmp_path / "cover.jpg").write_bytes(b"\xff\xd8")
    found = list(read({"mine": put(tmp_path, b=SONG)["mine"]}, language="zh"))
    assert next((row.id, row.reason) for row in found if isinstance(row, Quarantined)) == ("mine/a", "no lines")
    put(tmp_path, a="", b=SONG.encode("gb18030"))
    assert len([*read(folders, language="zh", encoding="gb18030")]) == 5
    with pytest.raises(
        DataError, match=r"b\.lrc, row 1: not UTF-8 .*; convert the file to UTF-8, or give its encoding"
    ):
        list(read(folders, language="zh"))
