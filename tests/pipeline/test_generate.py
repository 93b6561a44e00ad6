"""The page that `generate` prints for people."""

from __future__ import annotations

from espalier.cli.printers import poem_page
from espalier.inference.results import Poem


def test_the_page_has_letters_and_rhyme_groups_in_a_column_of_their_own() -> None:
    groups = ("eng", "", "an (ai/u)")
    poem = Poem(
        "灯人在山前。\n明天。\n山还。", "5。\n2。\n2。", "A.B", "无名", seed=7, sample=2, tones="", rhyme_groups=groups
    )
    assert poem_page({}, None, poem).splitlines() == [
        "无名  5。/2。/2。  seed 7  no. 3",
        "  灯人在山前。   A eng",
        "  明天。",
        "  山还。         B an (ai/u)",
    ]


def test_a_text_with_more_units_than_letters_is_shown_whole() -> None:
    poem = Poem("灯。\n山。", "1。", "A", "", seed=1, sample=0, tones="", rhyme_groups=("eng", ""))
    assert poem_page({}, None, poem).splitlines()[1:] == ["  灯。   A eng", "  山。"]


def test_two_stanzas_have_an_empty_line_between_them() -> None:
    poem = Poem(
        "灯。\n山。\n雨。", "1。1。1。", "...", "", seed=1, sample=0, tones="", rhyme_groups=("",) * 3, stanza=2
    )
    assert poem_page({}, None, poem).splitlines()[1:] == ["  灯。", "  山。", "", "  雨。"]


def test_english_is_printed_with_capitals_and_a_full_stop() -> None:
    poem = Poem("a lamp , and i\nthe moon", "4,2/2", "..", "", seed=1, sample=0, tones="", rhyme_groups=("", ""))
    assert poem_page({}, None, poem).splitlines()[1:] == ["  A lamp, and I", "  The moon."]
