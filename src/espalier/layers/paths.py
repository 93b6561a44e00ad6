"""Root-to-leaf paths of a batch of trees as tensors, with what attention along them needs (GuiG, section 3.2)."""

import torch
from torch import Tensor

from espalier.datasets.pairs.paths import NO_NODE, tree_paths


class Paths:
    """The paths of each tree, from the leftmost leaf to the rightmost, and what all layers read of them.

    Attributes:
        nodes: (batch, paths, depth) int64, index of a path's node at each level; 0 where `on` is False.
        on: (batch, paths, depth) bool: True where the path exists and reaches that level.
        count: (batch,) int64, n_p: the number of paths of each tree; 0 for a row without nodes.
        cover: (batch, time) int64: the number of paths that each place is on; 0 at padding, BOS and EOS.
        pairs: (batch, paths x depth x depth) int64: flat (time, time) indices of all pairs of nodes of a path.
        key_bias: (batch, 1, paths, 1, depth) float: 0 for nodes of a path, -1e30 below its leaf. The number is finite,
            so that a padded path has no NaN; `query_weight` sets its weights to 0.
        query_weight: (batch, 1, paths, depth, 1) float: 1 / the number of paths of a node; 0 where `on` is False.
        share: (batch, time, 1) float: the share of its tree's paths that each place is on, cover / n_p.
        covered: (batch, time, 1) float: 1 for places on a path, 0 for others.
    """

    def __init__(self, nodes: Tensor, time: int) -> None:
        """Take the paths that `tree_paths` has found in rows of length `time`."""
        self.on, self.nodes = nodes != NO_NODE, nodes.clamp(min=0)
        flat, nodes = self.nodes.flatten(1), self.nodes
        self.count = self.on.any(2).sum(1)
        self.cover = nodes.new_zeros(len(nodes), time).scatter_add(1, flat, self.on.flatten(1).long())
        self.pairs = (nodes[..., :, None] * time + nodes[..., None, :]).flatten(1)
        hidden = torch.zeros_like(self.on, dtype=torch.float).masked_fill(~self.on, -1e30)
        self.key_bias = hidden[:, None, :, None, :]
        cover = self.cover.gather(1, flat).view_as(nodes)
        self.query_weight = (self.on / cover.clamp(min=1))[:, None, ..., None]
        self.share = (self.cover / self.count.clamp(min=1)[:, None])[..., None]
        self.covered = self.cover.bool().float()[..., None]


def paths_of(levels: Tensor) -> Paths:
    """The paths of trees in pre-order, from their levels, (batch, time), as in `tree_paths`."""
    return Paths(torch.from_numpy(tree_paths(levels.cpu().numpy())).to(levels.device), levels.shape[1])
