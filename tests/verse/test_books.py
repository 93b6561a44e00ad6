"""Rhyme books and tones, held against a small book written by hand, and Mandarin against what speakers know."""

from pathlib import Path

import pytest

from espalier.io.errors import ArtifactError
from espalier.verse.books import Book, ToneBook, part_of, read_books
from espalier.verse.mandarin import mandarin_groups, mandarin_tones
from espalier.verse.rhyme import GROUPS
from tests.verse.couyun import write_couyun


@pytest.mark.parametrize(
    ("character", "book", "groups"),
    [
        ("东", "cilin", {"1平"}),
        ("东", "pingshui", {"平1"}),
        ("动", "cilin", {"1仄"}),
        ("动", "pingshui", {"上1"}),
        ("梦", "pingshui", {"去1"}),
        ("木", "cilin", {"15入"}),
        ("木", "pingshui", {"入1"}),
        ("中", "cilin", {"1平", "1仄"}),
        ("中", "pingshui", {"平1", "去1"}),
        ("風", "cilin", {"1平"}),
        ("桃", "mandarin", {"ao"}),
        ("虎", "cilin", set()),
        ("东风", "cilin", set()),
    ],
)
def test_a_book_gives_the_rhyme_groups_of_all_readings(
    tmp_path: Path, character: str, book: Book, groups: set[str]
) -> None:
    assert read_books(write_couyun(tmp_path)).groups(character, book) == groups


@pytest.mark.parametrize(
    ("character", "by", "tones"),
    [
        ("东", "book", {"平"}),
        ("孔", "book", {"仄"}),
        ("梦", "book", {"仄"}),
        ("竹", "book", {"仄"}),
        ("竹", "mandarin", {"平"}),
        ("中", "book", {"平", "仄"}),
        ("虎", "book", set()),
        ("虎", "mandarin", {"仄"}),
    ],
)
def test_the_entering_tone_is_oblique_in_the_book_and_spread_over_the_tones_of_mandarin(
    tmp_path: Path, character: str, by: ToneBook, tones: set[str]
) -> None:
    assert read_books(write_couyun(tmp_path)).tones(character, by) == tones


def test_level_and_oblique_words_of_one_part_share_the_part_but_no_group(tmp_path: Path) -> None:
    books = read_books(write_couyun(tmp_path))
    level, oblique = books.groups("东", "cilin"), books.groups("洞", "cilin")
    assert not level & oblique
    assert {part_of(group) for group in level} == {part_of(group) for group in oblique} == {"1"}


@pytest.mark.parametrize(
    ("character", "groups", "tones"),
    [
        ("东", {"eng"}, {"平"}),
        ("行", {"ang", "eng"}, {"平"}),
        ("接", {"ie"}, {"平"}),  # shà is no reading of today
        ("看", {"an"}, {"平", "仄"}),
        ("吗", {"a"}, {"平", "仄"}),
        ("a", set(), set()),
        ("，", set(), set()),
        ("", set(), set()),
        ("春风", set(), set()),
    ],
)
def test_mandarin_counts_all_readings_and_the_neutral_tone_as_neither(
    character: str, groups: set[str], tones: set[str]
) -> None:
    assert mandarin_groups(character) == groups
    assert mandarin_tones(character) == tones


def test_mandarin_groups_are_those_that_verse_rhymes_by() -> None:
    found = {group for code in range(0x4E00, 0x5200) for group in mandarin_groups(chr(code))}
    assert found == set(GROUPS)


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"",
        b"\xff\xfe",
        b"ds1 = [",
        b"ds1 = [open('x'), 1, 1, 1, 1]",
        b"ds1 = ['\xe4\xb8\x9c', 5, 1, 1, 1]",
        b"ds1 = ['\xe4\xb8\x9c', 1]",
    ],
)
def test_a_missing_or_damaged_book_is_one_line_with_the_remedy(tmp_path: Path, content: bytes | None) -> None:
    file = write_couyun(tmp_path) / "couyun/hanzi/hanzi_class.py"
    if content is None:
        file.unlink()
    else:
        file.write_bytes(content)
    with pytest.raises(ArtifactError, match=r"hanzi_class\.py: no rhyme book.*run dvc .*download@couyun") as error:
        read_books(tmp_path)
    assert "\n" not in str(error.value)


def test_a_changed_book_is_read_anew(tmp_path: Path) -> None:
    file = write_couyun(tmp_path) / "couyun/hanzi/hanzi_class.py"
    assert not read_books(tmp_path).groups("虎", "cilin")
    file.write_text(file.read_text("utf-8") + 'x = ["虎", 2, -7, -4, 37]\n', "utf-8")
    assert read_books(tmp_path).groups("虎", "cilin") == {"4仄"}
