"""Records that stay in their table, and are read a few at a time each time they are iterated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from espalier.corpora.records import Row, records_of, required_columns

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

T = TypeVar("T")


class StoredRecords(Sequence[Row], Generic[Row]):
    """The records of a table. Iterating reads them in their order; a single record is found by reading up to it.

    Args:
        at_once: the rows in memory at a time.

    Raises:
        ArtifactError: the table does not exist, is damaged, or lacks a column of the records.
    """

    def __init__(self, path: Path, kind: type[Row], at_once: int) -> None:
        from espalier.io.tables import opened, require_columns

        self.path, self._kind, self._at_once = path, kind, at_once
        self._file = file = opened(path)
        self._facts = file.metadata
        self._columns: list[str] = file.schema_arrow.names
        require_columns(path, self._columns, required_columns(kind))

    def __len__(self) -> int:
        return int(self._facts.num_rows)

    def __iter__(self) -> Iterator[Row]:
        from espalier.io.chunks import read_chunks

        for table in read_chunks(self.path, self._at_once):
            yield from records_of(table.to_pandas(), self._kind)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | list[Row]:
        """The record at a place, or the records at several."""
        wanted = range(len(self))[place]
        if isinstance(wanted, int):
            return next(islice(self, wanted, None))
        found = {at: row for at, row in enumerate(self) if at in wanted}
        return [found[at] for at in wanted]

    def at(self, places: npt.NDArray[np.integer[Any]]) -> list[Row]:
        """The records at places in ascending order. Row groups that have none of them are not read."""
        import pyarrow as pa

        found, first = list[Row](), 0
        for group in range(self._facts.num_row_groups):
            rows = self._facts.row_group(group).num_rows
            wanted = places[(first <= places) & (places < first + rows)] - first
            start = 0
            for batch in self._file.iter_batches(self._at_once, row_groups=[group]) if len(wanted) else ():
                here = wanted[(start <= wanted) & (wanted < start + batch.num_rows)] - start
                if len(here):
                    found += records_of(pa.Table.from_batches([batch.take(pa.array(here))]).to_pandas(), self._kind)
                start += batch.num_rows
            first += rows
        return found

    def fills(self, column: str) -> bool:
        """Whether a row fills a column; True if the file does not say."""
        if column not in self._columns:
            return False
        place = self._columns.index(column)
        groups = (self._facts.row_group(number).column(place) for number in range(self._facts.num_row_groups))
        found = [group.statistics for group in groups if group.num_values]
        return any(each is None or not each.has_min_max or each.max != "" for each in found)


def taken(rows: Sequence[T], places: npt.NDArray[np.integer[Any]]) -> list[T]:
    """The records at places in ascending order, of a list or of a table."""
    return rows.at(places) if isinstance(rows, StoredRecords) else [rows[place] for place in places.tolist()]


def in_chunks(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    """The rows in lists of `size`; the last may be shorter."""
    left = iter(rows)
    while chunk := list(islice(left, size)):
        yield chunk
