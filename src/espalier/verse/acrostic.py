"""Acrostics (藏头): the first words of a verse's sentences, or of its clauses, spell a given text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from espalier.io.errors import ConfigError
from espalier.text.language import is_mark, tokens_of
from espalier.verse.format import Format
from espalier.verse.slots import BLANK, RHYME, is_literal

#: Marks that end a clause. A 、 is a pause within one.
_ENDS = frozenset("，；：。！？,;:.!?")


def with_acrostic(format_: Format, text: str) -> Format:
    """Put the words of `text` at the beginnings of the format's sentences (its units), in order.

    If there are more words than sentences, they begin its clauses instead. Remaining sentences or clauses stay free.

    Raises:
        ConfigError: there are more words than clauses, a word is a mark, or another literal is in its place.
    """
    words = tokens_of("".join(text.split()) if format_.language == "zh" else text.lower(), format_.language)
    if not words or any(is_mark(word) or not is_literal(word, format_.language) for word in words):
        raise ConfigError(f"'{text}' is not words alone", where="acrostic", remedy="for example 春江花月")
    clauses = list(_clauses(format_))
    sentences = [next(place for place in clauses if place[0] == unit) for unit in range(len(format_.units))]
    places = sentences if len(words) <= len(sentences) else clauses
    if len(words) > len(places):
        what = f"'{text}' has {len(words)} words, the format {len(sentences)} sentences of {len(clauses)} clauses"
        raise ConfigError(what, where="acrostic", remedy=f"at most {len(clauses)}")
    units = [list(unit) for unit in format_.units]
    for word, (unit, place) in zip(words, places, strict=False):
        slot = units[unit][place]
        if slot not in (BLANK, RHYME, word):
            raise ConfigError(f"'{word}' where the format has '{slot}'", where=f"acrostic, unit {unit + 1}")
        units[unit][place] = word
    filled = replace(format_, units=tuple(map(tuple, units)))
    for number, (before, now) in enumerate(zip(format_.rhyme_places, filled.rhyme_places, strict=True), start=1):
        if before and set(now) - set(before):
            raise ConfigError(
                f"unit {number} rhymes at its first word alone", where="acrostic", remedy="write # at another position"
            )
    if filled.blanks == 0:
        raise ConfigError(f"'{text}' leaves nothing to write", where="acrostic")
    return filled


def _clauses(format_: Format) -> Iterator[tuple[int, int]]:
    """The unit and the slot of the first word of each clause."""
    for number, unit in enumerate(format_.units):
        begins = True
        for place, slot in enumerate(unit):
            if is_mark(slot):
                begins = begins or slot in _ENDS
            elif begins:
                yield number, place
                begins = False
