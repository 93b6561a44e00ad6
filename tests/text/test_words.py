"""Words joined to text, plain punctuation, and the estimate of the number of words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.syntax.parsers.penn_words import penn_words
from espalier.text.words import ASCII, ascii_punctuation, estimate_words, join_words


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
    assert join_words(words.split(), "zh") == text


@given(words=st.lists(st.text(alphabet="山路ab1，", min_size=1, max_size=3), max_size=8))
def test_joining_loses_nothing_but_spaces(words: list[str]) -> None:
    assert join_words(words, "zh").replace(" ", "") == "".join(words)
    assert join_words(words, "en").split() == words


def test_marks_become_those_of_ascii_and_letters_stay() -> None:
    text = "\ufeff\u2018It\u2019s\u2019 \u201clit\u201d \u2013 or\u2014no\u2026 5\u22122\u2033, caf\u00e9\u200b"
    assert ascii_punctuation(text) == "'It's' \"lit\" - or--no... 5-2\", caf\u00e9"
    assert ascii_punctuation("``It's -- lit...''") == "``It's -- lit...''"


def test_no_mark_is_written_in_two_ways_or_as_more_than_ascii() -> None:
    marks = "".join(ASCII.values())
    assert len(set(marks)) == len(marks) and not any(mark.isascii() for mark in marks)
    assert all(plain.isascii() for plain in ASCII)


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
    assert estimate_words(text) == count
    parted = penn_words(text)
    assert parted is not None and len(parted[0]) == count
