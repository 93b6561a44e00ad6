"""Chunks of records as Arrow tables, without an object for each row."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from espalier.corpora.filters import SIDES_BETWEEN
from espalier.corpora.records import Quarantined, Record, Row, column_names


def schema_of(record_type: type[Row], filled: Collection[str] = ()) -> pa.Schema:
    """The schema of a `table_of` records that fill these optional columns."""
    names = column_names(record_type, filled)
    return pa.Schema.from_pandas(pd.DataFrame(columns=names).astype("str"), preserve_index=False)


def filled_columns(chunk: pa.Table, names: Collection[str]) -> set[str]:
    """Those of the columns that a row fills."""
    return {name for name in names if filled_rows(chunk, name)}


def filled_rows(chunk: pa.Table, name: str) -> int:
    """The number of rows that fill a column."""
    return pc.sum(pc.not_equal(chunk[name], "")).as_py() or 0


def set_aside(chunk: pa.Table, record_type: type[Record], reasons: Sequence[str] | npt.NDArray[np.object_]) -> pa.Table:
    """Rows of records as rows of a quarantine table, each with its reason. The text has all sides."""
    sides = [chunk[side].cast(pa.large_string()) for side in record_type.sides]
    text = pc.binary_join_element_wise(*sides, pa.scalar(SIDES_BETWEEN, pa.large_string()))
    stage = pa.array(["filter"] * chunk.num_rows, pa.large_string())
    columns = {"id": chunk["id"], "stage": stage, "reason": pa.array(reasons, pa.large_string()), "text": text}
    return pa.table(columns).select(column_names(Quarantined))
