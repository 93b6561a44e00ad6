"""Columns of lists in plain files that the system maps into memory.

The processes of a machine share the pages, and the system takes them back where it needs memory.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar, overload

import numpy as np
import numpy.typing as npt

from espalier.io.errors import ArtifactError
from espalier.io.files import atomic_folder, read_json, write_json
from espalier.io.lists import Append, Lists, Rows, list_chunks, read_lists
from espalier.io.locks import exclusive
from espalier.io.tables import table_sha256

IntegerArray = npt.NDArray[np.integer[Any]]
Number = TypeVar("Number", bound=np.integer[Any])
#: What a folder of lists holds: the table's digest, the columns in the order of the files, and the bytes of each file.
_CONTENTS: Final = "lists.json"
#: The rows of a table that are read at a time.
_ROWS: Final = 1 << 16


class Texts(Sequence[str]):
    """Strings as one array of UTF-8, and the offset of each; without a Python object per string.

    Args:
        flat: (bytes,) the UTF-8 of all strings.
        offsets: (strings + 1,) where each begins and ends.
    """

    def __init__(self, flat: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> None:
        self._flat, self._offsets = flat, offsets

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        """The string at a place, or the strings at several."""
        wanted = range(len(self))[place]
        return self._text(wanted) if isinstance(wanted, int) else [self._text(each) for each in wanted]

    def __iter__(self) -> Iterator[str]:
        return map(self._text, range(len(self)))

    def _text(self, place: int) -> str:
        return self._flat[self._offsets[place] : self._offsets[place + 1]].tobytes().decode()


@contextmanager
def list_files(folder: Path, columns: Sequence[str]) -> Iterator[Append]:
    """Yield a function that appends ids and lists to files of a folder, for `mapped_lists`."""
    with ExitStack() as held:
        files = [held.enter_context(path.open("wb")) for path in _files(folder, len(columns))]
        values, offsets, ends = files[::2], files[1::2], [0] * (len(columns) + 1)
        for file in offsets:
            file.write(np.zeros(1, np.int64).data)

        def append(ids: Sequence[str], lists: Mapping[str, Lists]) -> None:
            texts = [text.encode() for text in ids]
            id_column = np.frombuffer(b"".join(texts), np.uint8), np.cumsum([0, *map(len, texts)])
            rows: list[tuple[IntegerArray, IntegerArray]] = [id_column, *(lists[name] for name in columns)]
            for place, (flat, bounds) in enumerate(rows):
                own = np.ascontiguousarray(flat[bounds[0] : bounds[-1]], np.int32 if place else np.uint8)
                values[place].write(own.data)
                offsets[place].write((bounds[1:] - bounds[0] + ends[place]).astype(np.int64).data)
                ends[place] += len(own)

        yield append


def mapped_lists(folder: Path, columns: Sequence[str]) -> tuple[Texts, dict[str, Lists]]:
    """The ids and columns of a folder of `list_files`, each mapped."""
    files = [*_files(folder, len(columns))]
    ids = Texts(_mapped(files[0], np.uint8), _mapped(files[1], np.int64))
    pairs = zip(files[2::2], files[3::2], strict=True)
    lists = [(_mapped(values, np.int32), _mapped(offsets, np.int64)) for values, offsets in pairs]
    return ids, dict(zip(columns, lists, strict=True))


def shared_lists(path: Path, columns: Sequence[str], folder: Path) -> Rows:
    """A table written by `write_lists`, through files of a folder that all processes of a machine map.

    The first process makes the files, and makes them anew if the folder is of another table or not whole. Where nothing
    may be written, such as in a project of another user, the table is read into memory.

    Raises:
        ArtifactError: as `read_table` does; or the folder cannot be written for another reason, such as a full disk.
    """
    digest = table_sha256(path)
    try:
        # Nothing is looked for before the lock is held: NFS would remember for seconds that it was missing.
        with exclusive(folder.with_name(f"{folder.name}.lock")):
            if not _holds(folder, digest, columns):
                _make(folder, path, digest, columns)
    except ArtifactError as error:
        if not isinstance(error.__cause__, OSError) or error.__cause__.errno not in (errno.EROFS, errno.EACCES):
            raise
        if not _holds(folder, digest, columns):
            return read_lists(path, columns)
    return mapped_lists(folder, columns)


def _make(folder: Path, path: Path, digest: str, columns: Sequence[str]) -> None:
    with atomic_folder(folder) as made:
        with list_files(made, columns) as append:
            for ids, lists in list_chunks(path, columns, _ROWS):
                append(ids, lists)
        write_json(made / _CONTENTS, _contents(made, digest, columns))


def _holds(folder: Path, digest: str, columns: Sequence[str]) -> bool:
    """Whether a folder has the lists of the table with this digest, and all of them."""
    try:
        return bool(read_json(folder / _CONTENTS) == _contents(folder, digest, columns))
    except (ArtifactError, OSError):
        return False


def _contents(folder: Path, digest: str, columns: Sequence[str]) -> dict[str, object]:
    sizes = [path.stat().st_size for path in _files(folder, len(columns))]
    return {"table": digest, "columns": list(columns), "bytes": sizes}


def _files(folder: Path, columns: int) -> Iterator[Path]:
    """The files of the values and of the offsets of each column; the ids come first."""
    return (folder / f"{place}.{kind}" for place in range(columns + 1) for kind in ("values", "offsets"))


def _mapped(path: Path, kind: type[Number]) -> npt.NDArray[Number]:
    if not path.stat().st_size:  # nothing can be mapped
        return np.zeros(0, kind)
    return np.memmap(path, kind, mode="r").view(np.ndarray)
