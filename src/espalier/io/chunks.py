"""Tables that are larger than memory, read and written in chunks of rows.

The chunks do not show in a file: rows are kept until a row group is full, and its size does not depend on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from espalier.io.files import atomic_file
from espalier.io.tables import damaged, opened, require_columns, seal, sealed_schema

#: A row group ends with the row that reaches one of these, rows and bytes in memory. A table of fewer is one group.
GROUP_ROWS: Final = 1 << 20
GROUP_BYTES: Final = 512 << 20

Write = Callable[[pa.Table], None]


@contextmanager
def table_writer(path: Path, schema: pa.Schema, metadata: Mapping[str, str] | None = None) -> Iterator[Write]:
    """Yield a function that appends rows to a table, which is complete or absent as in `atomic_file`.

    Its bytes are those that `write_table` writes for all rows at once, up to `GROUP_ROWS` and `GROUP_BYTES`.

    Args:
        schema: the columns; those of the rows are cast to them, and others are left out.
        metadata: as in `write_table`.
    """
    with atomic_file(path) as part:
        with pq.ParquetWriter(part, sealed_schema(schema, metadata), compression="zstd") as file:
            groups = _Groups(file)
            yield groups.add
            groups.end()
        seal(part)


def read_chunks(
    path: Path,
    rows: int,
    columns: Sequence[str] | None = None,
    *,
    required: Sequence[str] = (),
    if_present: bool = False,
) -> Iterator[pa.Table]:
    """The rows of a table in their order, at most `rows` at a time. Other arguments and errors are as in `read_table`.

    Args:
        if_present: leave out those of `columns` that the table lacks.
    """
    file = opened(path)
    there = file.schema_arrow.names
    if columns is not None and if_present:
        columns = [name for name in columns if name in there]
    require_columns(path, there, [*(columns or ()), *required])
    try:
        for batch in file.iter_batches(rows, columns=None if columns is None else list(columns)):
            yield pa.Table.from_batches([batch])
    except (pa.ArrowException, OSError) as error:
        raise damaged(path, f"not a Parquet file ({error})") from error


class _Groups:
    """Rows that wait until they fill a row group."""

    def __init__(self, file: pq.ParquetWriter) -> None:
        self._file = file
        self._waiting: list[list[pa.Array]] = [[] for _ in file.schema.names]
        self._rows = self._bytes = 0
        self._written = False

    def add(self, table: pa.Table) -> None:
        table = table.select(self._file.schema.names)
        sizes = np.cumsum(_bytes(table))
        start = before = 0
        while start < len(sizes):
            full = int(np.searchsorted(sizes, before + GROUP_BYTES - self._bytes)) + 1
            end = min(full, start + GROUP_ROWS - self._rows, len(sizes))
            for pieces, column in zip(self._waiting, table.columns, strict=True):
                pieces += column.slice(start, end - start).chunks
            self._rows += end - start
            self._bytes += int(sizes[end - 1]) - before
            start, before = end, int(sizes[end - 1])
            if self._rows >= GROUP_ROWS or self._bytes >= GROUP_BYTES:
                self._write()

    def end(self) -> None:
        """Write the last group; an empty one if there are no rows, as `write_table` does."""
        if self._rows or not self._written:
            self._write()

    def _write(self) -> None:
        columns = [
            self._joined(pieces, kind) for pieces, kind in zip(self._waiting, self._file.schema.types, strict=True)
        ]
        self._file.write_table(pa.table(columns, schema=self._file.schema), row_group_size=GROUP_ROWS)
        self._rows, self._bytes, self._written = 0, 0, True

    @staticmethod
    def _joined(pieces: list[pa.Array], kind: pa.DataType) -> pa.Array:
        """A column in one piece, since the bounds of pieces would be bounds of pages; the pieces are freed."""
        column = pa.concat_arrays([pa.array([], kind), *(piece.cast(kind) for piece in pieces)])
        pieces.clear()
        return column


def _bytes(table: pa.Table) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """(rows,) bytes of each row in memory: its texts and lists, and eight for each of its columns."""
    total = np.full(table.num_rows, 8 * table.num_columns, dtype=np.int64)
    for column in table.columns:
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            total += pc.fill_null(pc.binary_length(column), 0).to_numpy()
        elif pa.types.is_list(column.type):
            total += column.type.value_type.byte_width * pc.fill_null(pc.list_value_length(column), 0).to_numpy()
    return total
