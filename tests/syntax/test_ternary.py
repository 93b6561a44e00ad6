"""Canonical trees: X2Tree's worked examples, and its theorems 1 and 2 by enumeration and at random."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.io.errors import EspalierError
from espalier.syntax.dependency import children, is_projective, left_counts, mistake
from espalier.syntax.ternary import (
    EOB,
    flatten,
    heads_of,
    lcrs,
    levels,
    ordered,
    read_preorder,
    spell,
    ternary,
    trees_of,
)

Sp = tuple[int, tuple["Sp", ...]]  # I(t) and the children, written as definition 1 has it
COUNTS = {1: 1, 2: 2, 3: 7, 4: 30, 5: 143}


@lru_cache
def forests(size: int) -> tuple[tuple[Sp, ...], ...]:
    """All sequences of SP trees with so many nodes together."""
    if size == 0:
        return ((),)
    return tuple((first, *rest) for n in range(1, size + 1) for first in sp_trees(n) for rest in forests(size - n))


@lru_cache
def sp_trees(size: int) -> tuple[Sp, ...]:
    return tuple((left, below) for below in forests(size - 1) for left in range(len(below) + 1))


def heads_by_definition(tree: Sp) -> tuple[int, ...]:
    """The heads of the words that an in-order walk numbers: left children, the node, right children."""
    heads: dict[int, int] = {}

    def walk(node: Sp, start: int) -> tuple[int, int]:
        """The node's own number, and the next one that is free."""
        left, below = node
        dependents, number = [], 0
        for index, child in enumerate(below):
            if index == left:
                number, start = start, start + 1
            word, start = walk(child, start)
            dependents.append(word)
        if left == len(below):
            number, start = start, start + 1
        heads.update(dict.fromkeys(dependents, number))
        return number, start

    root, _ = walk(tree, 1)
    heads[root] = 0
    return tuple(heads[word] for word in sorted(heads))


Tern = tuple["Tern | None", "Tern | None", "Tern | None"]


def by_algorithm_1(tree: Sp) -> Tern:
    """Line for line as the paper has it, on nested lists."""

    def canonicalize(node: Sp) -> list:  # type: ignore[type-arg]
        left, below = node
        new: list = [None, None, None]  # type: ignore[type-arg]
        last: list = []  # type: ignore[type-arg]
        for j, child in enumerate(below, start=1):
            current = canonicalize(child)
            if j == 1 and j <= left:
                new[0] = current
            elif j == left + 1:
                new[1] = current
            else:
                last[2] = current
            last = current
        return new

    def frozen(node: list | None) -> Tern | None:  # type: ignore[type-arg]
        return None if node is None else tuple(map(frozen, node))  # type: ignore[return-value]

    return frozen(canonicalize(tree))  # type: ignore[return-value]


def nested(nodes: np.ndarray, node: int = 0) -> Tern | None:
    return None if node == EOB else tuple(nested(nodes, child) for child in nodes[node].tolist())  # type: ignore[return-value]


@st.composite
def projective(draw: st.DrawFn, max_words: int = 20) -> tuple[int, ...]:
    """The heads of a random SP tree, drawn top down over stretches of words."""
    size = draw(st.integers(1, max_words))
    heads = [0] * size
    todo = [(1, size, 0)]
    while todo:
        low, high, head = todo.pop()
        if low > high:
            continue
        end = high if head == 0 else draw(st.integers(low, high))  # several dependents may share a stretch
        word = draw(st.integers(low, end))
        heads[word - 1] = head
        todo += [(low, word - 1, word), (word + 1, end, word), (end + 1, high, head)]
    return tuple(heads)


@st.composite
def ordered_trees(draw: st.DrawFn) -> list[list[int]]:
    size = draw(st.integers(1, 12))
    below: list[list[int]] = [[] for _ in range(size)]
    for node in range(1, size):
        siblings = below[draw(st.integers(0, node - 1))]
        siblings.insert(draw(st.integers(0, len(siblings))), node)
    return below


def spelled(heads: tuple[int, ...], words: str) -> str:
    tree, split = ternary(heads), words.split()
    return spell(tree.children, [split[word] for word in tree.words])


def test_four_children_two_of_them_before() -> None:
    tree = ternary((3, 3, 0, 3, 3))
    assert spelled((3, 3, 0, 3, 3), "c1 c2 t c3 c4") == "t(c1(E,E,c2),c3(E,E,c4),E)"
    assert (tree.children == EOB).sum() == 11
    assert tree.words[flatten(tree.children)].tolist() == [0, 1, 2, 3, 4]


def test_he_says_she_likes_red_apples() -> None:
    heads = (2, 0, 4, 2, 6, 4)
    tree = ternary(heads)
    assert spelled(heads, "he says she likes red apples") == "says(he,likes(she,apples(red,E,E),E),E)"
    assert (tree.children == EOB).sum() == 13
    assert tree.children.size + 1 == 19
    assert tree.words.tolist() == [1, 0, 3, 2, 5, 4]
    assert tree.children.tolist() == [
        [1, 2, EOB],
        [EOB, EOB, EOB],
        [3, 4, EOB],
        [EOB, EOB, EOB],
        [5, EOB, EOB],
        [EOB, EOB, EOB],
    ]


def test_one_word_has_three_ends() -> None:
    assert spelled((0,), "w") == "w(E,E,E)"


def test_only_dependents_after_the_word_leave_the_left_empty() -> None:
    assert spelled((0, 1, 1), "t c1 c2") == "t(E,c1(E,E,c2),E)"
    assert spelled((3, 3, 0), "c1 c2 t") == "t(c1(E,E,c2),E,E)"


def test_a_tree_that_is_not_projective_is_refused() -> None:
    with pytest.raises(EspalierError, match="3 4 0 3 are not projective: the words would come back as 1 3 2 4; p"):
        ternary((3, 4, 0, 3))


@pytest.mark.parametrize("heads", [(), (0, 0), (2, 1), (0, 5)])
def test_heads_that_are_no_tree_are_refused(heads: tuple[int, ...]) -> None:
    with pytest.raises(EspalierError, match=r"^heads"):
        ternary(heads)


@pytest.mark.parametrize("size", COUNTS)
def test_theorem_1_on_all_small_trees(size: int) -> None:
    seen = set()
    for tree in sp_trees(size):
        heads = heads_by_definition(tree)
        tern = ternary(heads)
        assert nested(tern.children) == by_algorithm_1(tree)
        assert np.array_equal(tern.words[flatten(tern.children)], np.arange(size))
        assert heads_of(tern.children) == heads
        assert (tern.children == EOB).sum() == 2 * size + 1
        seen.add(tern.children.tobytes())
    assert len(seen) == len(sp_trees(size)) == COUNTS[size]


@pytest.mark.parametrize("size", COUNTS)
def test_ternary_trees_without_a_right_child_of_the_root_are_as_many_as_sp_trees(size: int) -> None:
    @lru_cache
    def full(n: int) -> int:
        return 1 if n == 0 else sum(full(i) * full(j) * full(n - 1 - i - j) for i in range(n) for j in range(n - i))

    assert sum(full(i) * full(size - 1 - i) for i in range(size)) == COUNTS[size]


@pytest.mark.parametrize("size", COUNTS)
def test_theorem_2_ordered_trees_are_fewer(size: int) -> None:
    catalan = {1: 1, 2: 1, 3: 2, 4: 5, 5: 14}  # ordered trees, and as many LCRS trees

    def shape(tree: Sp) -> tuple:  # type: ignore[type-arg]
        return tuple(map(shape, tree[1]))

    shapes = {shape(tree) for tree in sp_trees(size)}
    binary = set()
    for tree in shapes:
        below: list[list[int]] = []
        todo = [tree]
        for node in todo:
            below.append(list(range(len(todo), len(todo) + len(node))))
            todo += node
        binary.add(lcrs(below).tobytes())
    assert len(shapes) == len(binary) == catalan[size] <= COUNTS[size]
    assert (catalan[size] < COUNTS[size]) == (size > 1)


@given(projective())
def test_there_and_back(heads: tuple[int, ...]) -> None:
    assert is_projective(heads)
    tree = ternary(heads)
    size = len(heads)
    assert heads_of(tree.children) == heads
    assert np.array_equal(tree.words[flatten(tree.children)], np.arange(size))
    assert (tree.children == EOB).sum() == 2 * size + 1
    assert sorted(tree.words.tolist()) == list(range(size))
    lefts = dict(zip(tree.words.tolist(), tree.children[:, 0].tolist(), strict=True))
    for word, count in enumerate(left_counts(heads)):
        chain, node = 0, lefts[word]
        while node != EOB:
            chain, node = chain + 1, int(tree.children[node, 2])
        assert chain == count


@given(projective())
def test_nodes_are_numbered_level_by_level(heads: tuple[int, ...]) -> None:
    tree = ternary(heads)
    assert np.concatenate(levels(tree.children)).tolist() == list(range(len(heads)))


@given(projective(), st.randoms(use_true_random=False))
def test_the_numbering_of_nodes_does_not_matter(heads: tuple[int, ...], random: object) -> None:
    tree = ternary(heads)
    new = [0, *range(1, len(heads))]
    rest = new[1:]
    random.shuffle(rest)  # type: ignore[attr-defined]
    name = np.array([0, *rest, EOB])  # the last entry renames EOB
    children = np.empty_like(tree.children)
    children[name[:-1]] = name[tree.children]
    assert heads_of(children) == heads


def test_chains_of_thousands_of_words_work() -> None:
    size = 5000
    for heads in (tuple(range(size)), (*range(2, size + 1), 0), (0, *[1] * (size - 1))):
        tree = ternary(heads)
        assert heads_of(tree.children) == heads
        assert spell(tree.children, ["w"] * size).count("w") == size
    below = [[node + 1] for node in range(size - 1)] + [[]]
    assert ordered(lcrs(below)) == below


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ([[0, EOB, EOB]], "not a tree"),
        ([[1, EOB, EOB], [2, EOB, EOB], [2, EOB, EOB]], "not a tree"),
        ([[1, 1, EOB], [EOB, EOB, EOB]], "not a tree"),
        ([[EOB, EOB, EOB], [2, EOB, EOB], [1, EOB, EOB]], "only 1 of 3 nodes are below the root"),
        ([[1, EOB, EOB]], "not a tree"),
        ([[-2, EOB, EOB]], "not a tree"),
        ([[EOB, EOB]], "an array of shape .1, 2. is no tree; one row of 3 children a node"),
        (np.zeros((0, 3)), "an array of shape .0, 3. is no tree"),
    ],
)
def test_arrays_that_are_no_tree_are_refused(nodes: object, said: str) -> None:
    with pytest.raises(EspalierError, match=said):
        flatten(np.array(nodes, np.int32))


def test_a_right_child_of_the_root_flattens_but_has_no_heads() -> None:
    nodes = np.array([[EOB, EOB, 1], [EOB, EOB, EOB]], np.int32)
    assert flatten(nodes).tolist() == [0, 1]
    with pytest.raises(EspalierError, match="the root has a right child, which would be a second root"):
        heads_of(nodes)


def test_an_ordered_tree_as_left_child_and_right_sibling() -> None:
    below = [[1, 2, 5], [], [3, 4], [], [], []]
    nodes = lcrs(below)
    assert nodes.tolist() == [[1, EOB], [EOB, 2], [3, 5], [EOB, 4], [EOB, EOB], [EOB, EOB]]
    assert spell(nodes, list("abcdef")) == "a(b(E,c(d(E,e),f)),E)"
    assert (nodes == EOB).sum() == len(below) + 1


@given(ordered_trees())
def test_ordered_trees_come_back(below: list[list[int]]) -> None:
    assert ordered(lcrs(below)) == below


@pytest.mark.parametrize("below", [[], [[1], [1]], [[1, 1], []], [[], [2], [1]], [[3], [], []]])
def test_children_that_are_no_trees_are_refused(below: list[list[int]]) -> None:
    with pytest.raises(EspalierError):
        lcrs(below)


def test_a_sibling_of_the_root_is_refused() -> None:
    with pytest.raises(EspalierError, match="right sibling"):
        ordered(np.array([[EOB, 1], [EOB, EOB]], np.int32))


def test_heads_give_an_ordered_tree_too() -> None:
    heads = (2, 0, 4, 2, 6, 4)
    below = [[child - 1 for child in dependents] for dependents in children(heads)[1:]]
    assert below == [[], [0, 3], [], [2, 5], [], [4]]


def test_all_projective_heads_are_enumerated() -> None:
    def all_heads(size: int) -> Iterator[tuple[int, ...]]:
        grid = np.indices((size + 1,) * size).reshape(size, -1).T
        for row in grid.tolist():
            yield tuple(row)

    for size in (1, 2, 3, 4):
        good = []
        for heads in all_heads(size):
            try:
                ternary(heads)
            except EspalierError:
                continue
            good.append(heads)
        assert sorted(good) == sorted(map(heads_by_definition, sp_trees(size)))
        assert len(good) == COUNTS[size]


@pytest.mark.parametrize("child", [5, -2])
def test_a_child_that_is_no_row_is_refused(child: int) -> None:
    with pytest.raises(EspalierError, match="a child that is no node"):
        levels(np.array([[child, EOB, EOB]]))


@pytest.mark.parametrize(("words", "count"), [(1, 1), (2, 2), (3, 7), (4, 30), (5, 143), (6, 728)])
def test_all_trees_of_a_sentence_are_those_of_all_projective_heads(words: int, count: int) -> None:
    found = trees_of(words)
    assert len(found) == count
    heads = {heads_of(tree.children) for tree in found}
    if words < 6:
        every = product(range(words + 1), repeat=words)
        assert heads == {each for each in every if mistake(each) is None and is_projective(each)}
    assert len(heads) == count
    for tree in found:
        same = ternary(heads_of(tree.children))
        assert (tree.children == same.children).all() and (tree.words == same.words).all()


def test_a_tree_is_read_from_its_preorder() -> None:
    # says(he, likes(she, apples(red,E,E),E), E)
    present = [
        symbol != "E"
        for symbol in [
            "says",
            "he",
            "E",
            "E",
            "E",
            "likes",
            "she",
            "E",
            "E",
            "E",
            "apples",
            "red",
            "E",
            "E",
            "E",
            "E",
            "E",
            "E",
            "E",
        ]
    ]
    nodes = read_preorder(present)
    assert spell(nodes, ["says", "he", "likes", "she", "apples", "red"]) == "says(he,likes(she,apples(red,E,E),E),E)"
    assert (read_preorder([True]) == -1).all() and read_preorder([True, False, True]).tolist()[0] == [-1, 1, -1]
