"""Polishing (SongNet, sections 2, 3.3 and 5.5): formats that keep some words of a verse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from espalier.verse.format import Format
from espalier.verse.slots import BLANKS, is_literal
from espalier.verse.text import tokens_by_unit, verse_of

if TYPE_CHECKING:
    import numpy as np


def keep_words(
    format_: Format, verse: str, share: float, rng: np.random.Generator, known: Callable[[str], bool]
) -> Format:
    """The format of a verse in which some of its words are kept as literals, each with probability `share`.

    A word that cannot be a literal is never kept. If all words are drawn, the last one becomes a blank.

    Args:
        known: function that tells whether a word may be kept.
    """
    words = tokens_by_unit(verse, format_.language)
    blanks = [
        (row, place) for row, unit in enumerate(format_.units) for place, slot in enumerate(unit) if slot in BLANKS
    ]
    drawn = rng.random(len(blanks)) < share
    if drawn.all():
        drawn[-1:] = False
    units = [list(unit) for unit in format_.units]
    for (row, place), kept in zip(blanks, drawn, strict=True):
        word = words[row][place]
        if kept and known(word) and is_literal(word, format_.language):
            units[row][place] = word
    return replace(format_, units=tuple(map(tuple, units)))


def template_of(format_: Format) -> str:
    """The slots of a format as text: kept words, marks, blanks. `tokens_by_unit` parses it."""
    return verse_of(format_.units, format_.language)
