"""Lists in mapped files: what went in comes out, one process makes them, and no half folder is read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from espalier.io import mapped
from espalier.io.errors import ArtifactError
from espalier.io.lists import Lists, Rows, list_chunks, write_lists
from espalier.io.mapped import ListFiles, Texts, mapped_lists, shared_lists

IDS, ROWS = ["a", "", "一/reversed"], [[1, 2], [], [-3]]


def column(rows: list[list[int]]) -> Lists:
    flat = np.array([value for row in rows for value in row], dtype=np.int32)
    return flat, np.cumsum([0, *map(len, rows)])


def made(folder: Path, rows: list[list[int]] = ROWS) -> Path:
    path = folder / "train.parquet"
    write_lists(path, IDS, {"one": column(rows)})
    return path


def plain(found: tuple[Texts, dict[str, Lists]]) -> tuple[list[str], list[list[int]]]:
    ids, columns = found
    flat, offsets = columns["one"]
    return list(ids), [flat[start:end].tolist() for start, end in pairwise(offsets)]


@given(st.lists(st.tuples(st.text(max_size=4), st.lists(st.integers(-(2**31), 2**31 - 1), max_size=4)), max_size=20))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rows_come_back_however_they_are_appended(tmp_path: Path, rows: list[tuple[str, list[int]]]) -> None:
    ids, values = [id_ for id_, _ in rows], column([row for _, row in rows])
    for size in (1, 7, 1000):
        with ListFiles(tmp_path, ["one"]) as files:
            for start in range(0, len(rows), size):
                files.append(ids[start : start + size], {"one": (values[0], values[1][start : start + size + 1])})
        assert plain(mapped_lists(tmp_path, ["one"])) == (ids, [row for _, row in rows])


def test_texts_are_a_sequence_of_strings() -> None:
    texts = Texts(np.frombuffer("a一b".encode(), np.uint8), np.array([0, 1, 4, 4, 5]))
    assert len(texts) == 4 and list(texts) == ["a", "一", "", "b"] and texts[-1] == "b" and texts[1:3] == ["一", ""]
    assert texts.index("b") == 3 and "一" in texts and np.isin(texts, ["b", "a"]).tolist() == [True, False, False, True]
    with pytest.raises(IndexError):
        texts[4]


def test_the_pages_of_a_table_are_shared_and_cannot_be_written(tmp_path: Path) -> None:
    ids, columns = shared_lists(made(tmp_path), ["one"], tmp_path / "ids")
    assert plain((ids, columns)) == (IDS, ROWS)
    assert not any(array.flags.writeable for array in columns["one"])
    if (maps := Path("/proc/self/maps")).exists():
        own = [line for line in maps.read_text().splitlines() if str(tmp_path / "ids") in line]
        assert len(own) == 4 and all(re.search(r" r--s ", line) for line in own)


def test_the_files_are_made_once_and_again_for_another_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, calls = made(tmp_path), list[Path]()

    def counted(table: Path, columns: Sequence[str], rows: int) -> Iterator[Rows]:
        calls.append(table)
        return list_chunks(table, columns, rows)

    monkeypatch.setattr(mapped, "list_chunks", counted)
    for _ in range(2):
        assert plain(shared_lists(path, ["one"], tmp_path / "ids"))[1] == ROWS
    assert len(calls) == 1
    before = shared_lists(path, ["one"], tmp_path / "ids")
    assert plain(shared_lists(made(tmp_path, [[7], [8], []]), ["one"], tmp_path / "ids"))[1] == [[7], [8], []]
    assert len(calls) == 2 and plain(before)[1] == ROWS  # who still reads the old table is not disturbed


@pytest.mark.parametrize("harm", ["cut", "gone", "no list", "list of nothing"])
def test_a_folder_that_is_not_whole_is_made_anew(tmp_path: Path, harm: str) -> None:
    path, folder = made(tmp_path), tmp_path / "ids"
    shared_lists(path, ["one"], folder)
    victim = folder / ("lists.json" if "list" in harm else "1.values")
    if harm == "cut":
        victim.write_bytes(victim.read_bytes()[:-1])
    elif harm == "list of nothing":
        victim.write_text("[", encoding="utf-8")
    else:
        victim.unlink()
    assert plain(shared_lists(path, ["one"], folder))[1] == ROWS


def test_what_ends_while_the_files_are_made_leaves_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path)

    def ends(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(mapped.ListFiles, "append", ends)
        with pytest.raises(KeyboardInterrupt):
            shared_lists(path, ["one"], tmp_path / "ids")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["ids.lock", "train.parquet"]
    assert plain(shared_lists(path, ["one"], tmp_path / "ids"))[1] == ROWS


def test_a_table_with_a_changed_byte_is_one_line_even_where_its_files_are_there(tmp_path: Path) -> None:
    path = made(tmp_path)
    shared_lists(path, ["one"], tmp_path / "ids")
    data = bytearray(path.read_bytes())
    data[8] ^= 1
    path.write_bytes(data)
    with pytest.raises(ArtifactError, match=r"train\.parquet: damaged: .*; delete it and run its stage again$"):
        shared_lists(path, ["one"], tmp_path / "ids")
