"""Sample verse, with what was asked for beside each unit and its rhyme places marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from espalier.io.errors import EspalierError
from espalier.report.results import Sample
from espalier.text.language import Language, is_mark, tokens_of
from espalier.verse.format import BLANK, RHYME, Format, parse_format
from espalier.verse.rhyme import final_of, group_name
from espalier.verse.text import rhyme_place, units_of

#: English marks that close up with the word before them.
_CLOSING = frozenset(",.;:!?)]…’”%")


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it is shown. `rhymes` marks the rhyme place; `sound` is its pinyin, or its rhyme part in ARPAbet."""

    text: str
    spaced: bool = False
    rhymes: bool = False
    sound: str = ""


@dataclass(frozen=True, slots=True)
class UnitLine:
    """A unit beside its part of the format; without tokens where one was asked for and never came.

    `letter` is "" where nothing need rhyme. `group` is the sound group in which the unit ends; `agrees` says whether
    that is the group in which most units of its letter end (None where there is nothing to compare). `asked` and `got`
    are shapes such as "5，5。"; `got` is "" where they are the same.
    """

    tokens: tuple[Token, ...]
    letter: str = ""
    group: str = ""
    agrees: bool | None = None
    asked: str = ""
    got: str = ""


@dataclass(frozen=True, slots=True)
class Poem:
    """A sample. `format` is the whole format where it could not be laid beside the units, else ""."""

    id: str
    tune: str
    lines: tuple[UnitLine, ...]
    reference: tuple[UnitLine, ...]
    format: str = ""


def mark(sample: Sample, language: Language) -> Poem:
    """Find a sample's rhyme places: the last word of each unit whose letter is not "."."""
    pattern = _asked(sample.format, language)
    lines = _written(sample.text, sample.rhyme, language)
    reference = _written(sample.reference, sample.rhyme, language)
    return Poem(sample.id, sample.tune, _beside(lines, pattern, language), reference, "" if pattern else sample.format)


def _asked(text: str, language: Language) -> tuple[tuple[str, ...], ...]:
    """The format's units of slots; () for no format, or one that cannot be read."""
    try:
        return parse_format(text, language).units
    except EspalierError:
        return ()


def _written(text: str, rhyme: str, language: Language) -> tuple[UnitLine, ...]:
    units = [tokens_of(unit, language) for unit in units_of(text)]
    letters = [letter.replace(".", "") for letter in rhyme[: len(units)].ljust(len(units), ".")]
    places = [rhyme_place(unit) if letter else None for unit, letter in zip(units, letters, strict=True)]
    groups = [
        (group_name(unit[place], language) or "") if place is not None else ""
        for unit, place in zip(units, places, strict=True)
    ]
    leads = {
        letter: _majority(g for g, own in zip(groups, letters, strict=True) if own == letter) for letter in letters
    }
    return tuple(
        UnitLine(
            _tokens(unit, place, language),
            letter,
            group,
            group == leads[letter] if letter and letters.count(letter) > 1 else None,
        )
        for unit, letter, place, group in zip(units, letters, places, groups, strict=True)
    )


def _beside(lines: Sequence[UnitLine], asked: Sequence[tuple[str, ...]], language: Language) -> tuple[UnitLine, ...]:
    compared = []
    for line, unit in zip_longest(lines, asked):
        want = _spelled(unit, language) if unit else ""
        if line is None:
            compared.append(UnitLine((), asked=want))
        elif not asked:
            compared.append(line)
        else:
            shape = _shape([token.text for token in line.tokens], language)
            compared.append(replace(line, asked=want, got="" if unit and shape == _shape(unit, language) else shape))
    return tuple(compared)


def _shape(tokens: Sequence[str], language: Language) -> str:
    """Counts and marks alone, so that a literal of a template equals the word that keeps its place."""
    return _spelled([token if is_mark(token) and token not in (BLANK, RHYME) else BLANK for token in tokens], language)


def _spelled(unit: Sequence[str], language: Language) -> str:
    return str(Format((tuple(unit),), ".", language))


def _majority(groups: Iterable[str]) -> str | None:
    """The group that most places share, the first seen among equals; None if no place has a group."""
    counts = Counter(group for group in groups if group)
    return counts.most_common(1)[0][0] if counts else None


def _tokens(unit: Sequence[str], place: int | None, language: Language) -> tuple[Token, ...]:
    return tuple(
        Token(
            text,
            spaced=language == "en" and index > 0 and text not in _CLOSING,
            rhymes=index == place,
            sound=_sound(text, language) if index == place else "",
        )
        for index, text in enumerate(unit)
    )


def _sound(word: str, language: Language) -> str:
    """A character's default pinyin with its tone; an English word's rhyme part; "" where it has no known sound."""
    if language == "en":
        return group_name(word, language) or ""
    if final_of(word) is None:
        return ""
    from pypinyin import Style, pinyin

    return str(pinyin(word, style=Style.TONE)[0][0])
