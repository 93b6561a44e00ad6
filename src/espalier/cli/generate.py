"""The commands `generate` and `polish`: verse in given formats."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from espalier.cli.models import models
from espalier.cli.requests import answer_all, as_options, read_requests, require_count
from espalier.inference.requests import VerseRequest
from espalier.inference.results import Poem
from espalier.io.errors import ArtifactError, ConfigError
from espalier.text.language import Language
from espalier.verse.books import REMEDY, Book
from espalier.verse.ci_books import open_books
from espalier.verse.text import units_of
from espalier.verse.tunes import tunes


def requests_of(file: Path | None, given: Sequence[VerseRequest]) -> list[VerseRequest]:
    """Requests, one per line: format, rhyme letters, tune, variant, tones, acrostic."""
    example = "one format a line; after tabs its rhyme letters, tune, variant, tones and acrostic"
    return read_requests(file, given, _request, example, fields=6)


def _request(fields: list[str], name: str) -> VerseRequest:
    format_, rhyme, tune, variant, tones, acrostic = (field or None for field in [*fields, *[""] * 5][:6])
    if variant is not None and not (variant.isascii() and variant.isdecimal() and len(variant) < 10):
        raise ConfigError(f"'{variant}' is no number of a variant", where=name, remedy="for example 2")
    return VerseRequest(format_, rhyme, tune, name, int(variant) if variant else None, tones, acrostic)


def write(
    method: str, requests: Sequence[VerseRequest], model: str | None, language: Language, *, json: bool, **options: Any
) -> None:
    """Print `n` texts for each request.

    Args:
        method: "generate" or "polish".
        options: keyword arguments of `espalier.inference.verse.VerseWriter`.
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
    folder = models().books()
    if options["book"] != "mandarin" or (named and by_variant) or (folder and named - tunes().keys()):
        if folder is None:
            raise ArtifactError("no rhyme books and variants of tunes", where="data/raw/forms/couyun", remedy=REMEDY)
        books = open_books(folder)
        options["tunes"] = books.tunes
        if options["book"] != "mandarin":
            options["books"] = books.rhyme_books
    system = models().open(method, language, model=model)
    with as_options():
        writer = system.writer(method, **options)
        answer_all(writer, requests, lambda _, poem: page_of(poem), as_json=json)


def page_of(poem: Poem) -> str:
    """A heading, then one unit per line. Rhyme letters and rhyme groups have their own columns."""
    from rich.cells import cell_len

    units = units_of(poem.text)
    width = max((cell_len(unit) for unit in units), default=0)
    parts = [part for part in (poem.tune, poem.format.replace("\n", "/"), f"seed {poem.seed}") if part]
    lines = ["  ".join([*parts, f"no. {poem.sample + 1}"])]
    for index, (unit, groups) in enumerate(zip(units, poem.rhyme_groups, strict=True)):
        rhyme = f"   {poem.rhyme[index]} {groups}" if groups else ""
        lines.append(f"  {unit}{' ' * (width - cell_len(unit)) if rhyme else ''}{rhyme}")
    return "\n".join([*lines, ""])
