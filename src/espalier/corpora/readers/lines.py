"""What the readers of sentences and pairs share: lines, and the faults that any pair can have."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from espalier.corpora.readers.common import aside, text_of
from espalier.corpora.records import Pair, Quarantined
from espalier.io.errors import ArtifactError, ConfigError, DataError

#: What stands where bytes could not be read as a character.
DAMAGED = "\ufffd"


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
