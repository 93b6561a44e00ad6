"""Trees whose nodes all have K children: ternary trees of sentences, binary trees of ordered trees.

X2Tree (AAAI 2018) generates trees in which every node has exactly K children, each a word or EOB, "end of branch". A
dependency tree is a sequence-preserved (SP) tree: an ordered tree in which every node t has I(t), the number of its
children that precede it. Algorithm 1 converts it to a ternary tree: the left child of t is its first child before t,
the middle child is its first child after t, and every other child is the right child of the sibling before it. The
order left child, node, middle child, right child gives the sentence. The two kinds of trees are in one-to-one
correspondence (theorem 1). Binary trees of left child and right sibling are not (theorem 2), and represent ordered
trees.

A tree of n nodes is an array (n, K): row i has the children of node i, EOB for none; node 0 is the root. It has (K - 1)
n + 1 EOBs. No function recurses, so trees may be of any depth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from espalier.io.errors import EspalierError
from espalier.syntax.dependency import children, left_counts, mistake

#: "End of branch": the index of a missing child.
EOB: Final = -1

Nodes: TypeAlias = NDArray[np.int32]

_LEFT, _MIDDLE, _RIGHT = range(3)


@dataclass(frozen=True, slots=True, eq=False)
class Ternary:
    """The dependency tree of a sentence in ternary form. Nodes are sorted by level, and from left to right within each.

    Attributes:
        children: (n, 3), the left, middle and right child of each node, EOB for none; the root is node 0 and has no
            right child.
        words: (n,), index, from 0, of each node's word in the sentence.
    """

    children: Nodes
    words: Nodes


# --- Dependency trees and ternary trees ------------------------------------------------------------------------------


def ternary(heads: Sequence[int]) -> Ternary:
    """Algorithm 1 (CANONICALIZE) for a dependency tree, given by heads from 1 and 0 for the root.

    Raises:
        EspalierError: the heads do not form one tree, or the tree is not projective, so that flattening would not give
            the sentence.
    """
    if error := mistake(heads):
        raise EspalierError(f"heads {_few(heads)}: {error}")
    slots = [[0, 0, 0] for _ in range(len(heads) + 1)]  # words from 1; 0 is none
    for word, (dependents, before) in enumerate(zip(children(heads)[1:], left_counts(heads), strict=True), start=1):
        for index, dependent in enumerate(dependents):
            if index == before:
                slots[word][_MIDDLE] = dependent
            elif index == 0:
                slots[word][_LEFT] = dependent
            else:
                slots[dependents[index - 1]][_RIGHT] = dependent
    order = [heads.index(0) + 1]
    for word in order:  # the list grows as it is read
        order += [child for child in slots[word] if child]
    node_of = np.full(len(heads) + 1, EOB, np.int32)
    words = np.array(order, np.int32)
    node_of[words] = np.arange(len(heads), dtype=np.int32)
    tree = Ternary(node_of[np.array(slots)[words]], words - 1)
    flat = tree.words[flatten(tree.children)]
    if not np.array_equal(flat, np.arange(len(heads))):
        raise EspalierError(
            f"heads {_few(heads)} are not projective: the words would come back as {_few(flat + 1)}",
            remedy="projectivize the tree or set it aside",
        )
    return tree


def flatten(nodes: Nodes) -> Nodes:
    """The nodes of a ternary tree in the order of the sentence: left child, node, middle child, right child.

    The text of a generated tree is its words taken in this order.

    Args:
        nodes: (n, 3), in any numbering with node 0 the root.

    Returns:
        (n,).

    Raises:
        EspalierError: the array is not a tree.
    """
    rows = _rows(nodes, 3)
    order: list[int] = []
    stack = [0]
    while stack:
        node = stack.pop()
        if node < 0:  # a node whose left part is done, stored as its complement
            order.append(~node)
            continue
        left, middle, right = rows[node]
        stack += [next_ for next_ in (right, middle) if next_ != EOB]
        stack.append(~node)
        if left != EOB:
            stack.append(left)
    return np.array(order, np.int32)


def heads_of(nodes: Nodes) -> tuple[int, ...]:
    """The inverse of `ternary`: the head of each word, in the order of the sentence, from 1; 0 for the root.

    A left or middle child and its chain of right children depend on the node; the length of the left chain is I(t).
    Every ternary tree whose root has no right child belongs to a sentence.

    Raises:
        EspalierError: the array is not a tree, or its root has a right child, which would be a second root.
    """
    order = flatten(nodes)
    rows = nodes.tolist()
    if rows[0][_RIGHT] != EOB:
        raise EspalierError("the root has a right child, which would be a second root")
    number = np.empty(len(order) + 1, np.int64)
    number[order] = np.arange(1, len(order) + 1)
    number[EOB] = 0  # the head of the root
    head = [EOB] * len(rows)
    todo = [0]
    for node in todo:  # the list grows as it is read
        left, middle, right = rows[node]
        for child, above in ((left, node), (middle, node), (right, head[node])):
            if child != EOB:
                head[child] = above
                todo.append(child)
    return tuple(number[np.array(head)[order]].tolist())


@cache
def trees_of(words: int) -> tuple[Ternary, ...]:
    """The ternary forms of all SP trees of a sentence: 1, 2, 7, 30, 143, 728 for 1 to 6 words.

    Args:
        words: number of words, at least 1.
    """
    found = []
    for root in range(words):
        for left in _subtrees(0, root):
            for middle in _subtrees(root + 1, words):
                order, rows = [root], {root: (_top(left), _top(middle), EOB)} | dict(left) | dict(middle)
                for word in order:  # the list grows as it is read
                    order += [child for child in rows[word] if child != EOB]
                number = {word: node for node, word in enumerate(order)} | {EOB: EOB}
                below = [[number[child] for child in rows[word]] for word in order]
                found.append(Ternary(np.array(below, np.int32), np.array(order, np.int32)))
    return tuple(found)


#: The children of each word of a subtree, its top first; empty for no subtree.
_Subtree: TypeAlias = tuple[tuple[int, tuple[int, int, int]], ...]


@cache
def _subtrees(start: int, end: int) -> tuple[_Subtree, ...]:
    """All subtrees of the words `start` to `end` (exclusive); a single empty subtree if there are no words."""
    if start == end:
        return ((),)
    return tuple(
        ((top, (_top(left), _top(middle), _top(right))), *left, *middle, *right)
        for top in range(start, end)
        for cut in range(top + 1, end + 1)
        for left in _subtrees(start, top)
        for middle in _subtrees(top + 1, cut)
        for right in _subtrees(cut, end)
    )


def _top(subtree: _Subtree) -> int:
    return subtree[0][0] if subtree else EOB


def read_preorder(present: Sequence[bool]) -> Nodes:
    """The ternary tree with these nodes and EOBs in pre-order. Nodes are numbered in that order.

    Args:
        present: True for a node, False for an EOB; the first is True. Missing children at the end are EOBs.
    """
    rows: list[list[int]] = []
    slots: list[tuple[int, int]] = []  # the open slots, the next one last
    for is_node in present:
        parent, slot = slots.pop() if slots else (EOB, 0)
        if is_node:
            if parent != EOB:
                rows[parent][slot] = len(rows)
            slots += [(len(rows), slot) for slot in reversed(range(3))]
            rows.append([EOB] * 3)
    return np.array(rows, np.int32)


def spell(nodes: Nodes, words: Sequence[str]) -> str:
    """A tree as text: word(child, child, ...), with E for EOB and without spaces.

    Example: "says(he,likes(she,apples(red,E,E),E),E)".

    Args:
        nodes: (n, K).
        words: the word of each node.
    """
    rows = _rows(nodes, nodes.shape[-1])
    spelled: list[str] = []
    stack: list[int | str] = [0]
    while stack:
        top = stack.pop()
        if isinstance(top, str):
            spelled.append(top)
        elif top == EOB:
            spelled.append("E")
        elif all(child == EOB for child in rows[top]) and top != 0:
            spelled.append(words[top])
        else:
            rest: list[int | str] = [")"]
            for child in reversed(rows[top]):
                rest += [child, ","]
            stack += [*rest[:-1], "("]
            spelled.append(words[top])
    return "".join(spelled)


# --- Ordered trees and binary trees ----------------------------------------------------------------------------------


def lcrs(below: Sequence[Sequence[int]]) -> Nodes:
    """An ordered tree as a left-child right-sibling tree: first child, and next sibling.

    Args:
        below: children of each node in order; node 0 is the root.

    Returns:
        (n, 2), with the same numbers of nodes; the root has no right sibling.

    Raises:
        EspalierError: the children do not form a tree.
    """
    nodes = np.full((len(below), 2), EOB, np.int32)
    children = [child for siblings in below for child in siblings]
    _check_one_parent(children, len(below))
    for node, siblings in enumerate(below):
        for before, child in zip((None, *siblings), siblings, strict=False):
            if before is None:
                nodes[node, 0] = child
            else:
                nodes[before, 1] = child
    _rows(nodes, 2)
    return nodes


def ordered(nodes: Nodes) -> list[list[int]]:
    """The inverse of `lcrs`: the children of each node in order.

    Raises:
        EspalierError: the array is not a tree, or its root has a sibling.
    """
    rows = _rows(nodes, 2)
    if rows[0][1] != EOB:
        raise EspalierError("the root has a right sibling, which would be a second root")
    below: list[list[int]] = []
    for child, _ in rows:
        siblings = []
        while child != EOB:
            siblings.append(child)
            child = rows[child][1]
        below.append(siblings)
    return below


# --- Any K -----------------------------------------------------------------------------------------------------------


def levels(nodes: Nodes) -> list[Nodes]:
    """The nodes of each level, from the root down. A decoder can predict the nodes of a level together.

    Args:
        nodes: (n, K). The levels of a `Ternary` are contiguous ranges of its rows.

    Raises:
        EspalierError: a child is not a row of the array.
    """
    if nodes.size and not EOB <= nodes.min() <= nodes.max() < len(nodes):
        raise EspalierError("a child that is no node", remedy=f"numbers from 0 to {len(nodes) - 1}, or {EOB}")
    rows = [np.zeros(1, np.int32)]
    while True:
        next_ = nodes[rows[-1]].ravel()
        next_ = next_[next_ != EOB]
        if not len(next_) or len(rows) > len(nodes):
            return rows
        rows.append(next_)


def _rows(nodes: Nodes, k: int) -> list[list[int]]:
    """The rows as lists, after checking that they form one tree."""
    if nodes.ndim != 2 or nodes.shape[1] != k or not len(nodes):
        raise EspalierError(f"an array of shape {nodes.shape} is no tree", remedy=f"one row of {k} children a node")
    _check_one_parent(nodes[nodes != EOB].tolist(), len(nodes))
    reached = sum(map(len, levels(nodes)))
    if reached != len(nodes):
        raise EspalierError(f"only {reached} of {len(nodes)} nodes are below the root")
    return nodes.tolist()


def _check_one_parent(below: Sequence[int], size: int) -> None:
    """Check that every node except the root has one parent. Cycles are not checked."""
    if sorted(below) != list(range(1, size)):
        raise EspalierError("not a tree: node 0 must have no parent, and every other node exactly one")


def _few(numbers: Sequence[int] | Nodes, max_numbers: int = 12) -> str:
    return " ".join(str(number) for number in numbers[:max_numbers]) + (" ..." if len(numbers) > max_numbers else "")
