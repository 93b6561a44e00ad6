"""Tones of a format's places, one sign for each word: 平 level, 仄 oblique, 中 either."""

from __future__ import annotations

from typing import Final

from espalier.io.errors import ConfigError
from espalier.text.language import is_mark
from espalier.verse.slots import BLANK

SIGNS: Final = ("中", "平", "仄")


def read_tones(text: str) -> str:
    """The tone signs in a text. Marks, spaces and "/" between them are ignored.

    Raises:
        ConfigError: the text has other characters, or no sign.
    """
    signs = "".join(sign for sign in text if not (sign.isspace() or is_mark(sign)))
    if (unknown := next((sign for sign in signs if sign not in SIGNS), None)) is not None or not signs:
        what = f"'{unknown}' is no tone" if unknown else "no tones"
        raise ConfigError(what, where="tones", remedy="平 level, 仄 oblique, 中 either: 仄仄平平仄")
    return signs


def blanks_of(tones: str) -> str:
    """The format of words with these tones: a blank for each sign, and the marks between them."""
    read_tones(tones)
    return "".join(BLANK if sign in SIGNS else sign for sign in tones)
