"""Porter stems of English words, by NLTK."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from espalier.io.imports import nltk_module


@cache
def _stemmer() -> Any:
    return nltk_module("stem.porter").PorterStemmer()


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """The stem of a word, in lower case."""
    return str(_stemmer().stem(word))
