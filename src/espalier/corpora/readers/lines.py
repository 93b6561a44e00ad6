"""What the readers of sentences and pairs share: lines, words joined again, and the faults that any pair can have."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from espalier.corpora.readers.common import aside, text_of
from espalier.corpora.records import Pair, Quarantined
from espalier.io.errors import ArtifactError, ConfigError, DataError

#: What stands where bytes could not be read as a character.
DAMAGED = "\ufffd"

#: What `plain_marks` writes for what it finds.
PLAIN = {
    "'": "\u2018\u2019\u201a\u201b\u2032\u00b4",  # single quotes, the apostrophe, the prime, the acute accent
    '"': "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb",  # double quotes, the double prime, guillemets
    "-": "\u2010\u2011\u2012\u2013\u2212",  # hyphens, the figure dash, the en dash, the minus sign
    "--": "\u2014\u2015",  # the em dash, the horizontal bar
    "...": "\u2026",
    # What is not seen: soft hyphen, zero-width spaces and joiners, marks of direction, byte order mark.
    "": "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\ufeff",
}
_PLAIN = str.maketrans({mark: ascii for ascii, marks in PLAIN.items() for mark in marks})

# A contraction that stands alone; letters and digits with what joins them; a mark, as often as it stands in a row.
_WORD = re.compile(
    r"(?:n't|'(?:s|m|d|ll|re|ve))\b|\w+(?:(?:\.?[-'/]|\.|(?<=\d)[,:](?=\d))\w+)*|([^\w\s])\1*", re.IGNORECASE
)
_CONTRACTION = re.compile(r"(?<=\w)(?:n't|'(?:s|m|d|ll|re|ve))\b", re.IGNORECASE)


def lines_of(file: Path, *, damaged: bool = False) -> list[str]:
    """The lines of a raw file, which end at line feeds alone: U+2028 and its kin are text.

    Args:
        file: UTF-8.
        damaged: bytes that are not UTF-8 are known of, and become `DAMAGED`.

    Raises:
        ArtifactError: it is not there.
        DataError: it is not UTF-8.
    """
    text = bytes_of(file).decode("utf-8-sig", errors="replace") if damaged else text_of(file)
    return text.removesuffix("\n").split("\n") if text else []


def bytes_of(file: Path) -> bytes:
    """A raw file as it is.

    Raises:
        ArtifactError: it is not there.
    """
    try:
        return file.read_bytes()
    except FileNotFoundError as error:
        raise ArtifactError("no such file", where=file, remedy="run the download stage of its source") from error


def aligned(source: Path, target: Path) -> list[tuple[str, str]]:
    """Two files of which each line of one belongs to the same line of the other.

    Raises:
        ArtifactError, DataError: as `lines_of`; also if they have not as many lines.
    """
    left, right = lines_of(source), lines_of(target)
    if len(left) != len(right):
        raise DataError(f"{len(right):,} lines beside {len(left):,} of {source.name}", file=target)
    return list(zip(left, right, strict=True))


def fields_of(line: str, separator: str, count: int, file: Path, row: int) -> list[str]:
    """The fields of a line.

    Raises:
        DataError: there are more or fewer than `count`.
    """
    fields = line.split(separator)
    if len(fields) != count:
        raise DataError(f"{len(fields)} fields", file=file, row=row, remedy=f"expected {count}, separated by tabs")
    return fields


def any_of(folders: Mapping[str, Path], marks: Collection[str], reader: str) -> list[tuple[str, Path, str]]:
    """Each source's name and folder, and which of `marks`, files that one collection alone has, tells what it is.

    Raises:
        ConfigError: there is no folder.
        DataError: a folder has none of them.
    """
    if not folders:
        raise ConfigError("no source", where=f"reader {reader}", remedy="give it at least one")
    found = []
    for origin, folder in folders.items():
        mark = next((mark for mark in marks if (folder / mark).is_file()), None)
        if mark is None:
            raise DataError(f"no {' or '.join(marks)}", file=folder, remedy="run the download stage of its source")
        found.append((origin, folder, mark))
    return found


def pair_of(id: str, source: str, target: str, *, origin: str, language: str, group: str = "") -> Pair | Quarantined:
    """A pair, its white space made single spaces; or put aside as "empty side" or "damaged character"."""
    source, target = " ".join(source.split()), " ".join(target.split())
    if not source or not target:
        return aside(id, "empty side", f"{source}\t{target}")
    if DAMAGED in source + target:
        return aside(id, "damaged character", f"{source}\t{target}")
    return Pair(id=id, origin=origin, language=language, source=source, target=target, group=group)


def joined(words: Sequence[str], language: str) -> str:
    """The words of a sentence as text: between spaces, but in Chinese only where two Latin words or numbers meet.

    One Latin letter or digit is no word but a piece of one, as in corpora that put spaces between all characters.
    """
    if language != "zh":
        return " ".join(words)
    return "".join(
        f" {word}" if before and _is_latin(before) and _is_latin(word) else word
        for before, word in zip(("", *words), words, strict=False)
    )


def _is_latin(word: str) -> bool:
    return len(word) > 1 and word.isascii() and word.isalnum()


def plain_marks(text: str) -> str:
    """A text with the quotes, dashes and ellipses of ASCII, without characters that are not seen: see `PLAIN`."""
    return text.translate(_PLAIN)


def rough_words(text: str) -> int:
    """About how many words the Penn treebank's rules make of an English text, at a fraction of their cost.

    Words stand between spaces; marks stand apart, a mark repeated being one, but not those inside a word or a number
    (well-known, 1,000.5, and/or); contractions are two (do n't, John 's), also where they are parted already.
    """
    return sum(1 for _ in _WORD.finditer(text)) + len(_CONTRACTION.findall(text))
