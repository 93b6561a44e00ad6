"""Trees as sequences: the worked examples of the paper, the inverses, and the sequences that no tree has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.io.errors import ConfigError, EspalierError
from espalier.syntax.constituency import words, write_tree
from espalier.syntax.levels import (
    TreeError,
    bracketed,
    cut,
    level_mistake,
    linearize,
    path_mask,
    paths,
    tree_of,
    tree_of_brackets,
    without_words,
)
from espalier.syntax.tree import Tree

APPLE = Tree(
    "S",
    [
        Tree("NP", [Tree("PRP", ["I"])]),
        Tree("VP", [Tree("VBD", ["ate"]), Tree("NP", [Tree("DT", ["an"]), Tree("NN", ["apple"])])]),
    ],
)
LABELS = ("S", "NP", "PRP", "VP", "VBD", "NP", "DT", "NN")
LEVELS = (1, 2, 3, 2, 3, 3, 4, 4)


@st.composite
def level_sequences(draw: st.DrawFn) -> list[int]:
    """Those of a tree: each level is drawn from 2 to one more than the last."""
    levels = [1]
    for _ in range(draw(st.integers(0, 30))):
        levels.append(draw(st.integers(2, levels[-1] + 1)))
    return levels


def labels_for(levels: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"X{place}" for place in range(len(levels)))


def paths_by_parents(levels: Sequence[int]) -> list[list[int]]:
    """From each leaf upwards: the parent is the nearest node before it with a level one less."""
    parents = [
        max((i for i in range(place) if levels[i] == level - 1), default=-1) for place, level in enumerate(levels)
    ]
    complete = []
    for leaf in sorted(set(range(len(levels))) - set(parents)):
        way = [leaf]
        while parents[way[0]] >= 0:
            way.insert(0, parents[way[0]])
        complete.append(way)
    return complete


# --- Nodes and levels ------------------------------------------------------------------------------------------------


def test_the_papers_sentence_has_the_papers_nodes_and_levels() -> None:
    assert linearize(APPLE) == (LABELS, LEVELS)


def test_only_the_words_are_lost_and_the_tree_comes_back() -> None:
    assert str(tree_of(LABELS, LEVELS)) == str(without_words(APPLE))
    assert write_tree(without_words(APPLE)) == "(S (NP (PRP)) (VP (VBD) (NP (DT) (NN))))"
    assert words(APPLE) == ("I", "ate", "an", "apple")


@given(level_sequences())
def test_tree_of_and_linearize_are_inverse(levels: list[int]) -> None:
    labels = labels_for(levels)
    tree = tree_of(labels, levels)
    assert linearize(tree) == (labels, tuple(levels))
    assert tree_of(*linearize(tree)) == tree


@pytest.mark.parametrize(
    ("levels", "mistake"),
    [
        ([], "no levels"),
        ([2], "the first level is 2"),
        ([0], "level 0 at place 1, where the root has level 1"),
        ([1, 2, 4], "level 4 at place 3 follows level 2"),
        ([1, 3, 2], "level 3 at place 2 follows level 1"),
        ([1, 2, 1], "level 1 at place 3 is a second root"),
        ([1, 2, -1], "level -1 at place 3, where the root has level 1"),
    ],
)
def test_levels_that_no_tree_has_are_refused_with_their_place(levels: list[int], mistake: str) -> None:
    assert level_mistake(levels) == mistake
    for refuse in (paths, path_mask, lambda given: tree_of(labels_for(given), given)):
        with pytest.raises(TreeError) as caught:
            refuse(levels)
        assert str(caught.value).startswith(f"tree: {mistake}; ")


@given(st.lists(st.integers(0, 4), max_size=6))
def test_levels_are_valid_exactly_when_each_node_but_the_first_has_a_parent(levels: list[int]) -> None:
    valid = levels[:1] == [1]
    for place, level in enumerate(levels[1:], start=1):
        # the parent is the last node before with a smaller level, and has exactly one less
        smaller = [before for before in levels[:place] if before < level]
        valid = valid and level > 1 and smaller[-1:] == [level - 1]
    assert (level_mistake(levels) is None) == valid


def test_a_label_too_few_is_refused() -> None:
    with pytest.raises(TreeError, match=r"^tree: 2 labels with 3 levels$"):
        tree_of(["S", "NP"], [1, 2, 2])


def test_the_template_of_three_levels_is_the_papers() -> None:
    assert linearize(cut(APPLE, 3)) == (("S", "NP", "PRP", "VP", "VBD", "NP"), (1, 2, 3, 2, 3, 3))
    assert linearize(cut(APPLE, 1)) == (("S",), (1,))
    assert cut(APPLE, 4) == cut(APPLE, 99) == without_words(APPLE)


@given(level_sequences(), st.integers(1, 6), st.integers(1, 6))
def test_cuts_compose_to_the_shallower_one(levels: list[int], one: int, other: int) -> None:
    tree = tree_of(labels_for(levels), levels)
    assert cut(cut(tree, one), other) == cut(tree, min(one, other))
    assert cut(tree, max(levels)) == tree


def test_a_cut_to_no_levels_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^levels: a tree cut to 0 levels; "):
        cut(APPLE, 0)


# --- Brackets --------------------------------------------------------------------------------------------------------


def test_the_papers_sentence_has_24_tokens_in_brackets() -> None:
    tokens = bracketed(APPLE)
    assert len(tokens) == 24
    assert "".join(tokens) == "(S(NP(PRP))(VP(VBD)(NP(DT)(NN))))"
    assert tree_of_brackets(tokens) == without_words(APPLE)


@given(level_sequences())
def test_tree_of_brackets_and_bracketed_are_inverse(levels: list[int]) -> None:
    tree = tree_of(labels_for(levels), levels)
    tokens = bracketed(tree)
    assert len(tokens) == 3 * len(levels)
    assert tree_of_brackets(tokens) == tree
    assert "".join(tokens) == write_tree(tree).replace(" ", "")


@given(st.lists(st.sampled_from(["(", ")", "S", "NP"]), max_size=12))
def test_brackets_are_read_exactly_when_they_are_a_trees(tokens: list[str]) -> None:
    try:
        tree = tree_of_brackets(tokens)
    except EspalierError as error:
        assert "\n" not in str(error)
    else:
        assert bracketed(tree) == tokens


@pytest.mark.parametrize(
    ("tokens", "mistake"),
    [
        ("", "no tokens"),
        ("( S", "a bracket is not closed"),
        ("( S ( NP )", "a bracket is not closed"),
        ("( S ( NP", "2 brackets are not closed"),
        ("( S ) )", "the bracket at place 4 closes nothing"),
        (")", "the bracket at place 1 closes nothing"),
        ("( S ) ( S )", "a second tree begins at place 4"),
        ("( )", "')' at place 2"),
        ("( ( S ) )", "'(' at place 2"),
        ("( S I )", "'I' at place 3"),
        ("S", "'S' at place 1"),
    ],
)
def test_brackets_that_are_no_tree_are_refused_with_their_place(tokens: str, mistake: str) -> None:
    with pytest.raises(TreeError) as caught:
        tree_of_brackets(tokens.split())
    assert str(caught.value).partition("; ")[0] == f"tree: {mistake}"


# --- Paths -----------------------------------------------------------------------------------------------------------


def test_the_papers_sentence_has_four_paths() -> None:
    assert paths(LEVELS) == [[0, 1, 2], [0, 3, 4], [0, 3, 5, 6], [0, 3, 5, 7]]
    mask = path_mask(LEVELS)
    assert mask.dtype == np.bool_
    assert ["".join(map(str, row)) for row in mask.astype(int)] == ["11100000", "10011000", "10010110", "10010101"]


@pytest.mark.parametrize(
    ("levels", "expected"), [([1], [[0]]), ([1, 2], [[0, 1]]), ([1, 2, 2], [[0, 1], [0, 2]]), ((1, 2, 3), [[0, 1, 2]])]
)
def test_small_trees_have_these_paths(levels: Sequence[int], expected: list[list[int]]) -> None:
    assert paths(levels) == expected


@given(level_sequences())
def test_paths_and_mask_agree_with_a_walk_up_from_every_leaf(levels: list[int]) -> None:
    expected = paths_by_parents(levels)
    assert paths(levels) == expected
    mask = path_mask(np.array(levels))  # type: ignore[arg-type]
    assert [np.flatnonzero(row).tolist() for row in mask] == expected
    assert mask.shape == (len(expected), len(levels))


# --- Deep and long ---------------------------------------------------------------------------------------------------


def test_a_chain_of_five_thousand_levels_overflows_nothing() -> None:
    levels = range(1, 5001)
    tree = tree_of(labels_for(levels), levels)
    assert linearize(tree)[1] == tuple(levels)
    assert linearize(tree_of_brackets(bracketed(tree)))[1] == tuple(levels)
    assert len(paths(levels)[0]) == path_mask(levels).sum() == 5000
    assert linearize(cut(tree, 3))[0] == ("X0", "X1", "X2")


def test_a_sentence_of_four_hundred_words_under_one_node_has_four_hundred_paths() -> None:
    levels = [1] + [2] * 400
    assert path_mask(levels).sum() == 800
    assert paths(levels)[-1] == [0, 400]
