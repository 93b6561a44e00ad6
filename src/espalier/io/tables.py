"""Parquet tables, compressed with zstd, with metadata in their schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from espalier.io.errors import ArtifactError
from espalier.io.files import atomic_file


def write_table(path: Path, rows: pd.DataFrame | pa.Table, metadata: Mapping[str, str] | None = None) -> None:
    """Write `rows` atomically. `metadata` is stored in the schema and can be read without the rows."""
    table = rows if isinstance(rows, pa.Table) else pa.Table.from_pandas(rows, preserve_index=False)
    extra = {key.encode(): value.encode() for key, value in (metadata or {}).items()}
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), **extra})
    with atomic_file(path) as part:
        pq.write_table(table, part, compression="zstd")


def read_table(path: Path, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Read a table, or some of its columns.

    Raises:
        ArtifactError: it does not exist, is not Parquet, or lacks a column.
    """
    return _read(path, columns).to_pandas()


def read_arrow(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """As `read_table`, as an Arrow table, whose list columns are flat buffers."""
    return _read(path, columns)


def table_metadata(path: Path) -> dict[str, str]:
    """The schema metadata that `write_table` was given."""
    try:
        metadata = pq.read_schema(path).metadata or {}
    except FileNotFoundError as error:
        raise _missing(path) from error
    except pa.ArrowInvalid as error:
        raise ArtifactError(f"not a Parquet file ({error})", where=path) from error
    return {key.decode(): value.decode() for key, value in metadata.items() if not key.startswith(b"pandas")}


def _read(path: Path, columns: Sequence[str] | None) -> pa.Table:
    try:
        # partitioning=None: a folder called "seed=1" above the file must not become a column.
        table = pq.read_table(path, partitioning=None)
    except FileNotFoundError as error:
        raise _missing(path) from error
    except pa.ArrowInvalid as error:
        raise ArtifactError(
            f"not a Parquet file ({error})", where=path, remedy="delete it and run its stage"
        ) from error
    lacking = [name for name in columns or () if name not in table.column_names]
    if lacking:
        raise ArtifactError(
            f"no column {', '.join(lacking)}", where=path, remedy=f"it has {', '.join(table.column_names)}"
        )
    return table.select(list(columns)) if columns is not None else table


def _missing(path: Path) -> ArtifactError:
    return ArtifactError("no such table", where=path, remedy="run the stage that makes it")
