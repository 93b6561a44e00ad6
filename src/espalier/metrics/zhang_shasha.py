"""The tree edit distance of Zhang and Shasha (1989), compiled by numba.

Import this module where a distance is needed, not before: numba takes 0.2 s to import, and the first distance 1 s to
compile.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit  # type: ignore[untyped-decorator]
def tree_edit_distance(labels: Any, levels: Any, other_labels: Any, other_levels: Any) -> int:
    """The least number of nodes to insert, delete and rename so that one ordered tree becomes the other.

    The paper numbers nodes in post-order and removes the last root of a forest. Here nodes are in pre-order and the
    first root goes, which is the same for the mirrored trees and does less work where trees branch to the right.

    Args:
        labels: (nodes,), int64, at least one; equal numbers are equal labels.
        levels: (nodes,), int64: the level of each node, 1 for the root.
        other_labels: as `labels`, of the other tree.
        other_levels: as `levels`, of the other tree.
    """
    ends, other_ends = _ends(levels), _ends(other_levels)
    trees = np.empty((len(levels), len(other_levels)), np.int32)  # between two nodes with all that is below them
    # Between the nodes from i on, to the end of a subtree, and those from j on, to the end of one of the other tree.
    forests = np.empty((len(levels) + 1, len(other_levels) + 1), np.int32)
    for root in range(len(levels) - 1, -1, -1):
        if not _is_key(root, levels, ends):
            continue
        for other_root in range(len(other_levels) - 1, -1, -1):
            if not _is_key(other_root, other_levels, other_ends):
                continue
            end, other_end = ends[root], other_ends[other_root]
            for j in range(other_root, other_end + 1):
                forests[end, j] = other_end - j
            for i in range(end - 1, root - 1, -1):
                forests[i, other_end] = end - i
                for j in range(other_end - 1, other_root - 1, -1):
                    least = min(forests[i + 1, j], forests[i, j + 1]) + 1
                    if ends[i] == end and other_ends[j] == other_end:
                        least = min(least, forests[i + 1, j + 1] + (labels[i] != other_labels[j]))
                        trees[i, j] = least
                    else:
                        least = min(least, forests[ends[i], other_ends[j]] + trees[i, j])
                    forests[i, j] = least
    return trees[0, 0]


@njit  # type: ignore[untyped-decorator]
def _ends(levels: Any) -> Any:
    """(nodes,): where the subtree of each node ends."""
    ends = np.empty(len(levels), np.int64)
    for node in range(len(levels) - 1, -1, -1):
        end = node + 1
        while end < len(levels) and levels[end] > levels[node]:
            end = ends[end]
        ends[node] = end
    return ends


@njit  # type: ignore[untyped-decorator]
def _is_key(node: int, levels: Any, ends: Any) -> bool:
    """Whether a node is the root or has a sibling after it, so that no larger subtree ends where its own does."""
    end = ends[node]
    return node == 0 or (end < len(levels) and levels[end] == levels[node])
