"""The page that `generate` prints for people."""

from __future__ import annotations

import pytest

from espalier.inference.results import Poem
from espalier.verse.format import parse_format
from pipeline.commands.generate import page_of


@pytest.mark.parametrize(
    ("written", "rhyme", "text", "columns"),
    [
        ("#____。#____。", None, "灯人在山前。\n明天在船头。", ["A eng", "A eng"]),
        ("_#，_#_。_#。", "AB", "山灯，桥生人。\n天下。", ["A eng", "B a"]),
        ("5。5。", ".A", "灯人在山前。\n明天在船头。", ["", "A ou"]),
        ("#_。#_。", None, "灯人。\n山□。", ["A eng", "A an"]),
        ("__#。2。", "A.", "人在□。\n天下。", ["A ?", ""]),
        ("1还。1天。", "AA", "山还。\n明天。", ["A an (ai/u)", "A an"]),  # by the reading that rhymes
        ("#__。", "A", "灯山。", ["A an"]),  # a free text, shorter than its format: its last word
    ],
)
def test_the_page_shows_the_sound_of_the_place_that_rhymes(
    written: str, rhyme: str | None, text: str, columns: list[str]
) -> None:
    format_ = parse_format(written, "zh", rhyme)
    page = page_of(Poem(text, str(format_), format_.rhyme, tune="", seed=1, sample=0), "zh")
    lines = page.splitlines()[1:]
    assert [line.strip()[len(unit) :].strip() for line, unit in zip(lines, text.split("\n"), strict=True)] == columns
