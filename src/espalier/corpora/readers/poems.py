"""Poems: verse from local text files, one unit per line, with an empty line after each poem."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from espalier.corpora.readers.english import tokens_in
from espalier.corpora.readers.files import files_of
from espalier.corpora.readers.framing import UNREADABLE, Encoding
from espalier.corpora.readers.rows import fault_of, quarantined
from espalier.corpora.records import Quarantined, Verse
from espalier.io.errors import ConfigError
from espalier.io.text_files import lines_of
from espalier.text.language import Language, is_mark, join_tokens
from espalier.text.normalize import visible
from espalier.verse.text import join_units

TITLE = "#"


def read(
    folders: Mapping[str, Path], *, language: Language, rhyme: str = "", encoding: Encoding = "utf-8"
) -> Iterator[Verse | Quarantined]:
    """Every poem of every file, in the order of sources, paths and lines.

    A first line that begins with # is the poem's title (`tune`). Ids are `<source>/<file without its last suffix>/<row
    of the first line>`, with rows from 1. English words are those of `espalier.corpora.readers.english`; Chinese words
    are characters without white space. Reasons for quarantine: "title without lines", "line without words", and the
    reasons of `fault_of`.

    Args:
        folders: source names and their folders.
        language: language of the poems.
        rhyme: rhyme scheme, such as ABAB, of the poems with as many lines as it has letters; other poems have no rhyme.
        encoding: encoding of the files.

    Raises:
        ConfigError: there is no source, or the scheme has characters other than letters and ".".
        DataError: a source has no files, or a file is not in the encoding; the message names the file and the row.
    """
    check_rhyme(rhyme, "poems")
    for origin, file, name in files_of(folders, "poems"):
        for row, lines in _stanzas(lines_of(file, encoding, remedy=UNREADABLE)):
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


def _poem(id: str, lines: list[str], origin: str, language: Language, rhyme: str) -> Verse | Quarantined:
    title = lines[0].lstrip(TITLE).strip() if lines[0].startswith(TITLE) else ""
    body = lines[1:] if lines[0].startswith(TITLE) else lines
    if not body and not fault_of(lines[0]):
        return quarantined(id, "title without lines", lines[0])
    return poem_of(id, body, origin, language, rhyme, title=title, text="\n".join(lines))


def check_rhyme(rhyme: str, reader: str) -> None:
    """Raise a ConfigError if a rhyme scheme has characters other than letters and "."."""
    if not all(letter == "." or letter.isalpha() for letter in rhyme):
        raise ConfigError(f"rhyme {rhyme!r}", where=f"reader {reader}", remedy="a letter for each line, . for none")


def poem_of(
    id: str,
    lines: Sequence[str],
    origin: str,
    language: Language,
    rhyme: str,
    *,
    title: str = "",
    author: str = "",
    group: str = "",
    text: str = "",
) -> Verse | Quarantined:
    """A poem of lines, each of which is a unit; blank lines are none. Quarantined as the reader `poems` says.

    Args:
        text: the raw text, for the quarantine; default: the lines.
    """
    body = [seen for line in lines if (seen := visible(line).strip())]
    text = text or "\n".join(body)
    if reason := fault_of(f"{title}{author}") or fault_of(text):
        return quarantined(id, reason, text)
    if not body:
        return quarantined(id, "no lines", text)
    units = [list("".join(line.split())) for line in body] if language == "zh" else tokens_in("\n".join(body))
    if any(all(is_mark(token) for token in unit) for unit in units):
        return quarantined(id, "line without words", text)
    return Verse(
        id=id,
        origin=origin,
        language=language,
        target=join_units(join_tokens(unit, language) for unit in units),
        author=author,
        tune=title,
        rhyme=rhyme if len(rhyme) == len(units) else "." * len(units),
        group=group,
    )
