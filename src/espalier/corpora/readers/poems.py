"""Poems: verse from local text files, one unit per line, with an empty line after each poem."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from espalier.corpora.readers.english import tokens_in
from espalier.corpora.readers.files import files_of
from espalier.corpora.readers.rows import fault_of, quarantined
from espalier.corpora.records import Quarantined, Verse
from espalier.io.errors import ConfigError
from espalier.io.text_files import lines_of
from espalier.text.language import is_mark, join_tokens
from espalier.text.normalize import visible
from espalier.verse.text import join_units

TITLE = "#"


def read(folders: Mapping[str, Path], *, language: str, rhyme: str = "") -> Iterator[Verse | Quarantined]:
    """Every poem of every file, in the order of sources, paths and lines.

    A first line that begins with # is the poem's title (`tune`). Ids are `<source>/<file without its last suffix>/<row
    of the first line>`, with rows from 1. English words are those of `espalier.corpora.readers.english`; Chinese words
    are characters without white space. Reasons for quarantine: "title without lines", "line without words", and the
    reasons of `fault_of`.

    Args:
        folders: source names and their folders.
        language: language of the poems.
        rhyme: rhyme scheme, such as ABAB, of the poems with as many lines as it has letters; other poems have no rhyme.

    Raises:
        ConfigError: there is no source, or the scheme has characters other than letters and ".".
        DataError: a source has no files, or a file is not UTF-8; the message names the file and the row.
    """
    if not all(letter == "." or letter.isalpha() for letter in rhyme):
        raise ConfigError(f"rhyme {rhyme!r}", where="reader poems", remedy="a letter for each line, . for none")
    for origin, file, name in files_of(folders, "poems"):
        for row, lines in _stanzas(lines_of(file)):
            yield _poem(f"{origin}/{name}/{row}", lines, origin, language, rhyme)


def _stanzas(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Runs of lines with visible characters, each with the row of its first line. Invisible characters are removed."""
    run: list[str] = []
    for row, line in enumerate([*lines, ""], start=1):
        if seen := visible(line).strip():
            run.append(seen)
        elif run:
            yield row - len(run), run
            run = []


def _poem(id: str, lines: list[str], origin: str, language: str, rhyme: str) -> Verse | Quarantined:
    text = "\n".join(lines)
    title = lines[0].lstrip(TITLE).strip() if lines[0].startswith(TITLE) else ""
    body = "\n".join(lines[1:] if lines[0].startswith(TITLE) else lines)
    if reason := fault_of(text):
        return quarantined(id, reason, text)
    if not body:
        return quarantined(id, "title without lines", text)
    units = tokens_in(body) if language == "en" else [list("".join(line.split())) for line in body.split("\n")]
    if any(all(is_mark(token) for token in unit) for unit in units):
        return quarantined(id, "line without words", text)
    return Verse(
        id=id,
        origin=origin,
        language=language,
        target=join_units(join_tokens(unit, "zh" if language == "zh" else "en") for unit in units),
        author="",
        tune=title,
        rhyme=rhyme if len(rhyme) == len(units) else "." * len(units),
    )
