"""Raw files and their folders, shared by all readers."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from espalier.corpora.readers.rows import writable
from espalier.io.errors import ConfigError, DataError
from espalier.io.files import no_number
from espalier.io.text_files import REMEDY, lines_of, text_of
from espalier.io.validation import repeated

# An escape in JSON; group 1 is one of a pair of surrogates without the other.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
_HIDDEN = re.compile(r"\.(?!\.)")


def require_sources(folders: Mapping[str, Path], reader: str) -> None:
    """Refuse a reader without a source.

    Raises:
        ConfigError: there is no source.
    """
    if not folders:
        raise ConfigError("no source", where=f"reader {reader}", remedy="give it at least one")


def single_source(folders: Mapping[str, Path], reader: str) -> tuple[str, Path]:
    """Name and folder of the source, for a reader of exactly one source.

    Raises:
        ConfigError: there is no source, or several.
    """
    if len(folders) != 1:
        raise ConfigError(f"{len(folders)} sources", where=f"reader {reader}", remedy="it reads exactly one")
    return next(iter(folders.items()))


def recognized_sources(
    folders: Mapping[str, Path], markers: Collection[str], reader: str
) -> list[tuple[str, Path, str]]:
    """Name, folder and marker of each source. The marker is a file that identifies the collection in the folder.

    Args:
        markers: names of marker files; the first that exists in a folder counts.

    Raises:
        ConfigError: no source is given.
        DataError: a folder has no marker.
    """
    require_sources(folders, reader)
    sources = []
    for origin, folder in folders.items():
        marker = next((marker for marker in markers if (folder / marker).is_file()), None)
        if marker is None:
            raise DataError(f"no {' or '.join(markers)}", file=folder, remedy=REMEDY)
        sources.append((origin, folder, marker))
    return sources


def own_files(folder: Path) -> list[Path]:
    """The files of a folder at any depth, in order, without those that a system added.

    These are what is hidden, by a name such as `._song.txt`, `.DS_Store` or `.git`, and what is in `__MACOSX`. A name
    that begins with two dots is a title.
    """
    return sorted(path for path in folder.rglob("*") if path.is_file() and _is_own(path.relative_to(folder)))


def _is_own(path: Path) -> bool:
    return not any(part == "__MACOSX" or _HIDDEN.match(part) for part in path.parts)


def files_of(folders: Mapping[str, Path], reader: str, *, suffix: str | None = None) -> list[tuple[str, Path, str]]:
    """The files of all sources (`own_files`) as (source name, path, path within the source without its last suffix).

    Args:
        suffix: if a source has files whose names end so, in small or capital letters, its others are left out.

    Raises:
        ConfigError: there is no source.
        DataError: a source has no file; or, of those that are not left out, two differ only in their suffix, or one has
            a name that is not UTF-8.
    """
    require_sources(folders, reader)
    files = []
    for origin, folder in folders.items():
        paths = own_files(folder)
        if not paths:
            raise DataError("no file", file=folder, remedy="run the download or copy stage of its source")
        paths = [path for path in paths if path.suffix.lower() == suffix] or paths
        names = [path.relative_to(folder).with_suffix("").as_posix() for path in paths]
        if twice := sorted(repeated(names)):
            raise DataError(f"two files named {twice[0]}", file=folder, remedy="rename one")
        if odd := [name for name in names if writable(name) != name]:
            raise DataError(f"the file name '{writable(odd[0])}' is not UTF-8", file=folder, remedy="rename it")
        files += [(origin, path, name) for path, name in zip(paths, names, strict=True)]
    return files


def json_of(file: Path) -> Any:
    """A raw file as JSON.

    Raises:
        ArtifactError, DataError: as `text_of` and `json_in`.
    """
    return json_in(text_of(file), file)


def json_in(text: str, file: Path, row: int | None = None) -> Any:
    """Parse JSON text. Unpaired surrogates, which no file can hold, become U+FFFD.

    Args:
        file: source of the text, for messages.
        row: its line number, if the text is one line of a file.

    Raises:
        DataError: the text is not JSON, or contains NaN, a very long number or very deep nesting.
    """
    text = _ESCAPE.sub(lambda escape: r"\ufffd" if escape[1] else escape[0], text)
    try:
        return json.loads(text, parse_constant=no_number)
    except json.JSONDecodeError as error:
        raise DataError(f"not valid JSON ({error.msg})", file=file, row=row or error.lineno) from error
    except ValueError as error:
        raise DataError(f"not valid JSON ({str(error).partition(';')[0]})", file=file, row=row) from error
    except RecursionError as error:
        raise DataError("not valid JSON (nested too deeply)", file=file, row=row) from error


def lines_of_test(folders: Mapping[str, Path], reader: str, file: str) -> Iterator[tuple[str, str, str]]:
    """Id, source name and text of each line of a test file, for a reader of one source.

    Ids are `<source>-test-<line>`, counted from 0, as a split of kind `published` expects.

    Raises:
        ConfigError, ArtifactError, DataError: as `single_source` and `lines_of`.
    """
    origin, folder = single_source(folders, reader)
    for number, line in enumerate(lines_of(folder / file)):
        yield f"{origin}-test-{number:06d}", origin, line


def aligned(source: Path, target: Path) -> list[tuple[str, str]]:
    """The lines of two parallel files, in pairs.

    Raises:
        ArtifactError, DataError: as `lines_of`; also if the files have different numbers of lines.
    """
    left, right = lines_of(source), lines_of(target)
    if len(left) != len(right):
        raise DataError(f"{len(right):,} lines beside {len(left):,} of {source.name}", file=target)
    return list(zip(left, right, strict=True))


def fields_of(line: str, separator: str, count: int, file: Path, row: int) -> list[str]:
    """The fields of a line.

    Raises:
        DataError: the number of fields is not `count`.
    """
    fields = line.split(separator)
    if len(fields) != count:
        raise DataError(f"{len(fields)} fields", file=file, row=row, remedy=f"expected {count}, separated by tabs")
    return fields
