"""Records that stay in their table: those that `records_of` makes of all rows, in the same order."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from espalier.corpora.records import Sentence, Verse, table_of
from espalier.corpora.stored import StoredRecords, in_chunks
from espalier.io.errors import ArtifactError, MissingError
from espalier.io.tables import write_table

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
    assert found.fills("target") == any(text for text, _ in rows) and not found.fills("target_tree")
    assert found.fills("group") == any(group for _, group in rows)  # no column where no row fills it


def test_missing_tables_and_columns_are_named_before_a_row_is_read(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="no such table"):
        StoredRecords(tmp_path / "none.parquet", Sentence, 9)
    write_table(tmp_path / "t.parquet", table_of(sentences([("a", "")]), Sentence))
    with pytest.raises(ArtifactError, match="no column author, tune, rhyme; it has"):
        StoredRecords(tmp_path / "t.parquet", Verse, 9)


def test_chunks_are_all_rows_in_their_order() -> None:
    assert [*in_chunks(iter(range(7)), 3)] == [[0, 1, 2], [3, 4, 5], [6]] and [*in_chunks([], 3)] == []
