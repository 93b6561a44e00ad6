"""Tables in chunks: the bytes of a table written at once, whatever the chunks; half a table is never seen."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from espalier.io import chunks
from espalier.io.chunks import read_chunks, table_writer
from espalier.io.errors import ArtifactError, MissingError
from espalier.io.tables import read_table, write_table

ROWS = st.lists(st.tuples(st.text(max_size=9), st.text("ab", max_size=2)), max_size=40)


def frame(rows: list[tuple[str, str]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["id", "text"]).astype("str")


def table_of(rows: list[tuple[str, str]]) -> pa.Table:
    return pa.Table.from_pandas(frame(rows), preserve_index=False)


def written(path: Path, table: pa.Table, size: int) -> bytes:
    with table_writer(path, table.schema) as write:
        for start in range(0, table.num_rows, size):
            write(table.slice(start, size))
    return path.read_bytes()


@given(ROWS, st.sampled_from([1, 7, 1000]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_chunks_do_not_show_in_the_bytes(tmp_path: Path, rows: list[tuple[str, str]], size: int) -> None:
    whole = tmp_path / "whole.parquet"
    write_table(whole, frame(rows))
    made = tmp_path / "made.parquet"
    assert written(made, table_of(rows), size) == whole.read_bytes()
    read = [part.to_pandas() for part in read_chunks(made, size)]
    assert all(len(part) <= size for part in read)
    pd.testing.assert_frame_equal(pd.concat([frame([]), *read], ignore_index=True), frame(rows))


@pytest.mark.parametrize("size", [1, 9])
def test_rows_without_a_text_or_a_list_are_written_as_all_at_once(tmp_path: Path, size: int) -> None:
    table = pa.table({
        "text": pa.array(["a", None, "b"], pa.string()),
        "large": pa.array([None, None, "c"], pa.large_string()),
        "list": pa.array([[1], None, [2, 3]], pa.list_(pa.int32())),
    })  # fmt: skip
    write_table(tmp_path / "whole.parquet", table)
    assert written(tmp_path / "made.parquet", table, size) == (tmp_path / "whole.parquet").read_bytes()


def test_row_groups_are_the_same_for_all_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "GROUP_ROWS", 3)
    monkeypatch.setattr(chunks, "GROUP_BYTES", 60)
    rows = [(str(n), "x" * size) for n, size in enumerate([1, 1, 1, 43, 100, 20, 30, 0])]
    table = table_of(rows)
    made = {size: written(tmp_path / f"{size}.parquet", table, size) for size in (1, 2, 3, 100)}
    assert len(set(made.values())) == 1
    groups = pq.ParquetFile(tmp_path / "2.parquet").metadata
    # A row takes 17 bytes and its text: three rows; 60 bytes; a row larger than a group; two rows; what is left.
    assert [groups.row_group(n).num_rows for n in range(groups.num_row_groups)] == [3, 1, 1, 2, 1]
    assert read_table(tmp_path / "2.parquet")["text"].tolist() == [text for _, text in rows]


def test_what_fails_between_chunks_leaves_the_old_table(tmp_path: Path) -> None:
    path, table = tmp_path / "t.parquet", table_of([("a", "b")])
    before = written(path, table, 1)
    with pytest.raises(KeyboardInterrupt), table_writer(path, table.schema) as write:
        write(table)
        raise KeyboardInterrupt
    assert path.read_bytes() == before and [*tmp_path.iterdir()] == [path]


def test_columns_that_are_read_must_be_there_and_others_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write_table(path, frame([("a", "b"), ("c", "d")]))
    assert [part.to_pydict() for part in read_chunks(path, 9, ["text"])] == [{"text": ["b", "d"]}]
    for parts in (read_chunks(path, 9, ["tune"]), read_chunks(path, 9, required=["tune"])):
        with pytest.raises(ArtifactError, match="no column tune"):
            next(parts)
    assert [part.column_names for part in read_chunks(path, 9, ["tune", "text"], if_present=True)] == [["text"]]
    with pytest.raises(MissingError):
        next(read_chunks(tmp_path / "none.parquet", 9))


def test_a_table_with_a_changed_byte_is_refused_before_its_first_row(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    data = bytearray(written(path, table_of([("a", "b")]), 1))
    data[8] ^= 1
    path.write_bytes(data)
    with pytest.raises(ArtifactError, match="damaged"):
        next(read_chunks(path, 9))
