from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import nltk
import pytest

from espalier.metrics.ted import nodes_of
from espalier.syntax.constituency import clean, cut, linearize, read_tree, tags, template, words, write_tree
from espalier.syntax.levels import bracketed
from espalier.syntax.tree import Tree

APPLE = "(S (NP-SBJ (PRP I)) (VP (VBD ate) (NP (DT an) (NN apple))))"


def test_a_tree_equals_another_of_the_same_label_and_children_alone() -> None:
    assert read_tree(APPLE) == read_tree(APPLE)
    for other in (Tree("NP", [Tree("NN", ["pear"])]), Tree("X", [Tree("NN", ["apple"])]), Tree("NP", ["apple"])):
        assert Tree("NP", [Tree("NN", ["apple"])]) != other
    empty = list[object]()
    assert Tree("NP") != empty and empty != Tree("NP")
    with pytest.raises(TypeError, match="unhashable"):
        hash(Tree("NP", []))


def test_a_copy_shares_nothing_with_its_tree() -> None:
    tree = read_tree(APPLE)
    other = copy.deepcopy(tree)
    assert other == tree
    other[1].pop()
    assert tree == read_tree(APPLE) != other


@pytest.mark.parametrize(
    "taken", [write_tree, linearize, words, tags, template, bracketed, nodes_of, clean, lambda tree: cut(tree, 2)]
)
def test_what_takes_a_tree_takes_one_of_nltk(taken: Callable[[Any], object]) -> None:
    assert taken(nltk.Tree.fromstring(APPLE)) == taken(read_tree(APPLE))
