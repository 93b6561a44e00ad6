"""English verse as people write it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.frames import Syllables
from espalier.text.written import _FIRST, _SPACE, as_written


@pytest.mark.parametrize(
    ("verse", "written"),
    [
        ("a lamp\nand i", "A lamp\nAnd I."),
        ("shall i compare thee to a summer 's day ?", "Shall I compare thee to a summer's day?"),
        ("i do n't know , i 'm lost ; i'll stay", "I don't know, I'm lost; I'll stay."),
        ("and 't is gone", "And 't is gone."),
        ("it ends . it begins ! so", "It ends. It begins! So."),
        ("“o moon ,” i said\n'tis late", "“O moon,” I said\n'Tis late."),
        ("a lamp,", "A lamp,"),
        ("a lamp.”", "A lamp.”"),
        ("henry viii and the i-beam\nétude", "Henry viii and the i-beam\nÉtude."),
        ("a lamp\n", "A lamp.\n"),
        ("", ""),
        ("\n", "\n"),
    ],
)
def test_lines_begin_with_a_capital_and_the_verse_ends_with_a_mark(verse: str, written: str) -> None:
    assert as_written(verse) == written


@given(
    st.lists(st.sampled_from(["i", "lamp", "n't", ",", ".", "'s", "!", "o'er", "\n", "’tis"]), max_size=12).map(
        " ".join
    )
)
def test_only_spaces_capitals_and_a_mark_at_the_end_change(verse: str) -> None:
    written = as_written(verse)
    plain, before = ("".join(text.lower().split()) for text in (written, verse))
    assert plain in (before, before + ".")
    assert as_written(written) == written
    assert written.count("\n") == verse.count("\n")


@given(st.text(" \t,.'’snt\na", max_size=12))
def test_all_blanks_before_a_mark_or_the_end_of_a_contraction_go(verse: str) -> None:
    marks = r"[ \t]+(?=[,.;:!?](?:[\s'\"’”)]|$)|(?:n['’]t|['’](?:s|d|m|ll|re|ve))\b)"
    assert [match.span() for match in _SPACE.finditer(verse)] == [match.span() for match in re.finditer(marks, verse)]


@given(st.text(".!' \t\na1_éß,\u0345ⓐ", max_size=12))
def test_the_first_letters_of_lines_and_sentences_are_capitals(verse: str) -> None:
    first = r"(?m)(?:^|[.!?]['\"’”)]*[ \t])[^\w\n]*[^\W\d_]"
    capitals = re.sub(first, lambda match: match.group()[:-1] + match.group()[-1].upper(), verse)
    assert _FIRST.sub(lambda match: match[1] + match[2].upper(), verse) == capitals


def test_a_text_of_many_marks_takes_no_hours() -> None:
    assert as_written("! —" * 300_000) == "! —" * 300_000


def test_a_text_of_many_blanks_takes_no_hours() -> None:
    assert as_written("a" + " " * 300_000 + "b") == "A" + " " * 300_000 + "b."


def test_the_syllables_of_a_text_stay() -> None:
    text = "a lamp on the bridge\nand the river under it\nlets the evening go"
    frame = Syllables("5/7/5")
    assert frame.check(text).kept and frame.check(as_written(text)).kept
