"""How verse is split and joined."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.text.language import Language, is_mark, join_tokens, tokens_of
from espalier.verse.text import join_units, rhyme_place, units_of


@given(st.lists(st.text(alphabet="山水，。 \u2028\u0085ab", min_size=1), min_size=1))
def test_units_split_at_line_feeds_alone(units: list[str]) -> None:
    assert units_of(join_units(units)) == units


def test_an_empty_verse_has_no_units() -> None:
    assert units_of("") == [] and join_units([]) == ""


@pytest.mark.parametrize(("unit", "language"), [("松下，有灯。", "zh"), ("the lamp , o'er stone .", "en")])
def test_tokens_join_to_their_unit(unit: str, language: Language) -> None:
    assert join_tokens(tokens_of(unit, language), language) == unit


def test_tokens_are_characters_or_what_stands_between_spaces() -> None:
    assert tokens_of("松，灯", "zh") == ["松", "，", "灯"]
    assert tokens_of("the  lamp ,", "en") == ["the", "lamp", ","]


@pytest.mark.parametrize("token", ["，", "。", "--", "—", "…", "?!", "《"])
def test_punctuation_is_a_mark(token: str) -> None:
    assert is_mark(token)


@pytest.mark.parametrize("token", ["", "'tis", "□", "_", "#", "灯", "a.", "__", "5", "<unk>"])
def test_words_blanks_and_gaps_are_no_marks(token: str) -> None:
    assert not is_mark(token)


@pytest.mark.parametrize(
    ("tokens", "place"), [(list("灯下。"), 1), (list("灯下"), 1), (list("灯，"), 0), (list("！"), None), ([], None)]
)
def test_the_rhyme_place_is_the_last_word(tokens: list[str], place: int | None) -> None:
    assert rhyme_place(tokens) == place
