"""Columns of lists in plain files that the system maps into memory.

The processes of a machine share the pages, and the system takes them back where it needs memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from espalier.io.errors import ArtifactError
from espalier.io.files import atomic_folder, read_json, write_json
from espalier.io.lists import Lists, list_chunks
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


class ListFiles:
    """Ids and columns of lists that are appended to files of a folder, for `mapped_lists`."""

    def __init__(self, folder: Path, columns: Sequence[str]) -> None:
        self._columns, self._held = columns, ExitStack()
        files = [self._held.enter_context(path.open("wb")) for path in _files(folder, len(columns))]
        self._values, self._offsets = files[::2], files[1::2]
        self._ends = np.zeros(len(self._values), dtype=np.int64)
        for file in self._offsets:
            file.write(self._ends[:1].tobytes())

    def append(self, ids: Sequence[str], columns: Mapping[str, Lists]) -> None:
        """Append rows."""
        texts = pa.array(ids, pa.large_string())
        _, starts, data = texts.buffers()
        flat = np.frombuffer(data, np.uint8) if len(texts) and data is not None else np.zeros(0, np.uint8)
        offsets = np.frombuffer(starts, np.int64)[: len(texts) + 1] if len(texts) else np.zeros(1, np.int64)
        rows: list[tuple[IntegerArray, IntegerArray]] = [(flat, offsets), *(columns[name] for name in self._columns)]
        for place, (values, bounds) in enumerate(rows):
            own = values[bounds[0] : bounds[-1]]
            self._values[place].write(np.ascontiguousarray(own).data)
            self._offsets[place].write((bounds[1:] - bounds[0] + self._ends[place]).astype(np.int64).data)
            self._ends[place] += len(own)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.close()


def mapped_lists(folder: Path, columns: Sequence[str]) -> tuple[Texts, dict[str, Lists]]:
    """The ids and columns of a folder of `ListFiles`, each mapped."""
    files = [*_files(folder, len(columns))]
    ids = Texts(_mapped(files[0], np.uint8), _mapped(files[1], np.int64))
    pairs = zip(files[2::2], files[3::2], strict=True)
    lists = [(_mapped(values, np.int32), _mapped(offsets, np.int64)) for values, offsets in pairs]
    return ids, dict(zip(columns, lists, strict=True))


def shared_lists(path: Path, columns: Sequence[str], folder: Path) -> tuple[Texts, dict[str, Lists]]:
    """A table written by `write_lists`, through files of a folder that all processes of a machine map.

    The first process makes the files, and makes them anew if the folder is of another table or not whole.

    Raises:
        ArtifactError: as `read_table` does; or the folder cannot be written.
    """
    digest = table_sha256(path)
    if not _holds(folder, digest, columns):
        with exclusive(folder.with_name(f"{folder.name}.lock")):
            if not _holds(folder, digest, columns):
                with atomic_folder(folder) as made:
                    with ListFiles(made, columns) as files:
                        for ids, lists in list_chunks(path, columns, _ROWS):
                            files.append(ids, lists)
                    write_json(made / _CONTENTS, _contents(made, digest, columns))
    return mapped_lists(folder, columns)


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
