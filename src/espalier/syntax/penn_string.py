"""Properties of a constituency tree computed from its Penn string, without building the tree."""

from __future__ import annotations

import re

_LABEL = re.compile(r"\(([^\s()]+)")


def levels_of(tree: str) -> int:
    """The depth of a tree: 1 for only a root. Parts of speech count, words do not. 0 for no tree."""
    depth = deepest = 0
    for character in tree:
        if character == "(":
            depth += 1
            deepest = max(deepest, depth)
        elif character == ")":
            depth -= 1
    return deepest


def labels_of(tree: str) -> list[str]:
    """The labels of all nodes, including parts of speech."""
    return _LABEL.findall(tree)
