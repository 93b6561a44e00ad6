"""Root-to-leaf paths of a batch of trees (GuiG, section 3.2), found on the host, so that no device waits for sizes."""

import numpy as np

from espalier.datasets.ragged import IntArray

#: In place of a node where a tree has no such path, or a path ends above this level.
NO_NODE = -1


def tree_paths(levels: IntArray) -> IntArray:
    """The paths of trees in pre-order, from the leftmost leaf to the rightmost.

    Args:
        levels: (batch, time) the level of each node, from 1 for the root; 0 at places without a node, before or after
            the tree. The levels are not checked; `syntax.levels.level_mistake` does that.

    Returns:
        (batch, paths, depth) the index of a path's node at each level, else `NO_NODE`, for the most paths and the
        deepest level of the batch.
    """
    time = levels.shape[1]
    scale, place = np.arange(1, max(1, int(levels.max(initial=1))) + 1), np.arange(time)
    # A node's ancestor at a level is the last node of that level before it.
    marks = np.where(levels[..., None] == scale, place[:, None], NO_NODE)
    ancestors = np.maximum.accumulate(marks, axis=1)
    following = np.pad(levels[:, 1:], ((0, 0), (0, min(1, time))))
    leaf = (levels > 0) & (following <= levels)
    count = leaf.sum(1)
    leaves = np.argsort(~leaf, axis=1, kind="stable")[:, : count.max(initial=0)]
    nodes = np.take_along_axis(ancestors, leaves[..., None], axis=1)
    exists = np.arange(leaves.shape[1]) < count[:, None]
    on = exists[..., None] & (scale <= np.take_along_axis(levels, leaves, axis=1)[..., None])
    return np.where(on, nodes, NO_NODE)
