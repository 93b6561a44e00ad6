"""The forms of regulated verse, and which one a poem follows, on a small book written by hand."""

from collections.abc import Iterable

import pytest

from espalier.verse.books import Books, read_books
from espalier.verse.regulated import faults, regulated_forms, regulated_tones, regulated_ways
from tests.verse.couyun import write_couyun

#: Words of the small book: level, oblique, and one of either tone; 山 is not in it.
WORD = {"平": "东", "仄": "洞", "中": "中"}


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> Books:
    return read_books(write_couyun(tmp_path_factory.mktemp("couyun")))


def poem(lines: Iterable[str]) -> str:
    """A poem whose words have these tones, with marks."""
    words = ["".join(WORD[sign] for sign in line) for line in lines]
    return "\n".join(f"{first}，{second}。" for first, second in zip(words[::2], words[1::2], strict=True))


JUEJU = ["仄仄平平仄", "平平仄仄平", "平平平仄仄", "仄仄仄平平"]


def test_the_four_forms_of_jueju_in_lines_of_five() -> None:
    assert regulated_forms(4, 5) == [
        "中仄平平仄平平仄仄平中平平仄仄中仄仄平平",
        "中平平仄仄中仄仄平平中仄平平仄平平仄仄平",
        "中仄仄平平平平仄仄平中平平仄仄中仄仄平平",
        "平平仄仄平中仄仄平平中仄平平仄平平仄仄平",
    ]


@pytest.mark.parametrize("form", range(4))
def test_lines_of_seven_alternate_and_couplets_are_tied(form: int) -> None:
    lines = [regulated_forms(8, 7)[form][start : start + 7] for start in range(0, 56, 7)]
    assert all(line[1] != line[3] != line[5] and line[1] == line[5] for line in lines)
    seconds = [line[1] for line in lines]
    assert all(one != two for one, two in zip(seconds[::2], seconds[1::2], strict=True))  # 对
    assert seconds[1:-1:2] == seconds[2::2]  # 粘
    assert all(line[-1] == "平" for line in lines[1::2])


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("平平平仄平", True),  # the third word is free, since no 孤平 comes of it
        ("仄平仄仄平", False),  # 孤平
        ("仄平平仄平", True),  # 孤平拗救
        ("平仄仄平仄", True),
        ("平平仄平仄", True),  # 特拗
        ("仄平仄平仄", False),
        ("平平仄仄仄", False),
        ("平仄仄平平", True),
        ("仄仄平平平", False),  # 三平调
    ],
)
def test_a_line_is_free_where_poets_are_and_nowhere_else(line: str, kept: bool) -> None:
    tones = [frozenset(sign) for sign in line]
    every = {way for form in regulated_ways(8, 5) for ways in form for way in ways}
    assert any(faults(way, tones) == 0 for way in every) == kept
    longer = [frozenset("平"), frozenset("仄" if line[1] == "平" else "平"), *tones]
    every = {way for form in regulated_ways(8, 7) for ways in form for way in ways}
    assert any(faults(way, longer) == 0 for way in every) == kept


def test_the_ways_of_poets_are_no_part_of_the_tones_of_a_corpus(books: Books) -> None:
    """A model that was trained on the records would have to be trained again."""
    free = [JUEJU[0], "平平平仄平", *JUEJU[2:]]
    assert (
        regulated_tones(poem(free), books) == regulated_forms(4, 5)[0] != "".join(w[0] for w in regulated_ways(4, 5)[0])
    )


def test_a_poem_has_the_tones_of_the_form_that_it_follows(books: Books) -> None:
    assert regulated_tones(poem(JUEJU), books) == regulated_forms(4, 5)[0]
    assert regulated_tones(poem(JUEJU[2:] + JUEJU[:2]), books) == regulated_forms(4, 5)[1]


def test_one_fault_a_couplet_is_allowed_and_no_more(books: Books) -> None:
    two, three = (["仄仄平平仄", "仄平仄仄平", "平平平仄仄", last] for last in ("仄仄仄仄平", "仄仄仄仄仄"))
    assert regulated_tones(poem(two), books) == regulated_forms(4, 5)[0]
    assert regulated_tones(poem(three), books) == ""


def test_a_word_that_the_book_does_not_have_is_no_fault(books: Books) -> None:
    assert regulated_tones(poem(JUEJU).replace("洞", "山"), books)


@pytest.mark.parametrize(
    "text",
    [
        poem(JUEJU[:2]),
        poem(JUEJU).replace("，", "", 1),
        poem(JUEJU) + "\n东东东东东。",
        "东，东。东，东。",
    ],
    ids=["one couplet", "a line of ten", "five lines", "lines of one"],
)
def test_a_poem_of_another_shape_follows_no_form(text: str, books: Books) -> None:
    assert regulated_tones(text, books) == ""
