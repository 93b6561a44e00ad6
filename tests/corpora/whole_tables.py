"""Tables of records, and the splits and leakage of tables that are read as one chunk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict

import pandas as pd

from espalier.corpora.leakage import Read, leakage_between
from espalier.corpora.records import Quarantined, Record, Row, column_names, optional_columns
from espalier.corpora.splits import Split
from espalier.corpora.splitting import NAMES, parts_of


def table_of(rows: Iterable[Record | Quarantined], record_type: type[Row]) -> pd.DataFrame:
    """A table with one column per field of `record_type`; an optional field has a column only if a row fills it."""
    values = [asdict(row) for row in rows]
    filled = {name for name in optional_columns(record_type) if any(value[name] for value in values)}
    return pd.DataFrame(values, columns=column_names(record_type, filled)).astype("str")


def split_of(table: pd.DataFrame, split: Split, *, where: str = "split") -> pd.Series[str]:
    """'train', 'dev' or 'test' for each row; '' for a row in none of them. The index is that of the table."""
    parts = parts_of(_read(table), split, where=where)
    return pd.Series([NAMES[part] for part in parts], index=table.index, name="split", dtype="str")


def leakage(splits: Mapping[str, pd.DataFrame], record_type: type[Record]) -> dict[str, int]:
    """The counts of `leakage_between`."""
    return leakage_between({name: _read(table) for name, table in splits.items()}, record_type)


def _read(table: pd.DataFrame) -> Read:
    return lambda names: [table[[name for name in names if name in table]]]
