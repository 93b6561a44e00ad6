"""Raw files and rows, as all readers see them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from espalier.corpora.readers.files import aligned, files_of, own_files, recognized_sources
from espalier.corpora.readers.rows import checked, pair_of
from espalier.corpora.records import Pair, Quarantined, Sentence
from espalier.io.errors import ArtifactError, ConfigError, DataError
from espalier.io.text_files import bytes_of, lines_of


def test_lines_end_at_line_feeds_alone(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes("\ufeffa lamp\u2028here\r\n\n b\x0bc\n".encode())
    assert lines_of(file) == ["a lamp\u2028here", "", " b\x0bc"]
    file.write_text("last line without an end")
    assert lines_of(file) == ["last line without an end"]
    file.write_text("")
    assert lines_of(file) == []


def test_files_of_different_length_do_not_slide_apart(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\ntwo\n")
    (tmp_path / "b").write_text("un\ndeux\n")
    assert aligned(tmp_path / "a", tmp_path / "b") == [("one", "un"), ("two", "deux")]
    (tmp_path / "b").write_text("un\ndeux\ntrois\n")
    with pytest.raises(DataError, match="b: 3 lines beside 2 of a"):
        aligned(tmp_path / "a", tmp_path / "b")


def test_a_missing_file_names_the_stage_that_brings_it(tmp_path: Path) -> None:
    for read in (lines_of, bytes_of):
        with pytest.raises(ArtifactError, match="x: no such file; run the download stage"):
            read(tmp_path / "x")  # type: ignore[operator]


def test_what_is_no_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="cannot be read: Is a directory"):
        bytes_of(tmp_path)


def test_a_file_name_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    Path(os.fsdecode(bytes(tmp_path) + b"/a\xff.txt")).touch()
    with pytest.raises(DataError, match=r"the file name 'a\\udcff' is not UTF-8; rename it"):
        files_of({"mine": tmp_path}, "lines")


def test_files_of_another_ending_are_left_out_only_beside_one_of_the_ending(tmp_path: Path) -> None:
    for name in ("mixed/a.LRC", "mixed/cover.jpg", "mixed/notes", "other/notes", "other/b.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    folders = {"mixed": tmp_path / "mixed", "other": tmp_path / "other"}
    assert [name for *_, name in files_of(folders, "lrc", suffix=".lrc")] == ["a", "b", "notes"]
    assert [name for *_, name in files_of(folders, "lines")] == ["a", "cover", "notes", "b", "notes"]


def test_a_file_that_is_left_out_may_share_the_name_of_one_that_is_read(tmp_path: Path) -> None:
    for name in ("song.lrc", "song.mp3"):
        (tmp_path / name).touch()
    assert files_of({"mine": tmp_path}, "lrc", suffix=".lrc") == [("mine", tmp_path / "song.lrc", "song")]
    with pytest.raises(DataError, match="two files named song; rename one"):
        files_of({"mine": tmp_path}, "lines")


def test_files_that_a_system_added_to_a_folder_are_not_read(tmp_path: Path) -> None:
    folder = tmp_path / ".hidden/__MACOSX"  # what is above the folder says nothing of its files
    for name in (".DS_Store", "._b.txt", ".git/HEAD", "__MACOSX/b.txt", "a/__MACOSX/c.txt", "a/......txt", "b.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    assert own_files(folder) == [folder / "a/......txt", folder / "b.txt"]
    assert [path for _, path, _ in files_of({"mine": folder}, "lines")] == own_files(folder)


def test_rows_of_any_reader_can_be_written() -> None:
    row = Sentence(id="a/\udc80", origin="o", language="en", target="lamp \ud800")
    assert checked(row) == Quarantined(id="a/\\udc80", stage="read", reason="damaged character", text="lamp \\ud800")
    aside = Quarantined(id="a", stage="read", reason="mine", text="\udfff")
    assert checked(aside) == Quarantined(id="a", stage="read", reason="mine", text="\\udfff")
    whole = Sentence(id="a", origin="o", language="en", target="lamp \ufffd \U0001f319", target_words="lamp")
    assert checked(whole) is whole
    nul = Sentence(id="a", origin="o", language="en", target="lamp", target_tags="N\0N")
    assert isinstance(reason := checked(nul), Quarantined) and reason.reason == "NUL character"


def test_white_space_of_all_kinds_is_one_space_and_faults_are_named() -> None:
    row = pair_of("p-0", " a\u2028lamp ", "the\u3000door\t!", origin="o", language="en", group="g")
    assert row == Pair(id="p-0", origin="o", language="en", source="a lamp", target="the door !", group="g")
    empty = pair_of("p-1", "a lamp", " \u3000", origin="o", language="en")
    assert empty == Quarantined(id="p-1", stage="read", reason="empty side", text="a lamp\t")
    damaged = pair_of("p-2", "a lam\ufffd", "b", origin="o", language="en")
    assert isinstance(damaged, Quarantined) and damaged.reason == "damaged character"


def test_a_folder_is_told_by_its_files_in_the_order_of_the_marks(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "one/b.txt").touch()
    (tmp_path / "two/a.txt").touch()
    folders = {"x": tmp_path / "one", "y": tmp_path / "two"}
    assert [(name, mark) for name, _, mark in recognized_sources(folders, ["a.txt", "b.txt"], "r")] == [
        ("x", "b.txt"),
        ("y", "a.txt"),
    ]
    with pytest.raises(DataError, match=r"two: no b\.txt or c\.txt; run the download stage"):
        recognized_sources(folders, ["b.txt", "c.txt"], "r")
    with pytest.raises(ConfigError, match="reader r: no source; give it at least one"):
        recognized_sources({}, ["a.txt"], "r")
