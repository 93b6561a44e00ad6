"""The grammar of written formats, and acrostics (藏头), which spell a given text in them.

A format is a sequence of units, a unit a sequence of slots. A slot is `_` (a blank: any word), `#` (a blank that
rhymes), a punctuation mark, or a literal word that is kept. There are two notations:

    counts      5,5。7,5。             five words, a comma, five words, a full stop; ...
    template    _雨___，____到。       literals are kept, each `_` or `#` is filled

A count may be next to a literal (`2灯。`), but not next to a blank (`3_`). A unit ends at `/` or a line feed; a Chinese
unit also ends after 。！？ and closing marks after them (。”). Marks become full-width in Chinese and ASCII in English;
`＿`, `＃` and `／` are `_`, `#` and `/`.

Units with the same rhyme letter rhyme. A unit rhymes at each `#`, else at its last word. Without `rhyme`, all units
share one letter (as in training; paper, equation 3), or, if there is any `#`, all units with `#`.

A literal at a rhyme place fixes the rhyme of its letter: blanks with that letter must rhyme with it. If `rhyme` is
given, a literal of unknown sound, or one that does not rhyme with an earlier literal of its letter, is an error.
Without `rhyme`, its unit has no rhyme.

Tones are one sign per word: 平 level, 仄 oblique, 中 either. An acrostic gives the first words of the sentences, or of
the clauses if it has more words than there are sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from espalier.io.errors import ConfigError
from espalier.text.language import Language, is_mark, join_tokens, tokens_of
from espalier.verse.format import Format, rhyme_slots, with_copies, with_tones
from espalier.verse.literals import with_literals
from espalier.verse.marks import HYPHENS, misplaced_mark, sentences_of
from espalier.verse.slots import BLANK, BLANKS, RHYME, is_literal, shortened
from espalier.verse.sounds import Sounds
from espalier.verse.text import rhyme_place

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


#: The longest format in characters, and the largest count.
LONGEST = 999
#: The most words and marks of a format, all counts together.
MOST = 10_000

_COUNTS = {"zh": "5,5。7,5。", "en": "8,/8./8,/8."}
#: The marks of other keyboards, as Chinese writes them.
WIDE = str.maketrans(",.!?;:()", "，。！？；：（）")
_NARROW = str.maketrans("，。！？；：、（）’‘“”", ",.!?;:,()''\"\"")
_SIGNS = str.maketrans("＿＃／", "_#/")
_ENGLISH = re.compile(r"[_#/]|\d+|['’]?[^\W\d_]+(?:['’-][^\W\d_]+)*['’]?|-+|[^\w\s]")


def parse_format(
    text: str,
    language: Language,
    rhyme: str | None = None,
    *,
    tones: str = "",
    acrostic: str = "",
    copies: tuple[tuple[int, int], ...] = (),
    sounds: Sounds | None = None,
) -> Format:
    """Parse a format.

    Args:
        text: counts or a template, see the module's docstring.
        rhyme: one letter per unit, "." for none; None means one group ("A") for all units.
        tones: one sign per word; marks, spaces and "/" between them are ignored.
        acrostic: the first words of the sentences or clauses.
        copies: the words that repeat earlier words (`Format.copies`).
        sounds: the rhyme book for literals, and whether they must have the tones of their places; Mandarin without
            tones by default.

    Raises:
        ConfigError: the text is not a format, is too long or has nothing to fill; the letters, tones or acrostic do not
            match its units; or its literals have wrong tones or do not rhyme.
    """
    sounds = sounds or Sounds(language)
    if not text.strip():
        raise ConfigError(
            "the format is empty", where="format", remedy="write counts (5,5。7,5。) or a template (_雨___。)"
        )
    if len(text) > LONGEST:
        raise ConfigError(f"the format has {len(text)} characters", where="format", remedy=f"at most {LONGEST}")
    parts = re.split(r"[/\n]", text.translate(_SIGNS))
    units: tuple[tuple[str, ...], ...] = ()
    for part in filter(str.strip, parts):
        units += tuple(_units(part, language))
        if sum(map(len, units)) > MOST:
            raise _too_many()
    if not any(slot in BLANKS for unit in units for slot in unit):
        raise ConfigError(
            f"'{shortened(text)}' leaves nothing to write",
            where="format",
            remedy=f"give counts ({_COUNTS[language]}), or blanks as {BLANK} and {RHYME}",
        )
    format_ = with_tones(_with_rhyme(units, language, rhyme), tones)
    if acrostic:
        format_ = with_acrostic(format_, acrostic)
    if copies:
        try:
            format_ = with_copies(format_, copies)
        except ConfigError as error:
            if not acrostic:
                raise
            remedy = "give both the same word, or another acrostic"
            raise ConfigError(error.what, where="acrostic", remedy=remedy) from error
    return with_literals(format_, sounds, strict=rhyme is not None)


def _units(part: str, language: Language) -> list[tuple[str, ...]]:
    """The units of a text without line breaks."""
    tokens = _tokens(part, language)
    slots: list[str] = []
    for index, token in enumerate(tokens):
        before, after = (tokens[i] if 0 <= i < len(tokens) else "" for i in (index - 1, index + 1))
        if token in HYPHENS and before.isdecimal() and after.isdecimal():
            raise _not_counts(f"{before}{token}{after}", "is no count", language)
        if token.isdecimal():
            slots += [BLANK] * _count(token)
        elif is_mark(token) or token in BLANKS or is_literal(token, language):
            slots.append(token)
        else:
            raise _not_counts(token, "is no count, blank, mark or word", language)
        if _is_filled(before) and _is_filled(token) and (before.isdecimal() or token.isdecimal()):
            raise _not_counts(f"{before} {token}", "has a count beside a blank or a count", language)
        if len(slots) > MOST:
            raise _too_many()
    units = sentences_of(slots) if language == "zh" else [tuple(slots)]
    for unit in units:
        if mark := misplaced_mark(unit):
            raise ConfigError(f"'{mark}' in '{shortened(part)}' has no words before it", where="format")
        if rhyme_place(unit) is None:
            raise ConfigError(f"'{shortened(join_tokens(unit, language))}' has no words", where="format")
    return units


def _tokens(part: str, language: Language) -> list[str]:
    if language == "en":
        return _ENGLISH.findall(part.lower().replace("...", "…").translate(_NARROW))
    return re.findall(r"\d+|\S", part.translate(WIDE))


def _count(token: str) -> int:
    count = int(token)
    if not 0 < count <= LONGEST:
        raise ConfigError(f"a count of {shortened(token)}", where="format", remedy=f"counts go from 1 to {LONGEST}")
    return count


def _too_many() -> ConfigError:
    return ConfigError("the format has too many words and marks", where="format", remedy=f"at most {MOST:,}")


def _is_filled(token: str) -> bool:
    """Whether a token stands for words to fill in."""
    return token.isdecimal() or token in BLANKS


def _not_counts(token: str, fault: str, language: Language) -> ConfigError:
    return ConfigError(
        f"'{shortened(token)}' {fault}", where="format", remedy=f"counts look like {_COUNTS[language]}, blanks like ___"
    )


def _with_rhyme(units: tuple[tuple[str, ...], ...], language: Language, rhyme: str | None) -> Format:
    """The format with its letters, and with `#` at the last word of each rhyming unit that has no `#` yet."""
    letters = "A" * len(units) if rhyme is None else rhyme
    if not re.fullmatch(r"[A-Za-z.]*", letters):
        raise ConfigError(
            f"'{shortened(letters)}' has more than letters and dots", where="rhyme", remedy="for example .A.A"
        )
    if len(letters) != len(units):
        raise ConfigError(
            f"'{shortened(letters)}' has {len(letters)} letters, the format {len(units)} units",
            where="rhyme",
            remedy="one letter per unit, . for none",
        )
    written = any(RHYME in unit for unit in units)
    marked, kept = [], ""
    for number, (unit, letter) in enumerate(zip(units, letters.upper(), strict=True), start=1):
        if written and rhyme is None and RHYME not in unit:
            letter = "."
        if letter == ".":
            unit = tuple(BLANK if slot == RHYME else slot for slot in unit)
        elif RHYME not in unit:
            (last,) = rhyme_slots(unit)
            if unit[last] == BLANK and written:
                raise ConfigError(
                    f"unit {number} has the rhyme letter {letter} but no position for it",
                    where="rhyme",
                    remedy=f"write {RHYME} where it shall rhyme, or . for the letter",
                )
            if unit[last] == BLANK:
                unit = (*unit[:last], RHYME, *unit[last + 1 :])
        marked.append(unit)
        kept += letter
    return Format(tuple(marked), kept, language)
