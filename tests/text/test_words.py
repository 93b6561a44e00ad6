"""Words joined to text, the estimate of their number, and runs of one word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.syntax.parsers.penn_words import penn_words
from espalier.text.words import estimate_words, join_words, longest_run


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


@given(words=st.lists(st.sampled_from("ab"), max_size=8))
def test_the_longest_run_is_what_counting_every_stretch_finds(words: list[str]) -> None:
    stretches = [words[i:j] for i in range(len(words)) for j in range(i + 1, len(words) + 1)]
    assert longest_run(words) == max((len(stretch) for stretch in stretches if len(set(stretch)) == 1), default=0)
