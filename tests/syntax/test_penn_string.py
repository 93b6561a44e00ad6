"""Depth and labels read off a Penn string."""

from __future__ import annotations

import pytest

from espalier.syntax.levels import labels_of, levels_of


@pytest.mark.parametrize(
    ("tree", "levels", "labels"),
    [
        ("(S (NP (PRP I)) (VP (VBD ate) (NP (DT an) (NN apple))))", 4, "S NP PRP VP VBD NP DT NN"),
        ("(NN lamp)", 1, "NN"),
        ("(S (-LRB- -LRB-) (NN x))", 2, "S -LRB- NN"),
        ("(S (NP) (VP (VBD)))", 3, "S NP VP VBD"),
        ("", 0, ""),
    ],
)
def test_levels_and_labels_leave_the_words_out(tree: str, levels: int, labels: str) -> None:
    assert levels_of(tree) == levels
    assert labels_of(tree) == labels.split()


def test_a_deep_tree_is_no_matter() -> None:
    assert levels_of("(X " * 50_000 + "(NN a" + ")" * 50_001) == 50_001
