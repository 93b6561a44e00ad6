"""Tree edit distance: by hand, against a slow recursion over forests, and against apted."""

from __future__ import annotations

import sys
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.io.errors import EspalierError
from espalier.metrics.metric import scores
from espalier.metrics.ted import (
    KEYS,
    LEVELS,
    Leaves,
    Nodes,
    Ted,
    cut_nodes,
    distance,
    nodes_of,
    ted_statistics,
)
from espalier.metrics.ted_audit import apted_distance
from espalier.syntax.constituency import TreeError, cut, linearize, read_tree, tree_of, write_tree
from espalier.syntax.tree import Tree

ATE = "(S (NP (PRP I)) (VP (VBD ate) (NP (DT an) (NN apple))))"
FELL = "(S (NP (PRP It)) (VP (VBD fell)))"


def between(one: str, other: str, leaves: Leaves = "tags") -> int:
    words = leaves != "tags"
    return distance(*(nodes_of(read_tree(text, words=words), leaves) for text in (one, other)))


def values(references: list[str], hypotheses: list[str]) -> dict[str, float | None]:
    found = scores(Ted().metrics, ted_statistics(references, hypotheses), seed=0, resamples=0)
    assert tuple(found) == KEYS
    return {key: score.value for key, score in found.items()}


# --- Distances -------------------------------------------------------------------------------------------------------

PAIRS = [
    (ATE, ATE, 0),
    (ATE, FELL, 3),  # NP, DT and NN go
    ("(A)", "(B)", 1),
    ("(A)", "(B (A))", 1),  # a root comes on top
    ("(S (X (A) (B)))", "(S (A) (B))", 1),  # a node goes, what is below it stays
    ("(S (A) (B) (C))", "(S (A) (X (B) (C)))", 1),
    ("(S (A) (B))", "(S (B) (A))", 2),  # order counts: nothing is moved
    ("(S (NP (A) (B)) (C))", "(S (C) (NP (A) (B)))", 2),  # C goes and comes
    ("(A (B (C (D))))", "(A (B) (C) (D))", 4),  # a chain and a row share two nodes, one above the other
    ("(A (A (A)))", "(A (A) (A))", 2),
    ("(S (A (B)) (C))", "(T (A (D)) (C))", 2),
]


@pytest.mark.parametrize(("one", "other", "expected"), PAIRS)
def test_distances_worked_out_by_hand(one: str, other: str, expected: int) -> None:
    assert between(one, other) == between(other, one) == expected


def test_words_are_out_unless_asked_for() -> None:
    other = ATE.replace("apple", "egg").replace("NN", "NNS")
    assert between(ATE, other) == 1  # the tag
    assert between(ATE, other, leaves="words") == 1  # the word in its place
    assert between(ATE, other, leaves="both") == 2
    sizes = {leaves: len(nodes_of(read_tree(ATE), leaves).labels) for leaves in ("tags", "words", "both")}
    assert sizes == {"tags": 8, "words": 8, "both": 12}


def test_a_word_is_never_the_same_as_a_label() -> None:
    assert between("(S (NP (NN VP)) (VP (VB dig)))", "(S (VP (VB dig)) (VP (VB dig)))", leaves="words") == 2
    assert nodes_of(read_tree("(S (X S))"), "both") == Nodes(("S", "X", " S"), (1, 2, 3))
    assert nodes_of(read_tree("(S (X S))"), "words") == Nodes(("S", " S"), (1, 2))


Forest = tuple[tuple[str, "Forest"], ...]


@lru_cache(maxsize=100_000)
def slow(one: Forest, other: Forest) -> int:
    """By definition: the last root of either forest goes, or they are one node with what is below and before."""
    if not one or not other:
        return sum(1 + slow(below, ()) for _, below in one or other)
    (label, below), (label_, below_) = one[-1], other[-1]
    return min(
        slow(one[:-1] + below, other) + 1,
        slow(one, other[:-1] + below_) + 1,
        slow(one[:-1], other[:-1]) + slow(below, below_) + (label != label_),
    )


def forest(tree: Tree) -> Forest:
    return ((tree.label(), tuple(forest(child)[0] for child in tree)),)


def trees(most: int) -> st.SearchStrategy[Tree]:
    """Trees of any shape: each level is at most one more than the last."""
    steps = st.lists(st.tuples(st.sampled_from("AB"), st.integers(0, most)), max_size=most - 1)

    def tree(label: str, steps: list[tuple[str, int]]) -> Tree:
        levels = [1]
        for _, step in steps:
            levels.append(2 + step % levels[-1])
        return tree_of([label, *(label for label, _ in steps)], levels)

    return st.builds(tree, st.sampled_from("AB"), steps)


@given(trees(7), trees(7))
def test_distances_equal_the_recursion_over_forests(one: Tree, other: Tree) -> None:
    assert distance(nodes_of(one), nodes_of(other)) == slow(forest(one), forest(other))


@settings(max_examples=300)
@given(trees(30), trees(30))
def test_distances_equal_those_of_apted_on_every_pair(one: Tree, other: Tree) -> None:
    assert distance(nodes_of(one), nodes_of(other)) == apted_distance(nodes_of(one), nodes_of(other))


@given(trees(10), trees(10), trees(10))
def test_the_distance_is_a_metric(one: Tree, other: Tree, third: Tree) -> None:
    a, b, c = (nodes_of(tree) for tree in (one, other, third))
    assert (distance(a, b) == 0) == (a == b)
    assert distance(a, b) == distance(b, a)
    assert distance(a, c) <= distance(a, b) + distance(b, c)
    sizes = len(a.labels), len(b.labels)
    assert abs(sizes[0] - sizes[1]) <= distance(a, b) <= sum(sizes) - 1  # the roots can always be kept


@given(trees(12), st.integers(1, 8))
def test_nodes_are_cut_as_trees_are(tree: Tree, levels: int) -> None:
    assert cut_nodes(nodes_of(tree), levels) == linearize(cut(tree, levels))


def test_the_empty_tree_is_all_nodes_away() -> None:
    nothing, ate = Nodes((), ()), nodes_of(read_tree(ATE))
    assert distance(nothing, ate) == distance(ate, nothing) == 8
    assert distance(nothing, nothing) == 0


def test_deep_and_wide_trees_are_compared() -> None:
    size = 3 * sys.getrecursionlimit()
    deep, wide = Nodes(("A",) * size, tuple(range(1, size + 1))), Nodes(("A",) * size, (1, *[2] * (size - 1)))
    few = Nodes(("A", "B"), (1, 2))
    assert distance(deep, few) == distance(few, deep) == distance(wide, few) == size - 1
    assert distance(deep, Nodes(("B",) * size, deep.levels)) == size
    assert distance(deep, wide) == 2 * (size - 2)  # as a chain and a row, they share two nodes


# --- The family ------------------------------------------------------------------------------------------------------


def test_keys_are_fixed() -> None:
    cuts = ["3", "4", "5", "6", "7", "8", "full"]
    assert list(KEYS) == [f"{kind}_{cut}" for kind in ("ted", "n_ted", "n_ted_max") for cut in cuts] + ["ted_unparsed"]
    assert set(values([], []).values()) == {None}


def test_levels_and_both_norms_worked_out_by_hand() -> None:
    found = values([ATE, FELL], [FELL, ATE])
    # At level 3 the trees have 6 and 5 nodes, one apart; in full 8 and 5, three apart.
    assert (found["ted_3"], found["ted_4"], found["ted_full"]) == (1.0, 3.0, 3.0)
    assert found["n_ted_3"] == pytest.approx((1 / 6 + 1 / 5) / 2)
    assert found["n_ted_max_3"] == pytest.approx(1 / 6)
    assert found["n_ted_full"] == pytest.approx((3 / 8 + 3 / 5) / 2)
    assert found["n_ted_max_full"] == pytest.approx(3 / 8)
    assert found["ted_unparsed"] == 0.0


def test_only_deep_levels_see_deep_differences() -> None:
    def chain(end: str) -> str:
        return "(S " + "(X " * 8 + f"({end} word)" + ")" * 9

    found = values([chain("NN")], [chain("VB")])
    assert [found[f"ted_{level}"] for level in LEVELS] == [0.0] * 6
    assert found["ted_full"] == 1.0
    assert found["n_ted_full"] == pytest.approx(1 / 10)


def test_an_unparsed_output_is_the_whole_reference_away_and_counted() -> None:
    found = values([ATE, ATE], ["", ATE])
    assert (found["ted_3"], found["ted_full"]) == (3.0, 4.0)  # 6 and 8 nodes, and 0
    assert (found["n_ted_full"], found["n_ted_max_full"], found["ted_unparsed"]) == (0.5, 0.5, 50.0)


@given(st.lists(st.tuples(trees(12), st.none() | trees(12)), max_size=6))
def test_statistics_are_the_distances_pair_by_pair(pairs: list[tuple[Tree, Tree | None]]) -> None:
    texts = [(write_tree(one), "" if other is None else write_tree(other)) for one, other in pairs]
    found = ted_statistics([one for one, _ in texts], [other for _, other in texts])
    assert found.shape == (len(pairs), 23)
    for row, (one, other) in zip(found, pairs, strict=True):
        for column, levels in enumerate([*LEVELS, 1000]):
            wanted = cut_nodes(nodes_of(one), levels)
            given = cut_nodes(nodes_of(other), levels) if other is not None else Nodes((), ())
            sizes = len(wanted.labels), max(len(wanted.labels), len(given.labels))
            expected = distance(wanted, given)
            assert row[column::7][:3] == pytest.approx([expected, expected / sizes[0], expected / sizes[1]])
        assert row[21:].tolist() == [float(other is None), 1.0]


def test_signatures_say_what_tells_the_scores_apart() -> None:
    metrics = {metric.name: metric.signature for metric in Ted().metrics}
    assert len(set(metrics.values())) == len(metrics)
    assert metrics["n_ted_max_full"] == (
        "ted|levels:full|leaves:tags|costs:unit|norm:larger|mean:macro|unparsed:deletes-all"
    )


def test_templates_without_words_are_compared() -> None:
    assert values(["(S (NP) (VP))"], ["(S (VP))"])["ted_full"] == 1.0


def test_mistakes_name_their_row() -> None:
    with pytest.raises(TreeError, match=r"hypotheses, row 2: .*not closed"):
        ted_statistics([ATE, ATE], [ATE, ATE[:-1]])
    with pytest.raises(EspalierError, match="row 2: the reference has no tree; filter it out before"):
        ted_statistics([ATE, ""], [ATE, ATE])
    with pytest.raises(EspalierError, match="1 hypotheses for 2 references"):
        ted_statistics([ATE, ATE], [ATE])
