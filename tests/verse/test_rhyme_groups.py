"""The rhyme groups of the units of a text."""

from __future__ import annotations

import pytest

from espalier.verse.grammar import parse_format
from espalier.verse.rhyme_groups import rhyme_groups
from espalier.verse.sounds import Sounds


@pytest.mark.parametrize(
    ("written", "rhyme", "text", "groups"),
    [
        ("#____。#____。", None, "灯人在山前。\n明天在船头。", ("eng", "eng")),
        ("_#，_#_。_#。", "AB", "山灯，桥生人。\n天下。", ("eng", "a")),
        ("5。5。", ".A", "灯人在山前。\n明天在船头。", ("", "ou")),
        ("#_。#_。", None, "灯人。\n山□。", ("eng", "an")),
        ("__#。2。", "A.", "人在□。\n天下。", ("?", "")),
        ("1还。1天。", "AA", "山还。\n明天。", ("an (ai)", "an")),  # by the reading that rhymes
        ("#__。", "A", "灯山。", ("an",)),  # a free text, shorter than its format: its last word
        ("#__。", "A", "灯人山。\n天。", ("eng", "")),  # a free text with more units
        ("#__。", "A", "灯人山。\n\n天。", ("eng", "", "")),  # one of them empty
    ],
)
def test_the_groups_are_those_of_the_place_that_rhymes_and_of_the_readings_that_fit(
    written: str, rhyme: str | None, text: str, groups: tuple[str, ...]
) -> None:
    assert rhyme_groups(text, parse_format(written, "zh", rhyme), Sounds("zh")) == groups
