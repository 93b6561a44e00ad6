"""Parquet tables: there and back, and refused where they are not what they should be."""

from __future__ import annotations

import errno
import random
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from espalier.io.errors import ArtifactError
from espalier.io.lists import read_lists, write_lists
from espalier.io.tables import read_table, table_metadata, write_table

ROWS = pd.DataFrame({"id": ["a", "b"], "text": ["一\n二", "tab\t|\u2028 end"], "n": [1, 2]})


def test_a_table_comes_back_as_it_went(tmp_path: Path) -> None:
    write_table(tmp_path / "a.parquet", ROWS, {"made by": "a test", "字": "值"})
    pd.testing.assert_frame_equal(read_table(tmp_path / "a.parquet"), ROWS, check_dtype=False)
    assert list(read_table(tmp_path / "a.parquet", ["n", "id"]).columns) == ["n", "id"]
    assert table_metadata(tmp_path / "a.parquet") == {"made by": "a test", "字": "值"}


def test_lists_come_back_flat_and_a_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    flat, offsets = np.array([1, 2, 3], np.int32), np.array([0, 2, 2, 3])
    write_lists(tmp_path / "a.parquet", ["x", "y", "z"], {"one": (flat, offsets), "other": (flat, offsets)})
    ids, found = read_lists(tmp_path / "a.parquet", ["one"])
    assert ids == ["x", "y", "z"] and list(found) == ["one"]
    assert [each.dtype for each in found["one"]] == [np.int32, np.int64]
    assert [each.tolist() for each in found["one"]] == [[1, 2, 3], [0, 2, 2, 3]]
    with pytest.raises(ArtifactError, match="no column two"):
        read_lists(tmp_path / "a.parquet", ["two"])


def test_an_empty_table_keeps_its_columns(tmp_path: Path) -> None:
    write_table(tmp_path / "a.parquet", ROWS.iloc[:0])
    assert list(read_table(tmp_path / "a.parquet").columns) == ["id", "text", "n"]


def test_a_folder_named_like_a_partition_adds_no_column(tmp_path: Path) -> None:
    write_table(tmp_path / "seed=1" / "a.parquet", ROWS)
    assert list(read_table(tmp_path / "seed=1/a.parquet").columns) == ["id", "text", "n"]


def test_a_full_disk_leaves_the_old_table_intact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_table(tmp_path / "a.parquet", ROWS)

    def half(table: pa.Table, where: Path, **_: object) -> None:
        where.write_bytes(b"PAR1 half of")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pq, "write_table", half)
    with pytest.raises(ArtifactError, match="No space left on device"):
        write_table(tmp_path / "a.parquet", ROWS.iloc[:1])
    assert len(read_table(tmp_path / "a.parquet")) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


@pytest.mark.parametrize("read", [read_table, partial(read_lists, columns=[]), table_metadata])
def test_missing_and_broken_tables_are_one_line(tmp_path: Path, read: object) -> None:
    assert callable(read)
    with pytest.raises(ArtifactError, match="no such table; run the stage"):
        read(tmp_path / "none.parquet")
    write_table(tmp_path / "whole.parquet", ROWS)
    whole = (tmp_path / "whole.parquet").read_bytes()
    for size in (0, 3, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.parquet").write_bytes(whole[:size])
        with pytest.raises(ArtifactError, match=r"cut\.parquet: not a Parquet file") as caught:
            read(tmp_path / "cut.parquet")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("read", [read_table, table_metadata])
def test_no_flipped_bit_passes(tmp_path: Path, read: Any) -> None:
    path = tmp_path / "a.parquet"
    write_table(path, ROWS, {"unfit": "3"})
    whole, rng = path.read_bytes(), random.Random(1)
    bits = range(8 * len(whole))
    for bit in [*rng.sample(bits, 300), *bits[-8 * 64 :: 5]]:
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        with pytest.raises(ArtifactError, match=r"a\.parquet: .*; delete it and run its stage again$"):
            read(path)


def test_others_read_our_tables_and_we_read_theirs(tmp_path: Path) -> None:
    write_table(tmp_path / "ours.parquet", ROWS)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "ours.parquet"), ROWS)
    ROWS.to_parquet(tmp_path / "theirs.parquet")
    pd.testing.assert_frame_equal(read_table(tmp_path / "theirs.parquet"), ROWS)


def test_columns_that_are_not_wanted_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "theirs.parquet"
    ROWS.to_parquet(path)
    start = pq.ParquetFile(path).metadata.row_group(0).column(1).dictionary_page_offset
    with path.open("r+b") as file:
        file.seek(start)
        file.write(b"damaged!")
    assert read_table(path, ["n", "id"]).to_dict("list") == {"n": [1, 2], "id": ["a", "b"]}
    with pytest.raises(ArtifactError, match="not a Parquet file"):
        read_table(path)


def test_a_column_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    write_table(tmp_path / "a.parquet", ROWS)
    with pytest.raises(ArtifactError, match="no column heads; it has id, text, n"):
        read_table(tmp_path / "a.parquet", ["id", "heads"])
