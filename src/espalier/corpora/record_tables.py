"""Chunks of records as Arrow tables, without an object for each row."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import fields

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from espalier.corpora.filters import SIDES_BETWEEN
from espalier.corpora.records import Quarantined, Record, Row, column_names


def schema_of(record_type: type[Row], filled: Collection[str] = ()) -> pa.Schema:
    """The schema of a table of records that fill these optional columns."""
    names = column_names(record_type, filled)
    return pa.Schema.from_pandas(pd.DataFrame(columns=names).astype("str"), preserve_index=False)


def filled_columns(chunk: pa.Table, names: Collection[str]) -> set[str]:
    """Those of the columns that a row fills."""
    return {name for name in names if filled_rows(chunk, name)}


def filled_rows(chunk: pa.Table, name: str) -> int:
    """The number of rows that fill a column."""
    return pc.sum(pc.not_equal(chunk[name], "")).as_py() or 0


def set_aside(
    chunk: pa.Table, stage: str, reasons: npt.NDArray[np.object_], texts: npt.NDArray[np.object_] | pa.ChunkedArray
) -> pa.Table:
    """Rows of records as rows of a quarantine table: the stage that cannot use them, why, and their texts."""
    columns = {
        "id": chunk["id"],
        "stage": pa.array([stage] * chunk.num_rows, pa.large_string()),
        "reason": pa.array(reasons, pa.large_string()),
        "text": texts if isinstance(texts, pa.ChunkedArray) else pa.array(texts, pa.large_string()),
    }
    return pa.table(columns).select(column_names(Quarantined))


def joined_sides(chunk: pa.Table, record_type: type[Record]) -> pa.ChunkedArray:
    """All sides of each row."""
    sides = [chunk[side].cast(pa.large_string()) for side in record_type.sides]
    return pc.binary_join_element_wise(*sides, pa.scalar(SIDES_BETWEEN, pa.large_string()))


def chunk_of(rows: Sequence[Row], record_type: type[Row]) -> pa.Table:
    """Rows as a table with all columns of their type."""
    names = [item.name for item in fields(record_type)]
    columns = {name: pa.array([getattr(row, name) for row in rows], pa.large_string()) for name in names}
    return pa.table(columns)
