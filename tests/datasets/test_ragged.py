"""Rows of different lengths: what they hold comes back, padded or from a file."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Self

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.datasets.ragged import Ragged, RaggedSplit, saved_as_lists

ROWS = st.lists(st.lists(st.integers(0, 2**31 - 1), max_size=6), max_size=6)


class Split(RaggedSplit[None]):
    COLUMNS = ("other", "one")


class Doubled(Split):
    """A split of a plugin that makes more of its file than its rows."""

    @classmethod
    def load(cls, path: Path, vocabulary: None) -> Self:
        found = super().load(path, vocabulary)
        return cls([f"{id_}!" for id_ in found.ids], found.columns, vocabulary)


def rows_of(ragged: Ragged) -> list[list[int]]:
    return [ragged.flat[i:j].tolist() for i, j in pairwise(ragged.offsets)]


@given(ROWS)
def test_rows_come_back(rows: list[list[int]]) -> None:
    ragged = Ragged.of(rows)
    assert rows_of(ragged) == rows and ragged.lengths.tolist() == [len(row) for row in rows]
    assert ragged.flat.dtype == np.int32 and ragged.offsets.dtype == np.int64


@given(ROWS.filter(bool), st.integers(1, 4), st.data())
def test_chosen_rows_are_padded_to_the_longest_of_them_and_the_grain(
    rows: list[list[int]], grain: int, data: st.DataObject
) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=5))
    found = Ragged.of(rows).padded(np.array(chosen, dtype=np.int64), -1, grain)
    longest = max((len(rows[place]) for place in chosen), default=0)
    assert found.shape == (len(chosen), -(-longest // grain) * grain)
    assert [[each for each in row if each != -1] for row in found.tolist()] == [rows[place] for place in chosen]
    assert all(row == sorted(row, key=lambda each: each == -1) for row in found.tolist())


@given(ROWS.filter(bool), st.data())
def test_selected_rows_are_those_of_numpy_indexing(rows: list[list[int]], data: st.DataObject) -> None:
    places = np.array(data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=8)), dtype=np.int64)
    array = np.empty(len(rows), dtype=object)
    array[:] = rows
    selected = Ragged.of(rows).select(places)
    assert rows_of(selected) == array[places].tolist()
    assert selected.flat.dtype == np.int32 and selected.offsets.dtype == np.int64


def test_rows_are_selected_of_an_empty_array() -> None:
    assert rows_of(Ragged.of([]).select(np.arange(0))) == []


@pytest.mark.parametrize("rows", [[], [[]], [[], [7], []], [[1, 2], [], [3, 4, 5]]])
def test_a_file_gives_rows_and_ids_back(rows: list[list[int]], tmp_path: Path) -> None:
    ids = [f"row/{n}" for n in range(len(rows))]
    other = Ragged.of([[9] * n for n in range(len(rows))])
    Split(ids, {"one": Ragged.of(rows), "other": other}, None).save(tmp_path / "made.parquet")
    found = Split.load(tmp_path / "made.parquet", None)
    assert found.ids == ids and list(found.columns) == ["other", "one"]
    assert rows_of(found.columns["one"]) == rows and rows_of(found.columns["other"]) == rows_of(other)
    assert found.columns["one"].padded(np.arange(len(rows)), 0).shape[0] == len(rows)


def test_a_split_that_is_loaded_in_its_own_way_is_not_mapped_instead(tmp_path: Path) -> None:
    path, rows = tmp_path / "made.parquet", Ragged.of([[1], [2]])
    Doubled(["a", "b"], {"one": rows, "other": rows}, None).save(path)
    for kind, ids in ((Split, ["a", "b"]), (Doubled, ["a!", "b!"])):
        assert list(kind.shared(path, None, tmp_path / kind.__name__).ids) == ids == list(kind.load(path, None).ids)
        assert saved_as_lists(kind) == (tmp_path / kind.__name__).exists() == (kind is Split)


@given(ROWS, st.integers(1, 4), st.integers(0, 3))
def test_parts_are_the_rows_in_their_order_and_a_value_is_counted_in_all(
    rows: list[list[int]], size: int, value: int
) -> None:
    ragged = Ragged.of(rows)
    parts = [*ragged.parts(size)]
    assert [row for part in parts for row in rows_of(part)] == rows and all(len(part.lengths) <= size for part in parts)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("espalier.datasets.ragged._PART", size)
        assert ragged.count(value) == sum(row.count(value) for row in rows)
