import re

import pytest

from espalier.io.errors import ConfigError
from espalier.verse.tunes import tune, tunes


def test_there_are_at_least_sixteen_tunes_in_the_order_of_the_catalogue() -> None:
    names = list(tunes())
    assert len(names) >= 16
    assert names[:3] == ["卜算子", "浣溪沙", "菩萨蛮"]


def test_a_pattern_is_counts_and_marks_with_a_rhyme_and_a_tone_for_each_sentence() -> None:
    for name, one in tunes().items():
        assert one.name == name
        assert re.fullmatch(r"(\d[，。])+", one.pattern), name
        assert one.pattern.endswith("。"), name
        sentences = one.pattern.count("。")
        assert len(one.units) == len(one.rhyme) == len(one.tone) == sentences, name
        assert re.fullmatch(r"[A-D]+", one.rhyme) and set(one.tone) <= {"平", "仄"}, name


def test_units_spell_the_pattern() -> None:
    for one in tunes().values():
        assert "".join(f"{count}{mark}" for unit in one.units for count, mark in unit) == one.pattern


@pytest.mark.parametrize(
    ("name", "characters", "rhyme"),
    [
        ("卜算子", 44, "AAAA"),
        ("浣溪沙", 42, "AAAAA"),
        ("菩萨蛮", 44, "AABBCCDD"),
        ("如梦令", 33, "AAAAAA"),
        ("清平乐", 46, "AAAABBB"),
        ("蝶恋花", 60, "AAAAAAAA"),
        ("虞美人", 56, "AABBCCDD"),
        ("江城子", 70, "AAAAAAAAAA"),
        ("渔家傲", 62, "AAAAAAAAAA"),
        ("相见欢", 36, "AAABBAA"),
        ("更漏子", 46, "AABBCCDD"),
    ],
)
def test_the_lengths_that_handbooks_give_are_met(name: str, characters: int, rhyme: str) -> None:
    one = tune(name)
    assert sum(count for unit in one.units for count, _ in unit) == characters
    assert one.rhyme == rhyme


def test_rhymes_of_one_letter_have_one_tone_except_where_the_tune_turns_it() -> None:
    for one in tunes().values():
        for letter in set(one.rhyme):
            tones = {tone for mark, tone in zip(one.rhyme, one.tone, strict=True) if mark == letter}
            assert len(tones) == (2 if one.name == "西江月" else 1), one.name


def test_an_unknown_tune_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ConfigError, match=r"unknown tune '无名令'.*卜算子"):
        tune("无名令")


def test_the_catalogue_cannot_be_changed_through_what_it_hands_out() -> None:
    tunes().clear()
    assert tune("卜算子").rhyme == "AAAA"
