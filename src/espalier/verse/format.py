"""Formats: the rigid shape that a verse must fill (SongNet, equation 1), and the one grammar in which people write it.

A format is units of slots. A slot is `_` (a word to find), `#` (a word to find that rhymes), a punctuation mark, or a
literal word that stays. Two ways to write one, on the command line and in files:

    counts      5,5。7,5。             five words, a comma, five words, a full stop; ...
    template    _雨___，____到。       literals stay, each `_` or `#` is filled

A Chinese unit ends after 。！？ (and at `/`), an English one at `/` or a line feed. ASCII marks become full-width
ones in Chinese, and the reverse in English; `＿`, `＃` and `／` are `_`, `#` and `/`. Where no `#` is written, the last
word of each unit is a rhyme place, as in training (paper, equation 3), unless `rhyme` says `.` there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from espalier.io.errors import ConfigError
from espalier.text.language import Language, is_mark, join_tokens, tokens_of
from espalier.verse.text import TERMINALS, join_units, rhyme_place, units_of

BLANK = "_"
RHYME = "#"
#: No format that a person means is longer than this.
LONGEST = 999

_WIDE = str.maketrans(",.!?;:", "，。！？；：")
_NARROW = str.maketrans("，。！？；：、’", ",.!?;:,'")
_SIGNS = str.maketrans("＿＃／", "_#/")
_ENGLISH = re.compile(r"[_#/]|\d+|['’]?[^\W\d_]+(?:['’-][^\W\d_]+)*['’]?|-+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Format:
    """Units of slots, and one rhyme letter per unit ("." where a unit rhymes with none).

    Slots are strings: `BLANK`, `RHYME`, a mark, or a literal word.
    """

    units: tuple[tuple[str, ...], ...]
    rhyme: str
    language: Language

    def __str__(self) -> str:
        """The canonical spelling: counts where they say it all, else the template. `parse_format` reads it back."""
        if all(_countable(unit) for unit in self.units):
            return self._break().join(_counts(unit) for unit in self.units)
        return self._break().join(join_tokens(unit, self.language) for unit in self.units)

    def _break(self) -> str:
        closed = self.language == "zh" and all(unit[-1] in TERMINALS for unit in self.units[:-1])
        return "" if closed else "/"

    @property
    def blanks(self) -> int:
        """How many words are to be found."""
        return sum(slot in (BLANK, RHYME) for unit in self.units for slot in unit)


def parse_format(text: str, language: Language, rhyme: str | None = None) -> Format:
    """Read a format as people write it.

    Args:
        text: counts or a template, see the module's docstring.
        rhyme: one letter per unit, "." for none; None means the default, one group ("A") for all.

    Raises:
        ConfigError: it is empty, too long, has a count of 0, a mark with nothing before it, nothing to fill, or
            letters that do not fit its units.
    """
    if not text.strip():
        raise ConfigError(
            "the format is empty", where="format", remedy="write counts (5,5。7,5。) or a template (_雨___。)"
        )
    if len(text) > LONGEST:
        raise ConfigError(f"the format has {len(text)} characters", where="format", remedy=f"at most {LONGEST}")
    units = [
        unit for part in re.split(r"[/\n]", text.translate(_SIGNS)) if part.strip() for unit in _units(part, language)
    ]
    format_ = Format(tuple(units), "", language)
    if not format_.blanks:
        raise ConfigError(
            f"'{_short(text)}' leaves nothing to write",
            where="format",
            remedy=f"give counts (5,5。7,5。), or blanks as {BLANK} and {RHYME}",
        )
    return _with_rhyme(format_, rhyme)


def format_of(text: str, language: Language, rhyme: str) -> Format:
    """The format that a given verse fills: its words become blanks, its marks stay.

    Args:
        rhyme: one letter per unit; a unit with "." has no rhyme place.
    """
    units = []
    for unit, letter in zip(units_of(text), rhyme, strict=True):
        tokens = tokens_of(unit, language)
        slots = [token if is_mark(token) else BLANK for token in tokens]
        place = rhyme_place(tokens)
        if letter != "." and place is not None:
            slots[place] = RHYME
        units.append(tuple(slots))
    return Format(tuple(units), rhyme, language)


def fill(format_: Format, words: Sequence[str]) -> str:
    """The verse that puts `words`, in order, into the blanks.

    Raises:
        ConfigError: there are more or fewer words than blanks.
    """
    if len(words) != format_.blanks:
        raise ConfigError(f"{len(words)} words for {format_.blanks} blanks", where="format")
    rest = iter(words)
    filled = ([next(rest) if slot in (BLANK, RHYME) else slot for slot in unit] for unit in format_.units)
    return join_units(join_tokens(unit, format_.language) for unit in filled)


def _units(part: str, language: Language) -> list[tuple[str, ...]]:
    units: list[list[str]] = [[]]
    for token in _tokens(part, language):
        if token.isdecimal():
            count = int(token)
            if not 0 < count <= LONGEST:
                raise ConfigError(
                    f"a count of {_short(token)}", where="format", remedy=f"counts go from 1 to {LONGEST}"
                )
            if units[-1] and not is_mark(units[-1][-1]):
                raise ConfigError(f"'{token}' follows a word without a mark", where="format")
            units[-1] += [BLANK] * count
        else:
            if is_mark(token) and (not units[-1] or is_mark(units[-1][-1])):
                raise ConfigError(f"'{token}' in '{_short(part)}' has no words before it", where="format")
            units[-1].append(token)
        if language == "zh" and token in TERMINALS:
            units.append([])
    return [tuple(unit) for unit in units if unit]


def _tokens(part: str, language: Language) -> list[str]:
    if language == "en":
        return _ENGLISH.findall(part.lower().translate(_NARROW))
    return re.findall(r"\d+|\S", part.translate(_WIDE))


def _with_rhyme(format_: Format, rhyme: str | None) -> Format:
    count = len(format_.units)
    letters = "A" * count if rhyme is None else rhyme
    if not re.fullmatch(r"[A-Za-z.]*", letters):
        raise ConfigError(
            f"'{_short(letters)}' has more than letters and dots", where="rhyme", remedy="for example .A.A"
        )
    if len(letters) != count:
        raise ConfigError(
            f"'{_short(letters)}' has {len(letters)} letters, the format {count} units",
            where="rhyme",
            remedy="one letter per unit, . for none",
        )
    chosen = any(RHYME in unit for unit in format_.units)
    units, kept = [], ""
    for number, (unit, letter) in enumerate(zip(format_.units, letters.upper(), strict=True), start=1):
        place = rhyme_place(unit)
        if chosen and rhyme is None and RHYME not in unit:
            letter = "."
        open_ = letter != "." and RHYME not in unit
        if open_ and (place is None or (unit[place] == BLANK and chosen)):
            raise ConfigError(
                f"unit {number} has the rhyme letter {letter} but no place for it",
                where="rhyme",
                remedy=f"write {RHYME} where it shall rhyme, or . for the letter",
            )
        if open_ and place is not None and unit[place] == BLANK:
            unit = (*unit[:place], RHYME, *unit[place + 1 :])
        if letter == ".":
            unit = tuple(BLANK if slot == RHYME else slot for slot in unit)
        units.append(unit)
        kept += letter
    return Format(tuple(units), kept, format_.language)


def _countable(unit: tuple[str, ...]) -> bool:
    """Whether counts describe a unit: no literals, and no rhyme but where one stands by default."""
    rhymes = [index for index, slot in enumerate(unit) if slot == RHYME]
    return rhymes in ([], [rhyme_place(unit)]) and all(is_mark(slot) or slot in (BLANK, RHYME) for slot in unit)


def _counts(unit: tuple[str, ...]) -> str:
    spelled, run = "", 0
    for slot in (*unit, ""):
        if slot in (BLANK, RHYME):
            run += 1
        else:
            spelled += (str(run) if run else "") + slot
            run = 0
    return spelled


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
