"""Tones of a format's places, one sign for each word: 平 level, 仄 oblique, 中 either."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from espalier.io.errors import ConfigError
from espalier.text.language import is_mark
from espalier.verse.slots import BLANK, shortened

if TYPE_CHECKING:
    from espalier.verse.format import Format

SIGNS: Final = ("中", "平", "仄")


def read_tones(text: str) -> str:
    """The signs of a text; marks, spaces and "/" between them say nothing.

    Raises:
        ConfigError: it has other characters, or no sign.
    """
    signs = "".join(sign for sign in text if not (sign.isspace() or is_mark(sign)))
    if (unknown := next((sign for sign in signs if sign not in SIGNS), None)) is not None or not signs:
        what = f"'{unknown}' is no tone" if unknown else "no tones"
        raise ConfigError(what, where="tones", remedy="平 level, 仄 oblique, 中 either: 仄仄平平仄")
    return signs


def blanks_of(tones: str) -> str:
    """The format whose words have these tones: a blank for each sign, and the marks between them."""
    read_tones(tones)
    return "".join(BLANK if sign in SIGNS else sign for sign in tones)


def with_tones(format_: Format, tones: str) -> Format:
    """A format whose words have these tones; without any it stays as it is.

    Raises:
        ConfigError: there are more or fewer signs than words, or other characters.
    """
    if not tones:
        return format_
    signs, words = read_tones(tones), sum(not is_mark(slot) for unit in format_.units for slot in unit)
    if len(signs) != words:
        what = f"'{shortened(tones)}' has {len(signs)} tones, the format {words} words"
        raise ConfigError(what, where="tones", remedy="one sign per word: 平, 仄 or 中")
    return replace(format_, tones=signs)
