"""Languages, their tokens, and which tokens are marks."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

Language = Literal["zh", "en"]


def tokens_of(unit: str, language: Language) -> list[str]:
    """The tokens of one unit: characters, or what stands between spaces."""
    return list(unit) if language == "zh" else unit.split()


def join_tokens(tokens: Iterable[str], language: Language) -> str:
    """One unit from its tokens; the inverse of `tokens_of`."""
    return ("" if language == "zh" else " ").join(tokens)


@lru_cache(maxsize=65536)
def is_mark(token: str) -> bool:
    """Whether every character is punctuation ("，", "--"); "'tis", "□" and a format's blanks, "_" and "#", are not."""
    return bool(token) and all(
        unicodedata.category(character).startswith("P") and character not in "_#" for character in token
    )
