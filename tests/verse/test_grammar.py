"""Acrostics: where their words stand, and those that cannot be."""

import pytest

from espalier.io.errors import ConfigError
from espalier.verse.grammar import parse_format


@pytest.mark.parametrize(
    ("text", "acrostic", "units"),
    [
        ("2，1。3。", "春江", ["春_，#。", "江_#。"]),
        ("2，1。3。", "春", ["春_，#。", "__#。"]),
        ("2，2。3。", "春江花", ["春_，江#。", "花_#。"]),
        ("2、2，2。", "春江", ["春_、__，江#。"]),
        ("“2，2。”", "春江", ["“春_，江#。”"]),
        ("春_，2。", "春", ["春_，_#。"]),
        ("2。1。2。", "春江花", ["春#。", "江。", "花#。"]),
    ],
)
def test_its_words_begin_the_sentences_or_else_the_clauses(text: str, acrostic: str, units: list[str]) -> None:
    assert ["".join(unit) for unit in parse_format(text, "zh", acrostic=acrostic).units] == units


@pytest.mark.parametrize(
    ("text", "acrostic", "rhyme", "message"),
    [
        ("2，2。", "春江花", None, "acrostic: '春江花' has 3 words, the format 1 sentences of 2 clauses; at most 2"),
        ("春_，2。", "江", None, "acrostic, unit 1: '江' where the format has '春'"),
        ("2，2。", "，", None, "acrostic: '，' is not words alone"),
        ("2，2。", " ", None, "acrostic: ' ' is not words alone"),
        ("1。", "春", None, "acrostic: '春' leaves nothing to write"),
        ("#_，__。", "春", None, "acrostic: unit 1 rhymes at its first word alone"),
        (
            "1。1。2。",
            "山灯",
            "AAA",
            "rhyme: unit 2 has the rhyme letter A, but '灯' (eng) does not rhyme",
        ),
    ],
)
def test_one_that_does_not_fit_is_one_line(text: str, acrostic: str, rhyme: str | None, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_format(text, "zh", rhyme, acrostic=acrostic)
    assert str(caught.value).startswith(message)
