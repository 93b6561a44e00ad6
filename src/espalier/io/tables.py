"""Parquet tables, compressed with zstd, with metadata in the schema and a digest of all bytes.

The digest lies between the last column and the footer, which readers of Parquet skip. A mark in the schema says that a
table has a digest. Tables without the mark come from other programs and are read unchecked; a table with the mark but
without its digest is refused.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from espalier.io.errors import ArtifactError, MissingError
from espalier.io.files import atomic_file
from espalier.io.hashing import file_sha256

if TYPE_CHECKING:
    import pandas as pd

#: The key of the schema that says where the digest is, and the digest's first bytes.
DIGEST, MARK = "espalier.digest", b"sha256::"
#: Bytes of the mark and the digest, and of a file's end: the footer's length and "PAR1".
_SEAL, _END, _BLOCK = len(MARK) + 32, 8, 1 << 20


def write_table(path: Path, rows: pd.DataFrame | pa.Table, metadata: Mapping[str, str] | None = None) -> None:
    """Write `rows` atomically. `metadata` is stored in the schema and can be read without the rows."""
    table = rows if isinstance(rows, pa.Table) else pa.Table.from_pandas(rows, preserve_index=False)
    table = table.cast(sealed_schema(table.schema, metadata))
    with atomic_file(path) as part:
        pq.write_table(table, part, compression="zstd")
        seal(part)


def sealed_schema(schema: pa.Schema, metadata: Mapping[str, str] | None = None) -> pa.Schema:
    """The schema of a table with a digest, and with metadata."""
    extra = {key.encode(): value.encode() for key, value in {**(metadata or {}), DIGEST: "before the footer"}.items()}
    return schema.with_metadata({**(schema.metadata or {}), **extra})


def read_table(path: Path, columns: Sequence[str] | None = None, *, required: Sequence[str] = ()) -> pd.DataFrame:
    """Read a table, or some of its columns.

    Args:
        columns: the columns to read; None for all.
        required: columns that must exist if all are read.

    Raises:
        ArtifactError: the table does not exist, is not Parquet, is damaged, or lacks a column.
    """
    file = opened(path)
    require_columns(path, file.schema_arrow.names, [*(columns or ()), *required])
    try:
        table = file.read(None if columns is None else list(columns))
    except (pa.ArrowException, OSError) as error:
        raise damaged(path, f"not a Parquet file ({error})") from error
    return (table if columns is None else table.select(list(columns))).to_pandas()


def table_metadata(path: Path) -> dict[str, str]:
    """The metadata given to `write_table`. Raises as `read_table` does."""
    metadata = _metadata(opened(path).schema_arrow)
    return {key: value for key, value in metadata.items() if key != DIGEST and not key.startswith("pandas")}


def table_sha256(path: Path) -> str:
    """The digest of a table, checked against its bytes. Raises as `read_table` does."""
    opened(path)
    return file_sha256(path)


def require_columns(path: Path, present: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse a table that lacks a column."""
    if lacking := [name for name in wanted if name not in present]:
        raise ArtifactError(f"no column {', '.join(lacking)}", where=path, remedy=f"it has {', '.join(present)}")


def opened(path: Path) -> pq.ParquetFile:
    """Open a file after checking its digest."""
    changed = damaged(path, "damaged: its bytes are not those that were written")
    try:
        digest, expected = _digests(path)
        if digest != expected:
            raise changed
        # Buffering ahead would hold all row groups in memory where they are read one by one.
        file = pq.ParquetFile(path, buffer_size=_BLOCK, pre_buffer=False)
        if expected is None and DIGEST in _metadata(file.schema_arrow):
            raise changed
    except FileNotFoundError as error:
        raise MissingError("no such table", where=path) from error
    except (pa.ArrowException, OSError, ValueError) as error:
        raise damaged(path, f"not a Parquet file ({error})") from error
    return file


def _metadata(schema: pa.Schema) -> dict[str, str]:
    return {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}


def seal(path: Path) -> None:
    """Insert the digest of a Parquet file before its footer. Offsets in the footer stay valid."""
    start = _footer(path)
    with path.open("r+b") as file:
        digest = hashlib.file_digest(file, "sha256").digest()
        file.seek(start)
        footer = file.read()
        file.seek(start)
        file.write(MARK + digest + footer)


def _digests(path: Path) -> tuple[bytes | None, bytes | None]:
    """The digest of all bytes outside the seal, and the digest in the seal; both None if there is no seal."""
    start = _footer(path)
    with path.open("rb") as file:
        file.seek(max(0, start - _SEAL))
        seal = file.read(_SEAL)
        if not seal.startswith(MARK):
            return None, None
        file.seek(0)
        total, left = hashlib.sha256(), start - _SEAL
        while left and (block := file.read(min(left, _BLOCK))):
            total.update(block)
            left -= len(block)
        file.seek(start)
        while block := file.read(_BLOCK):
            total.update(block)
    return total.digest(), seal[len(MARK) :]


def _footer(path: Path) -> int:
    """The offset of the footer. The footer's length is stored before the last four bytes."""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - _END))
        start = end - _END - int.from_bytes(file.read(4), "little")
    return max(0, start)


def damaged(path: Path, what: str) -> ArtifactError:
    """The error of a table that cannot be read."""
    return ArtifactError(what, where=path, remedy="delete it and run its stage again")
