"""Formats: the structure that a verse must fill (SongNet, equation 1). `grammar.py` parses their written form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from espalier.io.errors import ConfigError
from espalier.text.language import Language, is_mark, join_tokens, tokens_of
from espalier.verse.marks import HYPHENS, sentences_of
from espalier.verse.slots import BLANK as BLANK
from espalier.verse.slots import BLANKS, shortened
from espalier.verse.slots import RHYME as RHYME
from espalier.verse.text import rhyme_place, units_of, verse_of
from espalier.verse.tones import read_tones


@dataclass(frozen=True, slots=True)
class Format:
    """Units of slots, one rhyme letter per unit ("." for a unit without rhyme), and tones.

    Slots are strings: `BLANK`, `RHYME`, a mark, or a literal word. `tones` has one sign per word, without marks: 平
    level, 仄 oblique, 中 either; it is empty if tones are unknown. `copies` are the words that repeat an earlier word,
    each with that word, by their index among the words.
    """

    units: tuple[tuple[str, ...], ...]
    rhyme: str
    language: Language
    tones: str = ""
    copies: tuple[tuple[int, int], ...] = ()

    def __str__(self) -> str:
        """The canonical spelling: counts if they describe all slots, else the template. `parse_format` reads it."""
        counts = all(_countable(unit) for unit in self.units)
        spelled = (_counts(unit) if counts else join_tokens(unit, self.language) for unit in self.units)
        slots = (slot for unit in self.units for slot in unit)
        splits_itself = self.language == "zh" and tuple(sentences_of(slots)) == self.units
        return ("" if splits_itself else "/").join(spelled)

    @property
    def blanks(self) -> int:
        """The number of words to fill in."""
        return sum(slot in BLANKS for unit in self.units for slot in unit)

    @property
    def place_tones(self) -> tuple[tuple[str, ...], ...]:
        """The tone of each slot of each unit: 平, 仄 or 中; "" at marks. If tones are unknown, all words have 中."""
        signs = iter(self.tones)
        return tuple(tuple("" if is_mark(slot) else next(signs, "中") for slot in unit) for unit in self.units)

    @property
    def mixed_letters(self) -> frozenset[str]:
        """The rhyme letters with both level and oblique places (平仄通叶, as in 西江月)."""
        found: dict[str, set[str]] = {}
        for letter, places, tones in zip(self.rhyme, self.rhyme_places, self.place_tones, strict=True):
            found.setdefault(letter, set()).update(tones[place] for place in places)
        return frozenset(letter for letter, tones in found.items() if tones >= {"平", "仄"})

    @property
    def rhyme_places(self) -> tuple[tuple[int, ...], ...]:
        """For each unit, the indices of its rhyme places: each `#`, else the last word; () if its letter is "."."""
        return tuple(
            rhyme_slots(unit) if letter != "." else () for unit, letter in zip(self.units, self.rhyme, strict=True)
        )

    @property
    def asked(self) -> tuple[tuple[str, str], ...]:
        """The tone and the rhyme letter of each word: 平, 仄 or 中, and "" for no letter.

        A word that is repeated has those of its repetitions as well, where it has none of its own.
        """
        asked = [
            [tone, letter if slot in places else ""]
            for unit, tones, letter, places in zip(
                self.units, self.place_tones, self.rhyme, self.rhyme_places, strict=True
            )
            for slot, (token, tone) in enumerate(zip(unit, tones, strict=True))
            if not is_mark(token)
        ]
        for copy, source in self.copies:
            tone, letter = asked[source]
            asked[source] = [asked[copy][0] if tone == "中" else tone, letter or asked[copy][1]]
        return tuple((tone, letter) for tone, letter in asked)


def with_tones(format_: Format, tones: str) -> Format:
    """A format whose words have these tones; without tones, the format unchanged.

    Raises:
        ConfigError: there are more or fewer signs than words, or other characters.
    """
    if not tones:
        return format_
    signs, words = read_tones(tones), sum(not is_mark(slot) for unit in format_.units for slot in unit)
    if len(signs) != words:
        what = f"'{shortened(tones)}' has {len(signs)} tones, the format {words} words"
        raise ConfigError(what, where="tones", remedy="one sign per word: 平, 仄 or 中")
    return replace(format_, tones=signs)


def with_copies(format_: Format, copies: tuple[tuple[int, int], ...]) -> Format:
    """A format in which words repeat earlier words, each given with the word that it repeats.

    A blank repeats a literal as that literal, and a literal makes its source one.

    Raises:
        ConfigError: a literal differs from the literal that it should repeat.
    """
    units = [list(unit) for unit in format_.units]
    places = [(row, slot) for row, unit in enumerate(units) for slot, token in enumerate(unit) if not is_mark(token)]
    for copy, source in copies:
        (row, slot), (other, origin) = places[copy], places[source]
        words = {units[row][slot], units[other][origin]} - {*BLANKS}
        if len(words) > 1:
            what = f"'{units[row][slot]}' where '{units[other][origin]}' is repeated"
            raise ConfigError(what, where=f"unit {row + 1}", remedy="give both the same word, or one of them none")
        if words:
            units[row][slot] = units[other][origin] = words.pop()
    return replace(format_, units=tuple(map(tuple, units)), copies=copies)


def format_of(text: str, language: Language, rhyme: str, tones: str = "") -> Format:
    """The format of a given verse: words become blanks, and marks are kept.

    Args:
        rhyme: one letter per unit; a unit with "." has no rhyme place.
        tones: one sign per word, or nothing.

    Raises:
        ConfigError: the numbers of tones and words differ.
    """
    units = []
    for unit, letter in zip(units_of(text), rhyme, strict=True):
        tokens = tokens_of(unit, language)
        slots = [token if is_mark(token) else BLANK for token in tokens]
        place = rhyme_place(tokens)
        if letter != "." and place is not None:
            slots[place] = RHYME
        units.append(tuple(slots))
    return with_tones(Format(tuple(units), rhyme, language), tones)


def fill(format_: Format, words: Sequence[str]) -> str:
    """Fill the blanks of a format with `words`, in order.

    Raises:
        ConfigError: there are more or fewer words than blanks.
    """
    if len(words) != format_.blanks:
        raise ConfigError(f"{len(words)} words for {format_.blanks} blanks", where="format")
    rest = iter(words)
    filled = ([next(rest) if slot in BLANKS else slot for slot in unit] for unit in format_.units)
    return verse_of(filled, format_.language)


def rhyme_slots(unit: tuple[str, ...]) -> tuple[int, ...]:
    """The indices of the slots that rhyme in a unit: each `#`, else the last word."""
    last = rhyme_place(unit)
    written = tuple(index for index, slot in enumerate(unit) if slot == RHYME)
    return written or (() if last is None else (last,))


def _countable(unit: tuple[str, ...]) -> bool:
    """Whether counts can describe a unit: no literal, no hyphen, and `#` only at the last word."""
    rhymes = [index for index, slot in enumerate(unit) if slot == RHYME]
    return rhymes in ([], [rhyme_place(unit)]) and all(
        slot in BLANKS or (is_mark(slot) and slot[0] not in HYPHENS) for slot in unit
    )


def _counts(unit: tuple[str, ...]) -> str:
    runs = ((blank, list(run)) for blank, run in groupby(unit, key=lambda slot: slot in BLANKS))
    return "".join(str(len(run)) if blank else "".join(run) for blank, run in runs)
