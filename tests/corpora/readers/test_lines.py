"""What the readers of sentences and pairs share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.corpora.readers.lines import (
    PLAIN,
    aligned,
    any_of,
    bytes_of,
    joined,
    lines_of,
    pair_of,
    plain_marks,
    rough_words,
)
from espalier.corpora.records import Pair, Quarantined
from espalier.io.errors import ArtifactError, ConfigError, DataError
from espalier.syntax.parsers.penn_words import penn_words


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


def test_white_space_of_all_kinds_is_one_space_and_faults_are_named() -> None:
    row = pair_of("p-0", " a\u2028lamp ", "the\u3000door\t!", origin="o", language="en", group="g")
    assert row == Pair(id="p-0", origin="o", language="en", source="a lamp", target="the door !", group="g")
    empty = pair_of("p-1", "a lamp", " \u3000", origin="o", language="en")
    assert empty == Quarantined(id="p-1", stage="read", reason="empty side", text="a lamp\t")
    damaged = pair_of("p-2", "a lam\ufffd", "b", origin="o", language="en")
    assert isinstance(damaged, Quarantined) and damaged.reason == "damaged character"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("山 路 远 。", "山路远。"),
        ("8 4 5 / 9 8", "845/98"),
        ("l a m p 灯", "lamp灯"),
        ("灯 lamp 桥", "灯lamp桥"),
        ("old lamp 灯", "old lamp灯"),
        ("lamp 42 灯 7", "lamp 42灯7"),
        ("lamp , bridge", "lamp,bridge"),
        ("", ""),
    ],
)
def test_chinese_words_are_joined_and_latin_words_stay_apart(words: str, text: str) -> None:
    assert joined(words.split(), "zh") == text


@given(words=st.lists(st.text(alphabet="山路ab1，", min_size=1, max_size=3), max_size=8))
def test_joining_loses_nothing_but_spaces(words: list[str]) -> None:
    assert joined(words, "zh").replace(" ", "") == "".join(words)
    assert joined(words, "en").split() == words


def test_a_folder_is_told_by_its_files_in_the_order_of_the_marks(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "one/b.txt").touch()
    (tmp_path / "two/a.txt").touch()
    folders = {"x": tmp_path / "one", "y": tmp_path / "two"}
    assert [(name, mark) for name, _, mark in any_of(folders, ["a.txt", "b.txt"], "r")] == [
        ("x", "b.txt"),
        ("y", "a.txt"),
    ]
    with pytest.raises(DataError, match=r"two: no b\.txt or c\.txt; run the download stage"):
        any_of(folders, ["b.txt", "c.txt"], "r")
    with pytest.raises(ConfigError, match="reader r: no source; give it at least one"):
        any_of({}, ["a.txt"], "r")


# --- What paraphrases are brought to before they are parsed -----------------------------------------------------------


def test_marks_become_those_of_ascii_and_letters_stay() -> None:
    text = "\ufeff\u2018It\u2019s\u2019 \u201clit\u201d \u2013 or\u2014no\u2026 5\u22122\u2033, caf\u00e9\u200b"
    assert plain_marks(text) == "'It's' \"lit\" - or--no... 5-2\", caf\u00e9"
    assert plain_marks("``It's -- lit...''") == "``It's -- lit...''"


def test_no_mark_is_written_in_two_ways_or_as_more_than_ascii() -> None:
    marks = "".join(PLAIN.values())
    assert len(set(marks)) == len(marks) and not any(mark.isascii() for mark in marks)
    assert all(plain.isascii() for plain in PLAIN)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("the lamp glows.", 4),
        ("the lamp , it glows .", 6),
        ("don't, can't, she'll, o'clock, bob's", 13),
        ("do n't , bob 's", 5),
        ("a well-known and/or u.s.-made lamp", 5),
        ("1,000.5 of 3:15, a,b", 7),
        ('wait ... "no" -- (yes)!?', 11),
        ("lamps' light costs $5 or 5%", 9),
        ("snake_case x@y", 4),
    ],
)
def test_words_are_counted_as_the_penn_treebank_parts_them(text: str, count: int) -> None:
    assert rough_words(text) == count
    parted = penn_words(text)
    assert parted is not None and len(parted[0]) == count
