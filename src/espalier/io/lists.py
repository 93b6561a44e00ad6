"""Tables of ids and columns of lists of integers, without a Python object per value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from espalier.io.chunks import GROUP_ROWS, read_chunks, table_writer

#: The values of all lists of a column, and (lists + 1,) offsets.
Lists = tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]
#: Rows: their ids, and a column of lists by name.
Rows = tuple[Sequence[str], Mapping[str, Lists]]
Append = Callable[[Sequence[str], Mapping[str, Lists]], None]


@contextmanager
def lists_writer(path: Path, columns: Sequence[str]) -> Iterator[Append]:
    """Yield a function that appends ids and lists to a table. Its bytes do not depend on how many come at once."""
    schema = pa.schema({"id": pa.string(), **dict.fromkeys(columns, pa.list_(pa.int32()))})
    with table_writer(path, schema) as write:

        def add(ids: Sequence[str], lists: Mapping[str, Lists]) -> None:
            arrays = [_array(*lists[name]) for name in columns]
            write(pa.table([pa.array(ids, pa.string()), *arrays], schema=schema))

        yield add


def write_lists(path: Path, ids: Sequence[str], columns: Mapping[str, Lists]) -> None:
    """Write ids and columns of lists, each as its flat values and the offsets of its rows."""
    with lists_writer(path, [*columns]) as add:
        for start in range(0, len(ids), GROUP_ROWS):
            rows = slice(start, start + GROUP_ROWS)
            bounds = slice(start, start + GROUP_ROWS + 1)
            add(ids[rows], {name: (flat, offsets[bounds]) for name, (flat, offsets) in columns.items()})


def read_lists(path: Path, columns: Sequence[str]) -> Rows:
    """Read a table written by `write_lists`. Raises as `read_table` does."""
    ids, parts = list[str](), list[Mapping[str, Lists]]()
    for own, lists in list_chunks(path, columns, GROUP_ROWS):
        ids += own
        parts.append(lists)
    return ids, {name: _joined([part[name] for part in parts]) for name in columns}


def list_chunks(path: Path, columns: Sequence[str], rows: int) -> Iterator[Rows]:
    """The rows of a table written by `write_lists`, at most `rows` at a time. Raises as `read_table` does."""
    for table in read_chunks(path, rows, ["id", *columns]):
        yield table["id"].to_pylist(), {name: _lists(table[name].chunk(0)) for name in columns}


def _array(flat: npt.NDArray[np.int32], offsets: npt.NDArray[np.int64]) -> pa.ListArray:
    values = pa.array(flat[offsets[0] : offsets[-1]], pa.int32())
    return pa.ListArray.from_arrays(pa.array(offsets - offsets[0], pa.int32()), values)


def _lists(column: pa.ListArray) -> Lists:
    offsets = np.asarray(column.offsets, dtype=np.int64)
    return column.flatten().to_numpy(), offsets - offsets[0]


def _joined(parts: Sequence[Lists]) -> Lists:
    flat = np.concatenate([np.zeros(0, dtype=np.int32), *(values for values, _ in parts)])
    lengths = [np.diff(offsets) for _, offsets in parts]
    return flat, np.concatenate([np.zeros(1, dtype=np.int64), *lengths]).cumsum()
