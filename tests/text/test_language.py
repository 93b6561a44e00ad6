"""Which language a text is in, and what it is called."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.text.language import (
    HAN,
    Language,
    has_words,
    is_mark,
    join_tokens,
    language_name,
    language_of,
    mostly,
    tokens_of,
)


@pytest.mark.parametrize(
    ("text", "zh", "en"),
    [
        ("今天下雨了。", True, False),
        ("It rains today.", False, True),
        ("我爱 machine learning", True, True),  # two Han characters and two words; two Han characters and 15 letters
        ("我用 machine learning tools here", False, True),
        ("Beyoncé sings", False, True),
        ("Привет, world", False, False),
        ("𠮷野家", True, False),  # beyond the basic plane
        ("12:30 ?!", True, True),
        ("", True, True),
    ],
)
def test_a_text_is_in_the_language_of_most_of_it(text: str, zh: bool, en: bool) -> None:
    assert (mostly(text, "zh"), mostly(text, "en")) == (zh, en)


@pytest.mark.parametrize("unassigned", ["\U0003ea7b", "\U0002a6e0", "\ufa6e", "\U00032400"])
def test_a_code_point_without_a_character_is_no_han_character(unassigned: str) -> None:
    han = re.compile(f"[{HAN}]")
    assert not han.fullmatch(unassigned)
    assert all(map(han.fullmatch, "一鿿㐀䶿𠀀𪛟𪜀𮯠\uf900\ufa70\U0002f800\U000323af"))


@pytest.mark.parametrize(("text", "expected"), [("", False), (" ?!…", False), ("ok?", True), ("7", True), ("雨", True)])
def test_words_are_letters_or_digits(text: str, expected: bool) -> None:
    assert has_words(text) is expected


def test_languages_have_names() -> None:
    assert [language_name(language) for language in ("zh", "en")] == ["Chinese", "English"]


@pytest.mark.parametrize("language", ["zh", "en"])
@given(tokens=st.lists(st.text(alphabet="雨a，'", min_size=1, max_size=3)))
def test_tokens_that_are_joined_come_back(language: Language, tokens: list[str]) -> None:
    tokens = [character for token in tokens for character in token] if language == "zh" else tokens
    assert tokens_of(join_tokens(tokens, language), language) == tokens


@pytest.mark.parametrize(
    ("token", "expected"),
    [("，", True), ("--", True), ("'tis", False), ("□", False), ("_", False), ("#", False), ("", False)],
)
def test_marks_are_punctuation_alone(token: str, expected: bool) -> None:
    assert is_mark(token) is expected


def test_the_language_of_a_text_is_that_of_most_of_its_letters() -> None:
    assert [language_of(text) for text in ("他睡觉。", "Anna sleeps.", "Анна спит.", "。")] == ["zh", "en", None, None]
