"""Frames of Chinese verse, compiled: what the rules say becomes a format, and the format a plan.

The format is that of the library (`espalier.verse.format`), which is also encoded for its own models; their constraints
read the plan from its ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, get_args

from espalier.frames.automaton import OPEN
from espalier.frames.plan import Plan, plan_of
from espalier.io.errors import ConfigError
from espalier.text.language import is_mark
from espalier.verse.books import REMEDY, Book
from espalier.verse.ci_books import CiBooks
from espalier.verse.format import Format
from espalier.verse.grammar import parse_format
from espalier.verse.slots import BLANK, BLANKS, RHYME, shortened
from espalier.verse.sounds import Sounds
from espalier.verse.tones import blanks_of, read_tones
from espalier.verse.tunes import tune, tunes
from espalier.verse.variants import EITHER, Variant

Said = Mapping[str, Any]
#: What is wrong with rules that do not say how many words a text has.
NO_FORMAT: Final = "the rules give no format"
#: The rhyme book of ci.
CI_BOOK: Final[Book] = "cilin"


def book_of(said: Said) -> Book:
    """The rhyme book: Mandarin unless a rule names another, for a tune Cilin zhengyun.

    Raises:
        ConfigError: there is no such book.
    """
    book: Book = said.get("book") or (CI_BOOK if "tune" in said else "mandarin")
    if book not in get_args(Book):
        raise ConfigError.unknown("book", book, get_args(Book), where="book")
    return book


def needed(said: Said, books: CiBooks | None) -> CiBooks | None:
    """The books, if a rule needs them.

    Raises:
        ConfigError: they are not given.
    """
    tune_of_book = "tune" in said and (said.get("variant") or said.get("tone") or said["tune"] not in tunes())
    if books is None and (book_of(said) != "mandarin" or tune_of_book):
        without = ", or take the book mandarin" if "tune" in said and not tune_of_book else ""
        remedy = f"{REMEDY} in a clone, or give their folder{without}"
        raise ConfigError("no books of rhymes and tunes are at hand", where="book", remedy=remedy)
    return books


def without_format() -> ConfigError:
    """The error for rules that do not say how many words a text has."""
    remedy = "join Format, Tones, Tune, Form, Syllables or Meter to them"
    return ConfigError(NO_FORMAT, where="format", remedy=remedy)


def compiled(said: Said, books: CiBooks | None, variant: Variant | None = None) -> Plan:
    """The plan of what the rules say.

    Args:
        variant: the variant of the tune; by default the one that most Song ci follow.

    Raises:
        ConfigError: the rules contradict each other, give no format, or need a book that is not given.
    """
    books = needed(said, books)
    if "tune" in said and variant is None and books is not None:
        variant = books.tunes.variant(said["tune"], said.get("variant"))
    text, rhyme, tones = said.get("format"), said.get("rhyme"), said.get("tones", "")
    named = variant or (tune(said["tune"]) if "tune" in said else None)
    sounds = Sounds(
        "zh", book_of(said), bool(tones or said.get("tone") or (variant and book_of(said) != "mandarin")),
        books.rhyme_books if books else None, bool(said.get("rare")),
    )  # fmt: skip
    if named is not None:
        agree("rhyme", rhyme, named.rhyme, f"the tune {said['tune']}")
        rhyme = named.rhyme
        if variant is not None and sounds.tone:
            at_rhymes = variant.rhyme_tones if book_of(said) != "mandarin" else ""
            tones = _joined(tones, variant.tones if said.get("tone") else at_rhymes, said["tune"])
    if named is not None and text is not None:
        _require_tune(parse_format(text, "zh"), parse_format(named.pattern, "zh"), said["tune"])
    if text is None:
        pattern = variant.full_pattern if variant is not None else named.pattern if named is not None else None
        text = pattern or (blanks_of(tones) if tones else None)
    if text is None:
        raise without_format()
    copies = named.copies if named is not None else ()
    format_ = parse_format(
        text, "zh", rhyme, tones=tones, acrostic=said.get("acrostic", ""), copies=copies, sounds=sounds
    )
    if named is None and not said.get("rhymes") and RHYME not in text:
        format_ = without_rhyme(format_)
    if foreign := next((word for word in said.get("words", ()) if not all(map(OPEN["han"].match, word))), None):
        what, remedy = f"'{foreign}' has more than Chinese characters", "give words in Chinese, or an English frame"
        raise ConfigError(what, where="words", remedy=remedy)
    return plan_of(format_, sounds, said.get("words", ()), exact=said.get("marks", True))


def agree(name: str, given: str | None, own: str | None, of: str) -> None:
    """Raise a ConfigError if a rule says something else than a tune or a form has. Letters of rhymes may differ."""
    if given is None or own is None or given == own or (name == "rhyme" and _alike(given) == _alike(own)):
        return
    what = f"rules contradict each other: {name} is '{shortened(given)}' in Rhyme and '{own}' in {of}"
    raise ConfigError(what, where=name, remedy="leave out one of them")


def _joined(tones: str, of_tune: str, name: str) -> str:
    """The tones that a rule says and those of a tune, one of which may be empty; a ConfigError if they differ."""
    signs = read_tones(tones) if tones else ""
    if not (signs and of_tune) or len(signs) != len(of_tune):  # another number of signs is told of the format
        return tones or of_tune
    for place, (sign, own) in enumerate(zip(signs, of_tune, strict=True), start=1):
        if EITHER not in (sign, own) and sign != own:
            what = (
                f"rules contradict each other: the tone of word {place} is {sign} in Tones and {own} in the tune {name}"
            )
            raise ConfigError(what, where="tones", remedy="leave out one of them")
    return "".join(own if sign == EITHER else sign for sign, own in zip(signs, of_tune, strict=True))


def _alike(rhyme: str) -> list[int]:
    """Which units rhyme, whatever letters say so."""
    return [-1 if letter == "." else rhyme.upper().index(letter) for letter in rhyme.upper()]


def _require_tune(format_: Format, of_tune: Format, name: str) -> None:
    """Raise a ConfigError if a format beside a tune has other clauses."""
    for number, (unit, other) in enumerate(zip(format_.units, of_tune.units, strict=False), start=1):
        if [*map(is_mark, unit)] != [*map(is_mark, other)]:
            what = f"the format has other clauses than {name}"
            where = f"unit {number}"
            raise ConfigError(f"rules contradict each other: {what}", where=where, remedy=f"it has {of_tune}")
    if len(format_.units) != len(of_tune.units):
        what = f"the format has {len(format_.units)} units, {name} {len(of_tune.units)}"
        raise ConfigError(f"rules contradict each other: {what}", where="format", remedy=f"it has {of_tune}")


def without_rhyme(format_: Format) -> Format:
    """A format without rhyme letters."""
    units = tuple(tuple(BLANK if slot in BLANKS else slot for slot in unit) for unit in format_.units)
    return replace(format_, units=units, rhyme="." * len(units))
