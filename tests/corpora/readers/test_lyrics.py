"""Songs' lines as pairs, on lines written for it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.corpora.readers.lyrics import _TIME, clean, read
from espalier.corpora.records import Quarantined, Sentence
from espalier.io.errors import ConfigError, DataError


def listed(folder: Path, *songs: list[str]) -> dict[str, Path]:
    folder.mkdir(exist_ok=True)
    (folder / "songs.json").write_text(json.dumps([{"lyric": song} for song in songs]), encoding="utf-8")
    return {"listed": folder}


def pairs(folders: dict[str, Path]) -> list[tuple[str, str]]:
    return [(row.id, row.target) for row in read(folders) if isinstance(row, Sentence)]


def reasons(folders: dict[str, Path]) -> list[tuple[str, str]]:
    return [(row.id, row.reason) for row in read(folders) if isinstance(row, Quarantined)]


@pytest.mark.parametrize(
    ("line", "cleaned"),
    [
        ("[00:12.30]灯下 的人", ("灯下的人", "")),
        ("桥边（合唱）有雨，石上无风", ("桥边有雨石上无风", "")),
        ("作词 : 某某", ("", "credit or name")),
        ("一二三四五六七八九十一二三四五：", ("", "credit or name")),
        ("一二三四五六七八九十一二三四五六：", ("一二三四五六七八九十一二三四五六", "")),
        ("灯下 hey", ("", "Latin letters, kana or digits")),
        ("灯のひと", ("", "Latin letters, kana or digits")),
        ("灯下啊~~", ("", "Latin letters, kana or digits")),
        ("3月的雨", ("", "Latin letters, kana or digits")),
        ("（灯下）", ("", "under 2 characters")),
        ("雨", ("", "under 2 characters")),
        ("雨" * 20, ("雨" * 20, "")),
        ("雨" * 21, ("", "over 20 characters")),
        ("灯\ufffd下", ("", "damaged character")),
    ],
)
def test_a_line_is_cleaned_or_refused_with_a_reason(line: str, cleaned: tuple[str, str]) -> None:
    assert clean(line) == cleaned


@given(st.text("[]1٣a\n", max_size=12))
def test_time_tags_are_brackets_with_a_digit(line: str) -> None:
    assert [match.span() for match in _TIME.finditer(line)] == [
        match.span() for match in re.finditer(r"\[[^\]]*\d[^\]]*\]", line)
    ]


def test_a_line_of_many_open_brackets_takes_no_hours() -> None:
    assert clean("[1" * 10_000) == ("", "Latin letters, kana or digits")


def test_neighbours_are_paired_without_overlap_and_a_dropped_line_parts_them(tmp_path: Path) -> None:
    folders = listed(tmp_path / "a", ["灯下", "桥边", "石上", "hey", "风中", "雨后", "月前", "山外", "水上"])
    assert pairs(folders) == [
        ("listed-00000.0", "灯下，桥边"), ("listed-00000.4", "风中，雨后"), ("listed-00000.6", "月前，山外"),
    ]  # fmt: skip
    assert reasons(folders) == [
        ("listed-00000.2", "no neighbour"),
        ("listed-00000.3", "Latin letters, kana or digits"),
        ("listed-00000.8", "no neighbour"),
    ]


def test_a_line_comes_once_in_all_collections_and_a_song_sung_again_joins_its_group(tmp_path: Path) -> None:
    chains = tmp_path / "b"
    chains.mkdir()
    # The first chain has three of its four lines from the song, the second none.
    lines = ["燈下\n", "橋 邊\n", "橋 邊\n", "聽 著\n", "聽 著\n", "風中\n", "山外\n", "水上\n"]
    (chains / "lyrics_zh.txt").write_text("".join(lines), encoding="utf-8")
    folders = listed(tmp_path / "a", ["灯下", "桥边", "灯下", "听着", "石上"]) | {"chains": chains}
    rows = [row for row in read(folders) if isinstance(row, Sentence)]
    assert [(row.id, row.target, row.group, row.origin) for row in rows] == [
        ("listed-00000.0", "灯下，桥边", "listed-00000", "listed"),
        ("listed-00000.3", "听着，石上", "listed-00000", "listed"),
        ("chains-00001.0", "山外，水上", "chains-00001", "chains"),
    ]
    assert reasons(folders) == [
        ("listed-00000.2", "duplicate"),
        *((f"chains-00000.{line}", "duplicate") for line in range(3)),
        ("chains-00000.3", "no neighbour"),
    ]
    again = listed(tmp_path / "c", ["灯下", "桥边"], ["灯下", "桥边", "风中", "雨后"], ["灯下", "石上", "月前"])
    groups = [row.group for row in read(again) if isinstance(row, Sentence)]
    assert groups == ["listed-00000", "listed-00000", "listed-00002"]


def test_files_of_songs_have_a_title_and_those_of_other_systems_are_left(tmp_path: Path) -> None:
    for name, text in {
        "某人/灯.txt": "灯\n作曲 : 某\n\n灯下\n桥边\n",
        "某人/空.txt": "空\n",
        "某人/._灯.txt": "\0",
        "某人/.灯.txt": "\0",
        "__MACOSX/某人/灯.txt": "灯\n石上\n风中\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert pairs({"files": tmp_path}) == [("files-00000.2", "灯下，桥边")]
    assert reasons({"files": tmp_path}) == [
        ("files-00000.0", "title"), ("files-00000.1", "credit or name"), ("files-00001.0", "title alone"),
    ]  # fmt: skip


def test_no_source_no_songs_and_malformed_files_are_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="reader lyrics: no source"):
        list(read({}))
    with pytest.raises(DataError, match="no songs; run the download stage of its source"):
        list(read({"a": tmp_path}))
    (tmp_path / "lyrics_zh.txt").write_text("灯下\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"lyrics_zh\.txt: 1 lines are not pairs"):
        list(read({"a": tmp_path}))
    (tmp_path / "songs.json").write_text('[{"lyric": [1]}]', encoding="utf-8")
    with pytest.raises(DataError, match=r"songs\.json, row 1: not a song with its lines as lyric"):
        list(read({"a": tmp_path}))


@given(st.lists(st.lists(st.sampled_from(["灯下", "桥边", "石上", "hey", "风", "山:水", "水上", "月前"]), max_size=8)))
def test_every_line_is_in_one_pair_or_quarantined_once(
    tmp_path_factory: pytest.TempPathFactory, songs: list[list[str]]
) -> None:
    rows = list(read(listed(tmp_path_factory.mktemp("songs"), *songs)))
    kept = [row for row in rows if isinstance(row, Sentence)]
    assert 2 * len(kept) + len(rows) - len(kept) == sum(map(len, songs))
    halves = [half for row in kept for half in row.target.split("，")]
    assert len({*halves}) == len(halves)
    assert len({row.id for row in rows}) == len(rows)
