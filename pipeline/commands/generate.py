"""generate and polish: verse in given formats."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

from espalier.inference.requests import VerseRequest
from espalier.inference.results import Poem
from espalier.io.errors import ArtifactError, ConfigError
from espalier.text.language import Language, tokens_of
from espalier.verse.books import REMEDY, Book
from espalier.verse.ci_books import open_books
from espalier.verse.format import Format, parse_format
from espalier.verse.slots import BLANKS
from espalier.verse.sounds import Sounds
from espalier.verse.text import units_of
from espalier.verse.tunes import tunes
from pipeline import layout
from pipeline.commands.requests import answer_all, as_options, read_requests, require_count
from pipeline.params import load_params
from pipeline.systems import open_system


def requests_of(file: Path | None, given: Sequence[VerseRequest]) -> list[VerseRequest]:
    """A request a line: format, rhyme letters, tune, variant, tones, acrostic."""
    example = "one format a line; after tabs its rhyme letters, tune, variant, tones and acrostic"
    return read_requests(file, given, _request, example)


def _request(fields: list[str], name: str) -> VerseRequest:
    format_, rhyme, tune, variant, tones, acrostic = (field or None for field in [*fields, *[""] * 5][:6])
    if variant is not None and not (variant.isascii() and variant.isdecimal()):
        raise ConfigError(f"'{variant}' is no number of a variant", where=name, remedy="for example 2")
    return VerseRequest(format_, rhyme, tune, name, int(variant) if variant else None, tones, acrostic)


def write(
    method: str, requests: Sequence[VerseRequest], model: str | None, language: Language, *, json: bool, **options: Any
) -> None:
    """Print `n` texts for each request.

    Args:
        method: "generate" or "polish".
        options: of `espalier.inference.verse.VerseWriter`.
    """
    require_count(options["n"] * len(requests))
    # Rhymes are those of single characters; without its dictionary of phrases pypinyin is imported 0.3 s sooner.
    os.environ.setdefault("PYPINYIN_NO_PHRASES", "1")
    if options["book"] not in get_args(Book):
        raise ConfigError.unknown("book", options["book"], get_args(Book), where="--book")
    options["tone"] = options["tone"] or any(request.tones for request in requests)
    by_variant = (
        options["tone"] or options["book"] != "mandarin" or any(request.variant is not None for request in requests)
    )
    named = {request.tune for request in requests if request.tune and request.format is None}
    folder = _couyun()
    if options["book"] != "mandarin" or (named and by_variant) or (folder and named - tunes().keys()):
        if folder is None:
            own = layout.raw("forms/couyun")
            raise ArtifactError("no rhyme books and variants of tunes", where=own, remedy=REMEDY)
        books = open_books(folder)
        options["tunes"] = books.tunes
        if options["book"] != "mandarin":
            options["books"] = books.sounds
    system = open_system(load_params(), method, language, model=model)
    with as_options():
        writer = system.writer(method, **options)
        sounds = Sounds(language, options["book"], options["tone"], options.get("books"))
        answer_all(writer, requests, lambda _, poem: page_of(poem, language, sounds), as_json=json)


def _couyun() -> Path | None:
    """The folder of the source with the rhyme books and the variants of tunes: this profile's, or another's."""
    folders = (root / layout.raw("forms/couyun") for root in (Path(), *layout.PROFILES.values()))
    return next(filter(Path.is_dir, folders), None)


def page_of(poem: Poem, language: Language, sounds: Sounds | None = None) -> str:
    """A heading, then a unit a line; rhyme letters and their sounds stand in a column of their own.

    Args:
        sounds: by which the poem rhymes. Other readings of a word stand after those that rhyme and fit its place.
    """
    from rich.cells import cell_len

    sounds = sounds or Sounds(language)
    units, format_ = (
        units_of(poem.text),
        parse_format(poem.format, language, poem.rhyme, tones=poem.tones, sounds=sounds),
    )
    width = max((cell_len(unit) for unit in units), default=0)
    parts = [part for part in (poem.tune, poem.format.replace("\n", "/"), f"seed {poem.seed}") if part]
    lines = ["  ".join([*parts, f"no. {poem.sample + 1}"])]
    words = [_rhyme_words(unit, format_, index, sounds) for index, unit in enumerate(units)]
    letters = poem.rhyme.ljust(len(units), ".")
    shared = {letter: _shared(words, letters, letter, sounds) for letter in set(letters)}
    for unit, letter, at_places in zip(units, letters, words, strict=False):
        named = "/".join(dict.fromkeys(_groups(word, sounds, shared[letter]) for word in at_places)) or "?"
        rhyme = "" if letter == "." else f"   {letter} {named}"
        lines.append(f"  {unit}{' ' * (width - cell_len(unit)) if rhyme else ''}{rhyme}")
    return "\n".join([*lines, ""])


class _RhymeWord(NamedTuple):
    """A word at a rhyme place, the tone of the place, and whether the format gives the word."""

    word: str
    tone: str
    given: bool


def _rhyme_words(unit: str, format_: Format, index: int, sounds: Sounds) -> list[_RhymeWord]:
    """The words at the rhyme places of a unit; its last word, if the text does not keep to the format."""
    from espalier.verse.text import rhyme_place

    tokens = tokens_of(unit, format_.language)
    slots = format_.units[index] if index < len(format_.units) else ()  # a free text may have more units
    if len(tokens) != len(slots):
        last = rhyme_place(tokens)
        return [] if last is None else [_RhymeWord(tokens[last], "", given=False)]
    tones = format_.place_tones[index] if sounds.tone else [""] * len(slots)
    return [
        _RhymeWord(tokens[place], tones[place], slots[place] not in BLANKS) for place in format_.rhyme_places[index]
    ]


def _shared(words: Sequence[Sequence[_RhymeWord]], letters: str, letter: str, sounds: Sounds) -> frozenset[str]:
    """The rhyme groups that all words under a letter have a reading in."""
    groups = [
        sounds.groups(word, tone, every=given)
        for at_places, own in zip(words, letters, strict=False)
        for word, tone, given in at_places
        if own == letter
    ]
    return frozenset.intersection(*groups) if groups else frozenset()


def _groups(at_place: _RhymeWord, sounds: Sounds, shared: frozenset[str]) -> str:
    """The rhyme groups of a word; in brackets those of readings that do not rhyme, that its place does not take, or
    that are rarer.
    """
    word, tone, given = at_place
    usual, every = sounds.groups(word, tone), sounds.groups(word, every=given)
    fitting = (usual & shared) or (every & shared) or usual
    others = f" ({'/'.join(sorted(every - fitting))})" if every - fitting else ""
    return ("/".join(sorted(fitting)) or "?") + others
