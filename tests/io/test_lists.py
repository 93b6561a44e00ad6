"""Tables of lists: the same bytes however the rows come, and the same rows however they are read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from espalier.io import chunks, lists
from espalier.io.lists import Lists, list_chunks, lists_writer, read_lists, write_lists
from espalier.io.tables import write_table

ROWS = st.lists(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=4), max_size=30)


def column(rows: list[list[int]]) -> Lists:
    flat = np.array([value for row in rows for value in row], dtype=np.int32)
    return flat, np.cumsum([0, *map(len, rows)])


def written_at_once(path: Path, rows: list[list[int]]) -> bytes:
    """The table as one Arrow table, without any of the code under test."""
    ids = [f"row/{n}" for n in range(len(rows))]
    columns = {"id": pa.array(ids, pa.string()), "one": pa.array(rows, pa.list_(pa.int32()))}
    write_table(path, pa.table(columns))
    return path.read_bytes()


@given(ROWS, st.sampled_from([1, 7, 1000]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_chunks_do_not_show_in_the_bytes_nor_in_what_is_read(tmp_path: Path, rows: list[list[int]], size: int) -> None:
    path, ids, whole = tmp_path / "made.parquet", [f"row/{n}" for n in range(len(rows))], column(rows)
    with lists_writer(path, ["one"]) as add:
        for start in range(0, len(rows), size):
            # A part of a longer array, as a split in memory gives it.
            add(ids[start : start + size], {"one": (whole[0], whole[1][start : start + size + 1])})
    assert path.read_bytes() == written_at_once(tmp_path / "whole.parquet", rows)
    parts = [*list_chunks(path, ["one"], size)]
    assert all(len(own) <= size for own, _ in parts) and [id_ for own, _ in parts for id_ in own] == ids
    found_ids, found = read_lists(path, ["one"])
    assert found_ids == ids and [each.tolist() for each in found["one"]] == [each.tolist() for each in whole]


def test_long_lists_fill_a_row_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "GROUP_BYTES", 100)
    rows = [[1] * length for length in (0, 10, 3, 50, 5)]
    write_lists(tmp_path / "made.parquet", [*"abcde"], {"one": column(rows)})
    groups = pq.ParquetFile(tmp_path / "made.parquet").metadata
    # A row takes 17 bytes, and 4 for each value: 17, 57 and 29; 217; what is left.
    assert [groups.row_group(n).num_rows for n in range(groups.num_row_groups)] == [3, 1, 1]
    assert read_lists(tmp_path / "made.parquet", ["one"])[1]["one"][0].tolist() == [1] * 68


def test_whole_lists_are_written_one_row_group_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [[n] * (n % 3) for n in range(10)]
    wanted = written_at_once(tmp_path / "whole.parquet", rows)
    monkeypatch.setattr(lists, "GROUP_ROWS", 4)  # of the slices alone: the groups of the file stay as they are
    write_lists(tmp_path / "made.parquet", [f"row/{n}" for n in range(10)], {"one": column(rows)})
    assert (tmp_path / "made.parquet").read_bytes() == wanted
