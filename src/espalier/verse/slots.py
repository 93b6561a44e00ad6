"""The content of slots besides marks: blanks and literals; and shortening of user input for messages."""

from __future__ import annotations

import unicodedata
from typing import Final

from espalier.text.language import Language

BLANK: Final = "_"
RHYME: Final = "#"
BLANKS: Final = (BLANK, RHYME)

#: Categories of Unicode: mathematical and currency signs, controls, formatting characters, surrogates.
_NO_WORDS: Final = ("Sm", "Sc", "Cc", "Cf", "Cs")


def shortened(text: str) -> str:
    """A text shortened to at most 40 characters."""
    return text if len(text) <= 40 else text[:37] + "..."


def is_literal(token: str, language: Language) -> bool:
    """Whether a token can be a word.

    In Chinese: no ASCII, no mathematical sign, no control character. In English: "a", "i", "o" or longer.

    "□", the sign for a lost character in editions, is a word.
    """
    if language == "zh":
        return not unicodedata.normalize("NFKC", token).isascii() and unicodedata.category(token) not in _NO_WORDS
    return token in ("a", "i", "o") or (len(token) > 1 and any(map(str.isalpha, token)))
