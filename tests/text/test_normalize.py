"""Texts brought into one form."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.text.normalize import ASCII, ascii_punctuation, folded, is_traditional, simplified


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("A lamp, a door.", "a  LAMP a door", True),
        ("ｌａｍｐ３", "Lamp 3!", True),
        ("桥，灯。", "桥灯", True),
        ("in 2010", "in 2011", False),
        ("a + b", "a b", False),
        ("2 $", "2 €", False),
        ("山😀", "山", False),
        ("?!", "?", False),
        ("?!", "", False),
        ("a lamp\u200b", "a\u2028lamp", True),
        ("Straße", "STRASSE", True),
    ],
)
def test_texts_fold_to_the_same_but_for_case_width_spaces_and_punctuation(one: str, other: str, same: bool) -> None:
    assert (folded(one) == folded(other)) is same


@given(text=st.text(max_size=20))
def test_folding_leaves_out_spaces_punctuation_and_control_characters_and_nothing_else(text: str) -> None:
    whole = unicodedata.normalize("NFKC", text).casefold()
    kept = "".join(character for character in whole if unicodedata.category(character)[0] not in "PZC")
    assert folded(text) == (kept or text)


@given(text=st.text(max_size=20))
def test_folding_again_changes_nothing_and_leaves_something(text: str) -> None:
    assert folded(text) or not text
    once = folded(text)
    # NFKC of a case-folded text may still differ (Greek iota); what matters is that it settles.
    assert folded(folded(once)) == folded(once)


def test_marks_become_those_of_ascii_and_letters_stay() -> None:
    text = "\ufeff\u2018It\u2019s\u2019 \u201clit\u201d \u2013 or\u2014no\u2026 5\u22122\u2033, caf\u00e9\u200b"
    assert ascii_punctuation(text) == "'It's' \"lit\" - or--no... 5-2\", caf\u00e9"
    assert ascii_punctuation("``It's -- lit...''") == "``It's -- lit...''"


def test_no_mark_is_written_in_two_ways_or_as_more_than_ascii() -> None:
    marks = "".join(ASCII.values())
    assert len(set(marks)) == len(marks) and not any(mark.isascii() for mark in marks)
    assert all(plain.isascii() for plain in ASCII)


def test_traditional_characters_are_seen() -> None:
    pytest.importorskip("opencc")
    assert (
        is_traditional("石橋") and is_traditional("a 橋") and not is_traditional("石桥") and not is_traditional("a b")
    )


def test_traditional_characters_become_simplified_and_nothing_else_changes() -> None:
    pytest.importorskip("opencc")
    assert simplified("石橋 a 燈，3！") == "石桥 a 灯，3！"
    assert simplified("石桥 a 灯，3！") == "石桥 a 灯，3！" and simplified("") == ""
