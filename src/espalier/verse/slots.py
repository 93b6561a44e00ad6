"""The signs of a format's blanks, and how messages shorten what people wrote."""

from __future__ import annotations

from typing import Final

BLANK: Final = "_"
RHYME: Final = "#"
BLANKS: Final = (BLANK, RHYME)


def shortened(text: str) -> str:
    """A text of at most 40 characters."""
    return text if len(text) <= 40 else text[:37] + "..."
