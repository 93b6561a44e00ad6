"""Words that must occur in a text: how far they are written."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wanted:
    """The words that must still occur, and the end of the text that begins one of them, the longest such."""

    words: frozenset[str]
    begun: str


def progress(wanted: Wanted, character: str, *, word: bool) -> Wanted:
    """The words that are left after one more character. A mark or a line feed ends what has begun."""
    if not wanted.words or not word:
        return Wanted(wanted.words, "")
    text = wanted.begun + character
    left = frozenset(each for each in wanted.words if not text.endswith(each))
    begun = (text[start:] for start in range(len(text)))
    return Wanted(left, next((end for end in begun if any(each.startswith(end) for each in left)), ""))
