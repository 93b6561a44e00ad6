"""Rows of different lengths as one flat array, the form of encoded corpora in memory and in Parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt

from espalier.io.tables import read_arrow, write_table

IntArray = npt.NDArray[np.int64]
V = TypeVar("V")


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
        values: list[int] = self.flat[self.offsets[place] : self.offsets[place + 1]].tolist()
        return values

    def padded(self, indices: IntArray, fill: int, grain: int = 1) -> npt.NDArray[np.int64]:
        """The rows at `indices`, right-padded with `fill`: (len(indices), width), width a multiple of `grain`."""
        lengths = self.lengths[indices]
        longest = int(lengths.max()) if len(lengths) else 0
        places = np.arange(-(-longest // grain) * grain)
        inside = places < lengths[:, None]
        flat = self.flat if len(self.flat) else np.zeros(1, dtype=np.int32)
        values = flat[np.where(inside, self.offsets[indices][:, None] + places, 0)]
        return np.where(inside, values, fill).astype(np.int64)

    def select(self, places: IntArray) -> Ragged:
        """The rows at these places, in that order."""
        lengths = self.lengths[places]
        starts = np.cumsum(lengths) - lengths
        flat = np.arange(lengths.sum()) + np.repeat(self.offsets[:-1][places] - starts, lengths)
        return Ragged(self.flat[flat], np.append(starts, lengths.sum()))

    @property
    def lengths(self) -> IntArray:
        """(rows,) the length of each row."""
        return np.diff(self.offsets)


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

    ids: list[str]
    columns: dict[str, Ragged]
    vocabulary: V

    @classmethod
    def load(cls, path: Path, vocabulary: V) -> Self:
        """Read a split written by `save`."""
        return cls(*read_ragged(path, cls.names(vocabulary)), vocabulary)

    def save(self, path: Path) -> None:
        """Write as Parquet."""
        write_ragged(path, self.ids, {name: self.columns[name] for name in self.names(self.vocabulary)})

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


def read_ragged(path: Path, columns: Sequence[str]) -> tuple[list[str], dict[str, Ragged]]:
    """Read the ids and list columns of a table written by `write_ragged`, without a Python object per token."""
    import pyarrow as pa

    table = read_arrow(path, ["id", *columns]).combine_chunks()
    ragged = {}
    for name in columns:
        column = table[name].chunk(0) if table.num_rows else pa.array([], pa.list_(pa.int32()))
        offsets = np.asarray(column.offsets, dtype=np.int64) - column.offsets[0].as_py()
        ragged[name] = Ragged(column.flatten().to_numpy(), offsets)
    return table["id"].to_pylist(), ragged


def write_ragged(path: Path, ids: Sequence[str], columns: Mapping[str, Ragged]) -> None:
    """Write ids and one list column per ragged array as Parquet."""
    import pyarrow as pa

    lists = {
        name: pa.ListArray.from_arrays(pa.array(ragged.offsets, pa.int32()), pa.array(ragged.flat, pa.int32()))
        for name, ragged in columns.items()
    }
    write_table(path, pa.table({"id": pa.array(ids, pa.string())} | lists))
