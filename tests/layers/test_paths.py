"""Paths as tensors against those that are walked one tree at a time, and against the worked example."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from espalier.layers.paths import Paths, paths_of
from espalier.syntax.levels import path_mask, paths


@st.composite
def trees(draw: st.DrawFn) -> list[int]:
    """Levels of a tree of up to 12 nodes and 8 levels."""
    levels = [1]
    for step in draw(st.lists(st.integers(0, 7), max_size=11)):
        levels.append(2 + step % min(levels[-1], 7))
    return levels


def batch_of(rows: list[list[int]], before: int = 0, after: int = 0) -> Tensor:
    time = before + max(map(len, rows)) + after
    found = torch.zeros(len(rows), time, dtype=torch.long)
    for levels, row in zip(found, rows, strict=True):
        levels[before : before + len(row)] = torch.tensor(row)
    return found


def listed(found: Paths, row: int) -> list[list[int]]:
    """The paths of one row, as lists of places."""
    pairs = zip(found.nodes[row].tolist(), found.on[row].tolist(), strict=True)
    walks = [[node for node, here in zip(nodes, on, strict=True) if here] for nodes, on in pairs]
    return [walk for walk in walks if walk]


def test_the_worked_example_has_its_four_paths() -> None:
    found = paths_of(batch_of([[1, 2, 3, 2, 3, 3, 4, 4]]))
    assert listed(found, 0) == [[0, 1, 2], [0, 3, 4], [0, 3, 5, 6], [0, 3, 5, 7]]
    assert found.count.tolist() == [4]
    assert found.cover.tolist() == [[4, 1, 1, 3, 1, 2, 1, 1]]


def test_small_trees_have_their_paths() -> None:
    found = paths_of(batch_of([[1], [1, 2], [1, 2, 2]]))
    assert [listed(found, row) for row in range(3)] == [[[0]], [[0, 1]], [[0, 1], [0, 2]]]


@settings(max_examples=40, deadline=None)
@given(st.lists(trees(), min_size=1, max_size=4), st.integers(0, 1), st.integers(0, 2))
def test_paths_and_counts_are_those_of_a_walk_wherever_the_tree_stands(
    rows: list[list[int]], before: int, after: int
) -> None:
    found = paths_of(batch_of(rows, before, after))
    for row, levels in enumerate(rows):
        assert listed(found, row) == [[before + node for node in path] for path in paths(levels)]
        mask = path_mask(levels)
        cover = found.cover[row].tolist()
        assert cover == [0] * before + mask.sum(0).tolist() + [0] * (len(cover) - before - len(levels))
        assert found.count[row] == len(mask)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=9), min_size=1, max_size=3))
def test_levels_of_no_tree_raise_nothing_and_point_into_the_row(rows: list[list[int]]) -> None:
    levels = batch_of(rows)
    found = paths_of(levels)
    assert bool((found.nodes >= 0).all()) and bool((found.nodes < levels.shape[1]).all())
    assert bool((found.cover > 0)[levels == 0].logical_not().all())


def test_a_batch_without_nodes_has_no_paths() -> None:
    for shape in ((2, 3), (2, 0), (0, 3)):
        found = paths_of(torch.zeros(shape, dtype=torch.long))
        assert found.count.tolist() == [0] * shape[0]
        assert found.cover.shape == shape and not bool(found.cover.any())


def test_pairs_say_where_two_nodes_of_a_path_meet() -> None:
    found = paths_of(batch_of([[1, 2, 2]]))
    # Paths 0-1 and 0-2 in a (3, 3) matrix: (0,0) (0,1) (1,0) (1,1), then (0,0) (0,2) (2,0) (2,2).
    assert found.pairs.tolist() == [[0, 1, 3, 4, 0, 2, 6, 8]]


def test_shares_add_up_to_the_mean_length_of_a_path() -> None:
    rows = [[1, 2, 3, 2, 3, 3, 4, 4], [1, 2, 2]]
    found = paths_of(batch_of(rows))
    for row, levels in enumerate(rows):
        lengths = [len(path) for path in paths(levels)]
        torch.testing.assert_close(found.share[row].sum(), torch.tensor(sum(lengths) / len(lengths)))
