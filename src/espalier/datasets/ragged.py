"""Rows of different lengths as one flat array, the form of encoded corpora in memory and in Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar, Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from espalier.io.lists import Lists

IntArray = npt.NDArray[np.int64]
V = TypeVar("V")
#: The values that are looked at at a time.
_PART = 1 << 20


@dataclass(frozen=True)
class Ragged:
    """Rows of different lengths in one flat array."""

    flat: npt.NDArray[np.int32]
    offsets: IntArray

    @classmethod
    def of(cls, rows: Sequence[npt.ArrayLike]) -> Ragged:
        """From one array per row."""
        arrays = [np.asarray(row, dtype=np.int32) for row in rows]
        flat = np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int32)
        return cls(flat, np.concatenate([[0], np.cumsum([len(row) for row in arrays])]).astype(np.int64))

    def row(self, place: int) -> list[int]:
        """The row at a place."""
        return self.flat[self.offsets[place] : self.offsets[place + 1]].tolist()

    def padded(self, indices: IntArray, fill: int, grain: int = 1) -> npt.NDArray[np.int64]:
        """The rows at `indices`, right-padded with `fill`: (len(indices), width), width a multiple of `grain`."""
        lengths = self.lengths_at(indices)
        longest = int(lengths.max()) if len(lengths) else 0
        places = np.arange(-(-longest // grain) * grain)
        inside = places < lengths[:, None]
        flat = self.flat if len(self.flat) else np.zeros(1, dtype=np.int32)
        values = flat[np.where(inside, self.offsets[indices][:, None] + places, 0)]
        return np.where(inside, values, fill).astype(np.int64)

    def count(self, value: int) -> int:
        """How often a value occurs."""
        parts = (self.flat[start : start + _PART] for start in range(0, len(self.flat), _PART))
        return sum(int(np.count_nonzero(part == value)) for part in parts)

    def parts(self, rows: int) -> Iterator[Ragged]:
        """The rows in their order, at most `rows` at a time, without a copy of their values."""
        for start in range(0, len(self.offsets) - 1, rows):
            bounds = self.offsets[start : start + rows + 1]
            yield Ragged(self.flat[bounds[0] : bounds[-1]], bounds - bounds[0])

    def select(self, places: IntArray) -> Ragged:
        """The rows at these places, in that order."""
        lengths = self.lengths_at(places)
        starts = np.cumsum(lengths) - lengths
        flat = np.arange(lengths.sum()) + np.repeat(self.offsets[places] - starts, lengths)
        return Ragged(self.flat[flat], np.append(starts, lengths.sum()))

    @property
    def lengths(self) -> IntArray:
        """(rows,) the length of each row."""
        return np.diff(self.offsets)

    def lengths_at(self, places: IntArray) -> IntArray:
        """The lengths of the rows at these places, whatever the number of all."""
        return self.offsets[places + 1] - self.offsets[places]


@dataclass(frozen=True)
class RaggedSplit(Generic[V]):
    """The base of splits with ragged columns; see `datasets.encoding.Split`.

    Attributes:
        COLUMNS: the names of the list columns, in the order of the file.
        GRAIN: the lengths of training batches are padded to multiples of it; small where rows are short.
        ids: (rows,) ids of the records.
        columns: a ragged array for each of `COLUMNS`.
    """

    COLUMNS: ClassVar[tuple[str, ...]]
    GRAIN: ClassVar[int] = 4

    ids: Sequence[str]
    columns: dict[str, Ragged]
    vocabulary: V

    @classmethod
    def load(cls, path: Path, vocabulary: V) -> Self:
        """Read a split written by `save`."""
        return cls._made(_lists().read_lists(path, cls.names(vocabulary)), vocabulary)

    @classmethod
    def shared(cls, path: Path, vocabulary: V, folder: Path) -> Self:
        """Read a split written by `save` through files in `folder`, whose pages the processes of a machine share."""
        if not saved_as_lists(cls):
            return cls.load(path, vocabulary)
        return cls._made(_mapped().shared_lists(path, cls.names(vocabulary), folder), vocabulary)

    @classmethod
    def in_files(cls, folder: Path, vocabulary: V) -> Self:
        """The rows of `list_files` in a folder."""
        return cls._made(_mapped().mapped_lists(folder, cls.names(vocabulary)), vocabulary)

    @classmethod
    def _made(cls, rows: tuple[Sequence[str], Mapping[str, Lists]], vocabulary: V) -> Self:
        ids, lists = rows
        return cls(ids, {name: Ragged(*column) for name, column in lists.items()}, vocabulary)

    def save(self, path: Path) -> None:
        """Write as Parquet."""
        _lists().write_lists(path, self.ids, self.lists)

    @property
    def lists(self) -> dict[str, Lists]:
        """The values and offsets of each column of a file."""
        columns = {name: self.columns[name] for name in self.names(self.vocabulary)}
        return {name: (column.flat, column.offsets) for name, column in columns.items()}

    @classmethod
    def names(cls, vocabulary: V) -> tuple[str, ...]:
        """The columns of a file. There are more than `COLUMNS` if the vocabulary has more kinds of symbols."""
        return cls.COLUMNS

    def select(self, places: IntArray) -> Self:
        """The rows at these places, in that order."""
        columns = {name: column.select(places) for name, column in self.columns.items()}
        return replace(self, ids=[self.ids[place] for place in places], columns=columns)

    def __len__(self) -> int:
        return len(self.ids)


def saved_as_lists(kind: type[object]) -> bool:
    """Whether splits of this type are saved as ids and lists alone, and so can be written in parts and mapped."""
    if not issubclass(kind, RaggedSplit):
        return False
    own = kind.__mro__[: kind.__mro__.index(RaggedSplit)]
    return not any({"save", "load"} & vars(each).keys() for each in own)


def _lists() -> ModuleType:
    """The module of tables, imported when it is used: it brings pyarrow, which a loaded model does without."""
    from espalier.io import lists

    return lists


def _mapped() -> ModuleType:
    from espalier.io import mapped

    return mapped
