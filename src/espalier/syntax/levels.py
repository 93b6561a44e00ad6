"""Constituency trees as sequences: nodes with levels (GuiG, section 3.1), brackets (SCPN), root-to-leaf paths.

Words are left out; parts of speech are kept. The level of a node is its depth, 1 for the root:

    (S (NP (PRP I)) (VP (VBD ate) (NP (DT an) (NN apple))))
    S NP PRP VP VBD NP DT NN
    1 2  3   2  3   3  4  4

No function recurses, so trees may be of any depth.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from espalier.io.errors import ConfigError, DataError
from espalier.syntax.tree import Tree

_OPEN, _CLOSE = "(", ")"


class TreeError(DataError):
    """A malformed constituency tree, or a malformed encoding of one."""


def linearize(tree: Tree) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The labels of the nodes in pre-order, and the level of each (GuiG, section 3.1)."""
    labels, levels = list[str](), list[int]()
    waiting = [(tree, 1)]
    while waiting:
        node, level = waiting.pop()
        labels.append(node.label())
        levels.append(level)
        if len(node) == 1:  # the usual case, most of all a tag with its word
            child = node[0]
            if not isinstance(child, str):
                waiting.append((child, level + 1))
        else:
            level += 1
            waiting += [(child, level) for child in reversed(node) if not isinstance(child, str)]
    return tuple(labels), tuple(levels)


def tree_of(labels: Sequence[str], levels: Sequence[int]) -> Tree:
    """The tree without words with these nodes, the inverse of `linearize`.

    Raises:
        TreeError: the levels do not form a tree (see `level_mistake`), or the numbers of levels and labels differ.
    """
    if len(labels) != len(levels):
        raise TreeError(f"{len(labels)} labels with {len(levels)} levels", file="tree")
    _check(levels)
    line: list[Tree] = []  # from the root down to the last node
    for label, level in zip(labels, levels, strict=True):
        node = Tree(label, [])
        del line[level - 1 :]
        if line:
            line[-1].append(node)
        line.append(node)
    return line[0]


def level_mistake(levels: Sequence[int]) -> str | None:
    """Why `levels` do not form a tree in pre-order, with the first wrong place (from 1); None if they do.

    In a tree, only the first level is 1, and no level exceeds the one before it by more than 1.
    """
    if not len(levels):
        return "no levels"
    last = 0
    for place, level in enumerate(levels, start=1):
        if level == 1 and last:
            return f"level 1 at place {place} is a second root"
        if level < 1:
            return f"level {level} at place {place}, where the root has level 1"
        if level > last + 1:
            return f"level {level} at place {place} follows level {last}" if last else f"the first level is {level}"
        last = level
    return None


def without_words(tree: Tree) -> Tree:
    """The nodes without words, but with parts of speech."""
    return tree_of(*linearize(tree))


def cut(tree: Tree, levels: int) -> Tree:
    """The nodes of the top `levels` levels, without words (GuiG: 8 levels for a parse, 3 for a template).

    Raises:
        ConfigError: `levels` is below 1.
    """
    if levels < 1:
        raise ConfigError(f"a tree cut to {levels} levels", where="levels", remedy="keep 1 at least, the root")
    top = [(label, level) for label, level in zip(*linearize(tree), strict=True) if level <= levels]
    return tree_of(*zip(*top, strict=True))


# --- Brackets --------------------------------------------------------------------------------------------------------


def bracketed(tree: Tree) -> list[str]:
    """Three tokens per node, "(", its label and ")", in SCPN's order: (S(NP(PRP))(VP ..."""
    labels, levels = linearize(tree)
    tokens, depth = list[str](), 0
    for label, level in zip(labels, levels, strict=True):
        tokens += [_CLOSE] * (depth - level + 1)
        tokens += (_OPEN, label)
        depth = level
    return tokens + [_CLOSE] * depth


def tree_of_brackets(tokens: Sequence[str]) -> Tree:
    """The inverse of `bracketed`.

    Raises:
        TreeError: the tokens do not form one tree. The message names the place (from 1).
    """
    labels, levels = list[str](), list[int]()
    depth, last = 0, ""
    for place, token in enumerate(tokens, start=1):
        opened = last == _OPEN
        if opened == (token in (_OPEN, _CLOSE)):
            raise TreeError(f"'{token}' at place {place}", file="tree", remedy="one label after each (, and no other")
        if token == _CLOSE and not depth:
            raise TreeError(f"the bracket at place {place} closes nothing", file="tree")
        if token == _OPEN and not depth and labels:
            raise TreeError(f"a second tree begins at place {place}", file="tree")
        if opened:
            labels.append(token)
            levels.append(depth)
        depth += (token == _OPEN) - (token == _CLOSE)
        last = token
    if depth or not tokens:
        raise TreeError(unclosed(depth) if depth else "no tokens", file="tree")
    return tree_of(labels, levels)


def unclosed(depth: int) -> str:
    """The error text for brackets that are open at the end."""
    return f"{depth} brackets are not closed" if depth > 1 else "a bracket is not closed"


# --- Paths -----------------------------------------------------------------------------------------------------------


def paths(levels: Sequence[int]) -> list[list[int]]:
    """The paths from the root to each leaf node, left to right, as indices of nodes (GuiG, section 3.2).

    Raises:
        TreeError: the levels do not form a tree.
    """
    _check(levels)
    complete, path = list[list[int]](), list[int]()
    for index, (level, following) in enumerate(zip(levels, [*levels[1:], 0], strict=True)):
        del path[level - 1 :]
        path.append(index)
        if following <= level:
            complete.append(path.copy())
    return complete


def path_mask(levels: Sequence[int]) -> NDArray[np.bool_]:
    """Whether each node is on each path of `paths`: (paths, nodes).

    Raises:
        TreeError: the levels do not form a tree.
    """
    _check(levels)
    size = len(levels)
    ends, path = [size] * size, list[int]()
    for index, level in enumerate(levels):
        for closed in path[level - 1 :]:
            ends[closed] = index
        del path[level - 1 :]
        path.append(index)
    # A node's descendants are the nodes from it up to its end; it is on the paths of the leaves among them.
    leaves = np.flatnonzero(np.diff(levels, append=0) <= 0)[:, None]
    return (np.arange(size) <= leaves) & (leaves < np.array(ends))


def _check(levels: Sequence[int]) -> None:
    if error := level_mistake(levels):
        raise TreeError(
            error, file="tree", remedy="1 is the root, and no level exceeds the one before it by more than 1"
        )
