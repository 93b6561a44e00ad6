"""Literals of a format: whether they have the tones of their places and rhyme at rhyme places, and which words of a
verse stay as literals in polishing (SongNet, sections 2, 3.3 and 5.5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from espalier.io.errors import ConfigError
from espalier.text.language import is_mark
from espalier.verse.format import Format
from espalier.verse.slots import BLANKS, is_literal
from espalier.verse.sounds import Sounds
from espalier.verse.text import tokens_by_unit, verse_of

if TYPE_CHECKING:
    import numpy as np


def with_literals(format_: Format, sounds: Sounds, *, strict: bool) -> Format:
    """The format after checking that each literal has the tone of its place, and that literals of one letter rhyme.

    The literal of a letter with a single place may be missing from the book. In Mandarin, the literals of a letter
    rhyme by their commonest readings or, if `strict`, by any reading.

    Args:
        strict: whether to raise if a literal does not rhyme; else the letter of its unit becomes ".".

    Raises:
        ConfigError: a literal has a wrong or unknown tone or does not rhyme, or a letter has level and oblique places
            in a book where these never rhyme.
    """
    if sounds.tone:
        _require_tones(format_, sounds)
    letters, rhyming, tones = list(format_.rhyme), format_.rhyme_places, format_.place_tones
    for letter in sorted(set(letters) - {"."}):
        places = [
            (index, format_.units[index][place], tones[index][place])
            for index, own in enumerate(format_.rhyme)
            if own == letter
            for place in rhyming[index]
        ]
        if len(places) < 2:
            continue
        mixed = letter in format_.mixed_letters
        # A printed book requires the tones of rhymes, whether tones are required elsewhere or not.
        if mixed and not sounds.has_parts and (sounds.tone or sounds.book != "mandarin"):
            raise ConfigError(
                f"rhyme letter {letter} has level and oblique places, which never rhyme by the book {sounds.book}",
                where="rhyme",
                remedy="take the book cilin, where they share a part",
            )
        literals = [place for place in places if place[1] not in BLANKS]
        faults = _faults(literals, mixed, sounds, every=False)
        if faults and strict:
            faults = _faults(literals, mixed, sounds, every=True)
            for index, why in faults.items():
                raise ConfigError(
                    f"unit {index + 1} has the rhyme letter {letter}, but {why}",
                    where="rhyme",
                    remedy="write . for its letter, or another word",
                )
        for index in faults:
            letters[index] = "."
    return replace(format_, rhyme="".join(letters))


def _faults(literals: Sequence[tuple[int, str, str]], mixed: bool, sounds: Sounds, *, every: bool) -> dict[int, str]:
    """For each unit whose literal does not rhyme with earlier literals of its letter: its index, and the reason.

    Args:
        literals: (unit, word, tone of its place) of each literal.
        mixed: whether the letter has level and oblique places.
        every: whether every reading of a word counts.
    """
    faults: dict[int, str] = {}
    first, common = "", frozenset[str]()
    for index, word, tone in literals:
        groups = sounds.groups(word, tone if sounds.tone or mixed else "", every=every)
        shared = frozenset(sounds.rhyme_key(group, mixed) for group in groups)
        if shared and (not first or shared & common):
            first, common = first or word, shared & common if first else shared
        elif groups:
            faults[index] = f"'{word}' ({_names(groups)}) does not rhyme with '{first}' ({_names(common)})"
        else:
            faults[index] = _unknown(word, sounds)
    return faults


def _require_tones(format_: Format, sounds: Sounds) -> None:
    for number, (unit, tones) in enumerate(zip(format_.units, format_.place_tones, strict=True), start=1):
        for word, tone in zip(unit, tones, strict=True):
            if word in BLANKS or is_mark(word) or tone == "中":
                continue
            known = sounds.tones(word)
            if tone not in known:
                has = f"the tone of '{word}' is {''.join(known)}" if known else f"the tone of '{word}' is not known"
                raise ConfigError(
                    f"{has}, its position has {tone}", where=f"tones, unit {number}", remedy="write 中, or another word"
                )


def _unknown(word: str, sounds: Sounds) -> str:
    if sounds.book == "mandarin":
        return f"the sound of '{word}' is not known"
    return f"the rhyme book {sounds.book} has no fitting group of '{word}'"


def _names(groups: frozenset[str]) -> str:
    return "/".join(sorted(groups))


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
