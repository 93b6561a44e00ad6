"""Sample verse: each unit beside its part of the format, with rhyme places marked."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final

from espalier.io.errors import EspalierError
from espalier.metrics.rhyme_places import majority
from espalier.report.results import Sample
from espalier.text.language import Language, is_mark
from espalier.verse.format import BLANK, RHYME, Format
from espalier.verse.grammar import parse_format
from espalier.verse.rhyme import final_of, group_name
from espalier.verse.text import rhyme_place, tokens_by_unit

#: English marks without a space before them.
_CLOSING = frozenset(",.;:!?)]…’”%")


#: The traditional signs of the tone that a place asks for and of a rhyme; and the sign of what a word does not have.
TONES: Final = {"平": ("○", "level tone"), "仄": ("●", "oblique tone"), "中": ("◐", "either tone")}
RHYMING: Final = "△"
REPEATED: Final = "叠"
WRONG: Final = "×"


@dataclass(frozen=True, slots=True)
class Token:
    """A displayed token. `rhymes` marks the rhyme place; `sound` is its pinyin, or its rhyme part in ARPAbet.

    For a place of a variant, `asked` is its tone and rhyme letter, and `kept` tells which of them is wrong, as in
    `Sample`. Otherwise both are empty.
    """

    text: str
    spaced: bool = False
    rhymes: bool = False
    sound: str = ""
    asked: str = ""
    kept: str = ""

    @property
    def signs(self) -> str:
        """The requirements of the place, each followed by "×" if the word does not meet it."""
        if not self.asked:
            return ""
        tone, letter = self.asked[0], self.asked[1]
        rhyme = "" if letter == "." else RHYMING + WRONG * (self.kept in "rb")
        return TONES[tone][0] + WRONG * (self.kept in "tb") + rhyme + (REPEATED + WRONG) * (self.kept == "c")

    @property
    def said(self) -> str:
        """The same in words."""
        if not self.asked:
            return ""
        tone, letter = self.asked[0], self.asked[1]
        words = [TONES[tone][1] + (": it has none" if self.kept in "tb" else "")]
        if letter != ".":
            words.append(f"rhyme {letter}" + (": it does not rhyme" if self.kept in "rb" else ""))
        return ", ".join([*words, *(["repeated word: it is another"] if self.kept == "c" else [])])


@dataclass(frozen=True, slots=True)
class UnitLine:
    """A unit beside its part of the format.

    Attributes:
        tokens: tokens of the unit; empty if the text lacks the unit.
        letter: rhyme letter, or "".
        group: rhyme group of the unit's last word.
        agrees: whether `group` is the majority group of the letter's units; None if the letter has one unit.
        expected: the shape of the format's unit, such as "5，5。".
        actual: the shape of the text's unit; "" if it equals `expected`.
    """

    tokens: tuple[Token, ...]
    letter: str = ""
    group: str = ""
    agrees: bool | None = None
    expected: str = ""
    actual: str = ""


@dataclass(frozen=True, slots=True)
class Poem:
    """A sample. `format` is the whole format if it could not be split into units, else "".

    `variant` is the variant with which its places are compared, or "".
    """

    id: str
    tune: str
    lines: tuple[UnitLine, ...]
    reference: tuple[UnitLine, ...]
    format: str = ""
    variant: str = ""


def mark(sample: Sample, language: Language) -> Poem:
    """Find the rhyme places of a sample: the last word of each unit whose letter is not "."."""
    pattern = _format_units(sample.format, language)
    lines = _held_against(_written(sample.text, sample.rhyme, language), sample)
    reference = _written(sample.reference, sample.rhyme, language)
    return Poem(
        sample.id,
        sample.tune,
        _beside(lines, pattern, language),
        reference,
        "" if pattern else sample.format,
        sample.variant,
    )


def _held_against(lines: tuple[UnitLine, ...], sample: Sample) -> tuple[UnitLine, ...]:
    """The lines with the variant's requirement added to each word; unchanged without a variant."""
    places = list(zip(sample.tones, sample.letters, sample.kept, strict=True))
    if len(places) != sum(not is_mark(token.text) for line in lines for token in line.tokens):
        return lines
    rest = iter(places)

    def held(token: Token) -> Token:
        if is_mark(token.text):
            return token
        tone, letter, kept = next(rest)
        return replace(token, asked=tone + letter, kept=kept)

    return tuple(replace(line, tokens=tuple(map(held, line.tokens))) for line in lines)


def _format_units(text: str, language: Language) -> tuple[tuple[str, ...], ...]:
    """The units of slots of a format; () without a format, or if it cannot be parsed."""
    try:
        return parse_format(text, language).units
    except EspalierError:
        return ()


def _written(text: str, rhyme: str, language: Language) -> tuple[UnitLine, ...]:
    units = tokens_by_unit(text, language)
    letters = [letter.replace(".", "") for letter in rhyme[: len(units)].ljust(len(units), ".")]
    places = [rhyme_place(unit) if letter else None for unit, letter in zip(units, letters, strict=True)]
    groups = [
        (group_name(unit[place], language) or "") if place is not None else ""
        for unit, place in zip(units, places, strict=True)
    ]
    pairs = list(zip(letters, groups, strict=True))
    leads = {
        letter: majority([group or None for other, group in pairs if other == letter], min_places=1)
        for letter in letters
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


def _beside(lines: Sequence[UnitLine], pattern: Sequence[tuple[str, ...]], language: Language) -> tuple[UnitLine, ...]:
    compared = []
    for line, unit in zip_longest(lines, pattern):
        expected = _spelled(unit, language) if unit else ""
        if line is None:
            compared.append(UnitLine((), expected=expected))
        elif not pattern:
            compared.append(line)
        else:
            shape = _shape([token.text for token in line.tokens], language)
            actual = "" if unit and shape == _shape(unit, language) else shape
            compared.append(replace(line, expected=expected, actual=actual))
    return tuple(compared)


def _shape(tokens: Sequence[str], language: Language) -> str:
    """Counts and marks of a unit. A literal counts like any word."""
    return _spelled([token if is_mark(token) and token not in (BLANK, RHYME) else BLANK for token in tokens], language)


def _spelled(unit: Sequence[str], language: Language) -> str:
    return str(Format((tuple(unit),), ".", language))


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
    """The default pinyin, with tone, of a character, or the rhyme part of an English word; "" if unknown."""
    if language == "en":
        return group_name(word, language) or ""
    if final_of(word) is None:
        return ""
    from pypinyin import Style, pinyin

    return str(pinyin(word, style=Style.TONE)[0][0])
