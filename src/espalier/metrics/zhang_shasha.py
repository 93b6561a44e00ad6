"""The tree edit distance of Zhang and Shasha (1989), compiled by numba.

Import this module only when a distance is needed: importing numba takes 0.2 s, and compiling the first distance 1 s.
"""

import numpy as np
import numpy.typing as npt
from numba import njit

IntArray = npt.NDArray[np.int64]


@njit  # type: ignore[untyped-decorator]
def tree_edit_distance(labels: IntArray, levels: IntArray, other_labels: IntArray, other_levels: IntArray) -> int:
    """The smallest number of node insertions, deletions and renamings that turn one ordered tree into the other.

    The paper numbers nodes in post-order and removes the last root of a forest. Here nodes are in pre-order and the
    first root is removed. This is the same algorithm on mirrored trees, and faster for right-branching trees.

    Args:
        labels: (nodes,) int64 labels of at least one node; equal numbers mean equal labels.
        levels: (nodes,) int64 level of each node, 1 for the root.
        other_labels: labels of the other tree.
        other_levels: levels of the other tree.
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
def _ends(levels: IntArray) -> IntArray:
    """(nodes,) end of the subtree of each node."""
    ends = np.empty(len(levels), np.int64)
    for node in range(len(levels) - 1, -1, -1):
        end = node + 1
        while end < len(levels) and levels[end] > levels[node]:
            end = ends[end]
        ends[node] = end
    return ends


@njit  # type: ignore[untyped-decorator]
def _is_key(node: int, levels: IntArray, ends: IntArray) -> bool:
    """Whether a node is the root or has a later sibling, so that no larger subtree ends where its own ends."""
    end = ends[node]
    return node == 0 or (end < len(levels) and levels[end] == levels[node])
