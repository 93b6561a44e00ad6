"""Records that stay in their table: those that `records_of` makes of all rows, in the same order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from espalier.corpora.records import Sentence, Verse
from espalier.corpora.stored import StoredRecords, in_chunks, taken
from espalier.io.errors import ArtifactError, MissingError
from espalier.io.tables import write_table
from tests.corpora.whole_tables import table_of

TEXT = st.text(max_size=3)
SENTENCES = st.lists(st.tuples(TEXT, st.sampled_from(["", "d1"])), max_size=20)


def sentences(rows: list[tuple[str, str]]) -> list[Sentence]:
    return [Sentence(id=f"s{n}", origin="o", language="en", target=text, group=group)
            for n, (text, group) in enumerate(rows)]  # fmt: skip


@given(SENTENCES, st.sampled_from([1, 7, 1000]), st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_table_gives_its_records_whatever_is_read_at_once(
    tmp_path: Path, rows: list[tuple[str, str]], at_once: int, data: st.DataObject
) -> None:
    wanted = sentences(rows)
    write_table(tmp_path / "t.parquet", table_of(wanted, Sentence))
    found = StoredRecords(tmp_path / "t.parquet", Sentence, at_once)
    assert len(found) == len(wanted) and [*found] == wanted == [*found]  # and again
    if wanted:
        place = data.draw(st.integers(-len(wanted), len(wanted) - 1))
        assert found[place] == wanted[place]
    bounds = data.draw(st.slices(len(wanted)))
    assert found[bounds] == wanted[bounds]
    places = np.array(sorted(data.draw(st.sets(st.integers(0, len(wanted) - 1)))) if wanted else [], dtype=np.int64)
    assert found.at(places) == taken(found, places) == taken(wanted, places) == [wanted[place] for place in places]
    assert found.fills("target") == any(text for text, _ in rows) and not found.fills("target_tree")
    assert found.fills("group") == any(group for _, group in rows)  # no column where no row fills it


def test_missing_tables_and_columns_are_named_before_a_row_is_read(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="no such table"):
        StoredRecords(tmp_path / "none.parquet", Sentence, 9)
    write_table(tmp_path / "t.parquet", table_of(sentences([("a", "")]), Sentence))
    with pytest.raises(ArtifactError, match="no column author, tune, rhyme; it has"):
        StoredRecords(tmp_path / "t.parquet", Verse, 9)


def test_records_at_places_are_read_from_their_row_groups_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = sentences([(f"text {number}", "") for number in range(20)])
    table = pa.Table.from_pandas(table_of(wanted, Sentence), preserve_index=False)
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=6)
    found, groups, read = StoredRecords(tmp_path / "t.parquet", Sentence, 4), [], pq.ParquetFile.iter_batches

    def reading(file: pq.ParquetFile, *args: object, **more: object) -> object:
        groups.append(more["row_groups"])
        return read(file, *args, **more)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", reading)
    assert found.at(np.array([0, 5, 18, 19])) == [wanted[0], wanted[5], wanted[18], wanted[19]]
    assert groups == [[0], [3]]


def test_chunks_are_all_rows_in_their_order() -> None:
    assert [*in_chunks(iter(range(7)), 3)] == [[0, 1, 2], [3, 4, 5], [6]] and [*in_chunks([], 3)] == []
