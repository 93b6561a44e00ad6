"""Trees as rows of ids: what is written is what was read, in either form."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.datasets.pairs.tree_symbols import CLOSE, FIRST, FIRST_BRACKETED, OPEN, TreeSymbols
from espalier.datasets.vocabulary import BOS, EOS, PAD, UNK
from espalier.io.errors import ConfigError
from espalier.syntax.constituency import read_tree, write_tree
from espalier.syntax.levels import TreeError, bracketed, cut, linearize
from espalier.syntax.tree import Tree
from tests.datasets.pairs.bracketed_rows import bracketed_row

APPLE = "(S (NP (PRP I)) (VP (VBD ate) (NP (DT an) (NN apple))))"
SYMBOLS = TreeSymbols.build([read_tree(APPLE, words=False)], 8)

LABELS = ("S", "NP", "VP", "-LRB-", ".", "NN")
TREES = st.recursive(
    st.sampled_from(LABELS).map(lambda label: Tree(label, [])),
    lambda below: st.builds(Tree, st.sampled_from(LABELS), st.lists(below, min_size=1, max_size=3)),
    max_leaves=8,
)


# --- What a tree is written as ----------------------------------------------------------------------------------------


def test_the_paper_s_example_is_one_symbol_a_node() -> None:
    assert SYMBOLS.labels == ("NP", "DT", "NN", "PRP", "S", "VBD", "VP")  # NP twice, then by code point
    row = SYMBOLS.encode(read_tree(APPLE, words=False))
    # id = 4 + label's place x 8 + level - 1
    assert row == [4 + 32 + 0, 4 + 0 + 1, 4 + 24 + 2, 4 + 48 + 1, 4 + 40 + 2, 4 + 0 + 2, 4 + 8 + 3, 4 + 16 + 3]
    assert [SYMBOLS.level_ids[each] - 3 for each in row] == [1, 2, 3, 2, 3, 3, 4, 4]
    assert " ".join(SYMBOLS.labels[SYMBOLS.label_ids[each] - 4] for each in row) == "S NP PRP VP VBD NP DT NN"
    assert len(bracketed_row(row, SYMBOLS)) == 24


def test_sizes_are_labels_times_levels_and_four_specials() -> None:
    assert (SYMBOLS.size, SYMBOLS.nodes, SYMBOLS.levels) == (4 + 7 * 8, 4 + 7, 12)
    assert SYMBOLS.bracketed_size == 4 + 2 + 7
    assert (OPEN, CLOSE, FIRST_BRACKETED) == (4, 5, 6) and FIRST == EOS + 1


def test_specials_are_their_own_label_and_level() -> None:
    assert SYMBOLS.label_ids[:4].tolist() == SYMBOLS.level_ids[:4].tolist() == [PAD, UNK, BOS, EOS]


def test_leaves_are_the_nodes_without_children_and_phrases_the_labels_with_some() -> None:
    row = SYMBOLS.encode(read_tree(APPLE, words=False))
    assert SYMBOLS.leaves(row) == ["PRP", "VBD", "DT", "NN"] and SYMBOLS.phrases == {"S", "NP", "VP"}
    assert SYMBOLS.leaves(row[:4]) == ["PRP", "VP"] and SYMBOLS.leaves([]) == []


def test_brackets_are_the_paper_s() -> None:
    found = bracketed_row(SYMBOLS.encode(read_tree("(S (NP (PRP I)))", words=False)), SYMBOLS)
    s, np, prp = (6 + SYMBOLS.labels.index(label) for label in ("S", "NP", "PRP"))
    assert found == [4, s, 4, np, 4, prp, 5, 5, 5]
    assert bracketed_row([], SYMBOLS) == []


# --- There and back ---------------------------------------------------------------------------------------------------


@given(st.lists(TREES, min_size=1, max_size=3), st.integers(1, 6))
def test_what_is_decoded_is_the_tree_cut_at_the_depth(trees: list[Tree], depth: int) -> None:
    symbols = TreeSymbols.build(trees, depth)
    for tree in trees:
        row = symbols.encode(tree)
        assert all(FIRST <= each < symbols.size for each in row)
        assert write_tree(symbols.decode(row)) == write_tree(cut(tree, depth))
        brackets = bracketed_row(row, symbols)
        assert len(brackets) == 3 * len(row) and max(brackets) < symbols.bracketed_size
        assert write_tree(symbols.decode_bracketed(brackets)) == write_tree(cut(tree, depth))
        names = {OPEN: "(", CLOSE: ")"} | {6 + place: label for place, label in enumerate(symbols.labels)}
        assert [names[each] for each in brackets] == bracketed(cut(tree, depth))


@given(st.lists(TREES, min_size=1, max_size=4), st.integers(1, 5))
def test_every_symbol_is_one_label_at_one_level(trees: list[Tree], depth: int) -> None:
    symbols = TreeSymbols.build(trees, depth)
    found = {symbols.symbol(label, level): (label, level) for label in symbols.labels for level in range(1, depth + 1)}
    assert sorted(found) == list(range(FIRST, symbols.size))
    for each, (label, level) in found.items():
        assert symbols.labels[symbols.label_ids[each] - FIRST] == label and symbols.level_ids[each] == level + 3


@given(st.lists(TREES, min_size=1, max_size=5), st.integers(1, 5), st.randoms(use_true_random=False))
def test_the_order_of_the_trees_and_their_words_do_not_matter(
    trees: list[Tree], depth: int, order: random.Random
) -> None:
    wanted = TreeSymbols.build(trees, depth)
    shuffled = [read_tree(write_tree(tree), words=False) for tree in trees]
    order.shuffle(shuffled)
    assert TreeSymbols.build(shuffled, depth) == wanted
    value: dict[str, Any] = json.loads(json.dumps(wanted.as_json()))
    tuples: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in value.items()}
    assert TreeSymbols(**tuples) == wanted


# --- What labels were seen to do --------------------------------------------------------------------------------------


def test_labels_remember_whether_they_had_children() -> None:
    symbols = TreeSymbols.build([read_tree("(S (NP (NN a)) (X) (VP (X (VB b))))", words=False)], 3)
    found = {
        label: (opens, ends) for label, opens, ends in zip(symbols.labels, symbols.opens, symbols.ends, strict=True)
    }
    # NN ends at the last level: no one knows whether it was cut. VB lies below it. X had children, and none.
    assert found == {
        "S": (True, False),
        "NP": (True, False),
        "NN": (False, False),
        "X": (True, True),
        "VP": (True, False),
    }


@given(st.lists(TREES, min_size=1, max_size=4), st.integers(1, 5))
def test_each_label_was_seen_to_open_to_end_or_at_the_last_level(trees: list[Tree], depth: int) -> None:
    symbols = TreeSymbols.build(trees, depth)
    lowest = {label for tree in trees for label, level in zip(*linearize(tree), strict=True) if level == depth}
    for label, opens, ends in zip(symbols.labels, symbols.opens, symbols.ends, strict=True):
        assert opens or ends or label in lowest


# --- What cannot be ---------------------------------------------------------------------------------------------------


def test_an_unknown_label_and_a_level_too_deep_are_named() -> None:
    with pytest.raises(ConfigError, match="unknown label 'QP'"):
        SYMBOLS.encode(read_tree("(S (QP))", words=False))
    for level in (0, 9):
        with pytest.raises(ConfigError, match=f"level {level}; this model knows levels 1 to 8"):
            SYMBOLS.symbol("NP", level)


def test_what_is_below_the_depth_may_have_any_label() -> None:
    symbols = TreeSymbols.build([read_tree("(S (NP))", words=False)], 2)
    assert symbols.encode(read_tree("(S (NP (QP)))", words=False)) == [symbols.symbol("S", 1), symbols.symbol("NP", 2)]


@pytest.mark.parametrize("nodes", [[], [("NP", 2)], [("S", 1), ("NP", 3)], [("S", 1), ("S", 1)]])
def test_symbols_that_are_no_tree_are_refused(nodes: list[tuple[str, int]]) -> None:
    with pytest.raises(TreeError):
        SYMBOLS.decode([SYMBOLS.symbol(*node) for node in nodes])


@pytest.mark.parametrize("ids", [[], [4], [4, 6], [4, 6, 5, 5], [4, 4, 6, 5], [6], [4, 6, 5, 4, 6, 5], [4, 6, 6, 5]])
def test_brackets_that_are_no_tree_are_refused(ids: list[int]) -> None:
    with pytest.raises(TreeError):
        SYMBOLS.decode_bracketed(ids)
