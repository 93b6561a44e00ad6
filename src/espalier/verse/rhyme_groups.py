"""The rhyme groups of the units of a text, for display."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from espalier.text.language import tokens_of
from espalier.verse.format import Format
from espalier.verse.slots import BLANKS
from espalier.verse.sounds import Sounds
from espalier.verse.text import rhyme_place, units_of


def rhyme_groups(text: str, format_: Format, sounds: Sounds) -> tuple[str, ...]:
    """For each unit of a text, the rhyme groups of the words at its rhyme places; "" if the unit has no rhyme letter.

    The groups of a word are those of readings that fit its place and rhyme with all words of its letter. Groups of its
    other readings follow in brackets. Groups of one word are joined by "/"; "?" means no group. Words are joined by "/"
    too.
    """
    units = units_of(text)
    words = [_rhyme_words(unit, format_, index, sounds) for index, unit in enumerate(units)]
    letters = format_.rhyme.ljust(len(units), ".")[: len(units)]
    shared = {letter: _shared(words, letters, letter, sounds) for letter in set(letters) - {"."}}
    return tuple(
        "/".join(dict.fromkeys(_groups(word, sounds, shared[letter]) for word in at_places)) or "?"
        if letter != "."
        else ""
        for letter, at_places in zip(letters, words, strict=True)
    )


class _RhymeWord(NamedTuple):
    """A word at a rhyme place, the tone of the place, and whether the format gives the word."""

    word: str
    tone: str
    given: bool


def _rhyme_words(unit: str, format_: Format, index: int, sounds: Sounds) -> list[_RhymeWord]:
    """The words at the rhyme places of a unit; its last word if the text does not keep the format."""
    tokens = tokens_of(unit, format_.language)
    if index >= len(format_.units) or len(tokens) != len(format_.units[index]):  # a free text may have more units
        last = rhyme_place(tokens)
        return [] if last is None else [_RhymeWord(tokens[last], "", given=False)]
    slots = format_.units[index]
    tones = format_.place_tones[index] if sounds.tone else [""] * len(slots)
    return [
        _RhymeWord(tokens[place], tones[place], slots[place] not in BLANKS) for place in format_.rhyme_places[index]
    ]


def _shared(words: Sequence[Sequence[_RhymeWord]], letters: str, letter: str, sounds: Sounds) -> frozenset[str]:
    """The rhyme groups in which all words of a letter have a reading."""
    groups = [
        sounds.groups(word, tone, every=given)
        for at_places, own in zip(words, letters, strict=True)
        for word, tone, given in at_places
        if own == letter
    ]
    return frozenset.intersection(*groups) if groups else frozenset()


def _groups(at_place: _RhymeWord, sounds: Sounds, shared: frozenset[str]) -> str:
    """The rhyme groups of a word; in brackets, those of its other readings.

    Other readings do not rhyme, do not fit the place, or are rarer.
    """
    word, tone, given = at_place
    usual, every = sounds.groups(word, tone), sounds.groups(word, every=given)
    fitting = (usual & shared) or (every & shared) or usual
    others = f" ({'/'.join(sorted(every - fitting))})" if every - fitting else ""
    return ("/".join(sorted(fitting)) or "?") + others
