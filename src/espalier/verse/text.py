"""Verse as text: splitting into units, joining units, and the rhyme place of a unit.

A verse is one string: its units (sentences of a ci, lines of a sonnet) joined by line feeds. The tokens of a Chinese
unit are its characters; an English unit is its tokens joined by single spaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from espalier.text.language import Language, is_mark, join_tokens, tokens_of

#: A Chinese unit ends after one of these marks; an English unit ends with its line.
TERMINALS = "。！？"


def units_of(text: str) -> list[str]:
    """The units of a verse, split only at line feeds. U+2028 and other separators are text."""
    return text.split("\n") if text else []


def join_units(units: Iterable[str]) -> str:
    """A verse from its units, the inverse of `units_of`."""
    return "\n".join(units)


def tokens_by_unit(verse: str, language: Language) -> list[list[str]]:
    """The tokens of each unit of a verse."""
    return [tokens_of(unit, language) for unit in units_of(verse)]


def verse_of(units: Iterable[Iterable[str]], language: Language) -> str:
    """A verse from the tokens of its units, the inverse of `tokens_by_unit`."""
    return join_units(join_tokens(unit, language) for unit in units)


def pattern_of(text: str, language: Language) -> str:
    """The pattern of a verse: "_" for each word, and its marks.

    The units "灯山，桥雨。" and "山石！" give "__，__。" and "__！".
    """
    return join_units(
        "".join(token if is_mark(token) else "_" for token in tokens_of(unit, language)) for unit in units_of(text)
    )


def rhyme_place(tokens: Sequence[str]) -> int | None:
    """The index of the last word of a unit, its default rhyme place; None if the unit has only marks."""
    return next((index for index in range(len(tokens) - 1, -1, -1) if not is_mark(tokens[index])), None)
