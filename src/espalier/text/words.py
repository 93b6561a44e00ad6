"""Words of a sentence: joining them, counting them, repetitions among them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

# A contraction that stands alone; letters and digits with what joins them; a mark, as often as it stands in a row.
_WORD = re.compile(
    r"(?:n't|'(?:s|m|d|ll|re|ve))\b|\w+(?:(?:\.?[-'/]|\.|(?<=\d)[,:](?=\d))\w+)*|([^\w\s])\1*", re.IGNORECASE
)
_CONTRACTION = re.compile(r"(?<=\w)(?:n't|'(?:s|m|d|ll|re|ve))\b", re.IGNORECASE)


def join_words(words: Sequence[str], language: str) -> str:
    """The text of a sentence's words: with spaces between them; in Chinese only between two Latin words or numbers.

    A single Latin letter or digit counts as part of a word, as in corpora that put spaces between all characters.
    """
    if language != "zh":
        return " ".join(words)
    return "".join(
        f" {word}" if before and _is_latin(before) and _is_latin(word) else word
        for before, word in zip(("", *words), words, strict=False)
    )


def _is_latin(word: str) -> bool:
    return len(word) > 1 and word.isascii() and word.isalnum()


def approximate_words(text: str) -> int:
    """The approximate number of words of an English text by the Penn treebank's rules, at a fraction of their cost.

    Words are separated by spaces. A mark is a word, and so is a row of equal marks, unless it is inside a word or a
    number (well-known, 1,000.5, and/or). A contraction is two words (do n't, John 's), split already or not.
    """
    return sum(1 for _ in _WORD.finditer(text)) + len(_CONTRACTION.findall(text))


def longest_run(words: Sequence[str]) -> int:
    """The length of the longest run of one word; 0 for no words."""
    return max((sum(1 for _ in run) for _, run in groupby(words)), default=0)
