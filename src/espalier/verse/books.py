"""Rhyme books: the rhyme groups and the level or oblique tones of Han characters.

Ci rhymes by the book Cilin zhengyun, and its tones are those of Pingshui yun, which has the entering tone. Modern
readers use Mandarin. If a character has several readings, each counts.

    mandarin   the groups of `rhyme.GROUPS` ("ang"); tones 1 and 2 are level, 3 and 4 oblique, neutral neither
               (`mandarin.py`)
    cilin      a part and its tone: "2平" level, "2仄" rising or departing, "15入" entering. Parts 1 to 14 have level
               and oblique rhymes, which rhyme with each other only if a tune says so; 15 to 19 are entering.
    pingshui   a tone and the number of the rhyme within it: "平1" to "平30", "上1" to "上29", "去1" to "去30", and
               "入1" to "入17"

Both books come from the source `couyun`; `hanzi_class.py` there is data in Python syntax.
"""

from __future__ import annotations

import ast
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final, Literal, NamedTuple, Protocol

from espalier.io.errors import ArtifactError, ConfigError
from espalier.verse.mandarin import Tone, mandarin_characters, mandarin_groups, mandarin_tones

#: The rhyme book: the thirteen groups of Mandarin (`rhyme.GROUPS`), Cilin zhengyun, or Pingshui yun.
Book = Literal["mandarin", "cilin", "pingshui"]
#: The book for tones: Pingshui yun, where the entering tone is oblique, or the four tones of Mandarin.
ToneBook = Literal["book", "mandarin"]

#: What to do about a folder of the source that is missing or damaged.
REMEDY: Final = "run dvc --cd profiles/small repro download@couyun"

#: The file with the rhymes, below the folder of the source.
RHYME_BOOK: Final = "couyun/hanzi/hanzi_class.py"
_TONES: Final = "平上去入"
_CILIN_TONES: Final = "平仄仄入"


class Books(Protocol):
    """The rhymes and tones of characters by book."""

    def groups(self, character: str, book: Book) -> frozenset[str]:
        """The rhyme groups of all readings of a character; empty if the book lacks the character."""
        ...

    def tones(self, character: str, by: ToneBook = "book") -> frozenset[Tone]:
        """The tones of all readings of a character; empty if the book lacks the character."""
        ...

    def characters(self, book: Book) -> Iterable[str]:
        """All characters that a book has."""
        ...


def part_of(group: str) -> str:
    """The part shared by level and oblique words, from a group with its tone: "2平", "2仄" -> "2", "ang平" -> "ang"."""
    return group[:-1]


def source_of(place: Path) -> Traversable:
    """The files of the source `couyun`: those in a folder, or in an archive of them.

    Raises:
        ArtifactError: the archive is damaged.
    """
    if not place.is_file():
        return place
    try:
        return zipfile.Path(place)
    except (OSError, zipfile.BadZipFile) as error:
        raise ArtifactError("no archive of books", where=place, remedy=REMEDY) from error


def source_bytes(file: Traversable, what: str) -> bytes:
    """The bytes of a file of the source.

    Raises:
        ArtifactError: it is missing, or the archive that has it is damaged; the message says that it is no `what`.
    """
    try:
        return file.read_bytes()
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise ArtifactError(f"no {what}", where=str(file), remedy=REMEDY) from error


def read_books(folder: Path) -> Books:
    """All books: Mandarin, and those of the source `couyun`.

    Files with equal bytes are parsed once.

    Args:
        folder: folder of the source, as written by `download`, or an archive of `espalier.verse.ci_books.pack_books`.

    Raises:
        ArtifactError: the rhyme book is missing or has another format.
    """
    file = source_of(folder) / RHYME_BOOK
    try:
        return _PrintedBooks(_rhyme_book(source_bytes(file, "rhyme book")))
    except (ValueError, SyntaxError, RecursionError) as error:
        raise ArtifactError(f"no rhyme book: {error}", where=str(file), remedy=REMEDY) from error


class _Entry(NamedTuple):
    """The entry of one character in the printed books."""

    cilin: frozenset[str] = frozenset()
    pingshui: frozenset[str] = frozenset()
    tones: frozenset[Tone] = frozenset()


@dataclass(frozen=True, slots=True)
class _PrintedBooks:
    entries: dict[str, _Entry]

    def groups(self, character: str, book: Book) -> frozenset[str]:
        if book == "mandarin":
            return mandarin_groups(character)
        entry = self.entries.get(character, _Entry())
        return entry.cilin if book == "cilin" else entry.pingshui

    def tones(self, character: str, by: ToneBook = "book") -> frozenset[Tone]:
        if by == "mandarin":
            return mandarin_tones(character)
        return self.entries.get(character, _Entry()).tones

    def characters(self, book: Book) -> Iterable[str]:
        return mandarin_characters() if book == "mandarin" else self.entries


def not_passed(what: str, where: str = "book") -> ConfigError:
    """The error that a required book was not passed. `what` is a subject with its verb."""
    remedy = f"take a model that has it, such as songci; or in a clone {REMEDY}, and from Python pass what"
    remedy += " espalier.verse.ci_books.open_books(FOLDER) opens"
    return ConfigError(f"{what} of the source couyun, which is not given", where=where, remedy=remedy)


@lru_cache(maxsize=2)
def _rhyme_book(content: bytes) -> dict[str, _Entry]:
    """The entries of `hanzi_class.py`, by character.

    Raises:
        ValueError: the content is not such data.
        SyntaxError: it is not Python either.
    """
    columns: dict[str, tuple[set[str], set[str], set[Tone]]] = {}
    for characters, tone, pingshui, cilin in _rhymes(content):
        tone_of_part, level = _CILIN_TONES[tone - 1], tone == 1
        for character in characters:
            groups, rhymes, tones = columns.setdefault(character, (set(), set(), set()))
            groups.add(f"{cilin}{tone_of_part}")
            rhymes.add(f"{_TONES[tone - 1]}{pingshui}")
            tones.add("平" if level else "仄")
    if not columns:
        raise ValueError("it has no characters")
    # Many characters share a set; one of each kind is kept.
    kept: dict[_Entry, _Entry] = {}
    entries = {}
    for character, sets in columns.items():
        entry = _Entry(*map(frozenset, sets))  # type: ignore[arg-type]  # the three sets in the order of the fields
        entries[character] = kept.setdefault(entry, entry)
    return entries


def _rhymes(content: bytes) -> Iterator[tuple[str, int, int, int]]:
    """For each list: its characters, the tone from 1 to 4, the number of the Pingshui rhyme, and the part of Cilin.

    Negative numbers in the file stand for oblique rhymes.
    """
    for statement in ast.parse(content.decode()).body:
        if not isinstance(statement, ast.Assign):
            continue
        match ast.literal_eval(statement.value):
            case [str() as characters, int() as tone, int() as pingshui, int() as cilin, int()] if 1 <= tone <= 4:
                yield "".join(characters.split()), tone, abs(pingshui), abs(cilin)
            case _:
                raise ValueError(f"line {statement.lineno} is not [characters, tone, Pingshui, Cilin, number]")
