"""Root-to-leaf paths of a batch of trees as tensors, made of the nodes' levels alone (GuiG, section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
import torch.nn.functional as F
from torch import Tensor


@dataclass(frozen=True)
class Paths:
    """The paths of each tree, leaves from left to right. Made once for a batch, and shared by all layers.

    Attributes:
        nodes: (batch, paths, depth) int64, the place of the node that a path passes at each level; 0 where `on` is not.
        on: (batch, paths, depth) bool: True where there is a path, and it comes down to that level.
        time: the places in a row, nodes or not.
    """

    nodes: Tensor
    on: Tensor
    time: int

    @cached_property
    def count(self) -> Tensor:
        """(batch,) int64, n_p: the paths of each tree; 0 for a row without nodes."""
        return self.on.any(2).sum(1)

    @cached_property
    def cover(self) -> Tensor:
        """(batch, time) int64: how many paths each place is on; 0 at padding, BOS and EOS."""
        zeros = self.nodes.new_zeros(len(self.nodes), self.time)
        return zeros.scatter_add(1, self.nodes.flatten(1), self.on.flatten(1).long())

    @cached_property
    def share(self) -> Tensor:
        """(batch, time, 1) float: of its tree's paths, the part that each place is on, cover / n_p."""
        return (self.cover / self.count.clamp(min=1)[:, None])[..., None]

    @cached_property
    def covered(self) -> Tensor:
        """(batch, time, 1) float: 1 at places on a path, else 0."""
        return self.cover.bool().float()[..., None]

    @cached_property
    def pairs(self) -> Tensor:
        """(batch, paths x depth x depth) int64: for two nodes of one path, where they meet in a flat (time, time)."""
        return (self.nodes[..., :, None] * self.time + self.nodes[..., None, :]).flatten(1)

    @cached_property
    def key_bias(self) -> Tensor:
        """(batch, 1, paths, 1, depth) float: 0 for a path's nodes; below the leaf a number that no score outweighs.

        It is finite, so that a path that does not exist has weights, which `query_weight` then takes away, and no NaN.
        """
        return torch.zeros_like(self.on, dtype=torch.float).masked_fill(~self.on, -1e30)[:, None, :, None, :]

    @cached_property
    def query_weight(self) -> Tensor:
        """(batch, 1, paths, depth, 1) float: one over the number of paths that a node is on; 0 where `on` is not."""
        cover = self.cover.gather(1, self.nodes.flatten(1)).view_as(self.nodes)
        return (self.on / cover.clamp(min=1))[:, None, ..., None]


def paths_of(levels: Tensor) -> Paths:
    """The paths of trees in pre-order.

    Args:
        levels: (batch, time) int64, the level of each node from 1, the root's; 0 at places that are no node, which may
            stand before and after a tree. Nothing checks that they are trees (`syntax.levels.level_mistake` does):
            others have paths that mean little, but raise nothing.

    Returns:
        Paths whose `depth` is the deepest level of the batch; what differs from row to row is padded.
    """
    time = levels.shape[1]
    scale = torch.arange(1, max(1, int(levels.amax()) if levels.numel() else 1) + 1, device=levels.device)
    place = torch.arange(time, device=levels.device)
    # The ancestor at a level is the last node before that had it.
    marks = torch.where(levels[..., None] == scale, place[:, None], -1)
    ancestors = marks.cummax(1).values if time else marks

    following = F.pad(levels[:, 1:], (0, min(1, time)))
    leaf = (levels > 0) & (following <= levels)
    count = leaf.sum(1)
    most = int(count.amax()) if count.numel() else 0
    leaves = (~leaf).byte().argsort(dim=1, stable=True)[:, :most]
    nodes = ancestors.gather(1, leaves[..., None].expand(-1, -1, len(scale)))
    exists = torch.arange(most, device=levels.device) < count[:, None]
    on = exists[..., None] & (scale <= levels.gather(1, leaves)[..., None]) & (nodes >= 0)
    return Paths(nodes.masked_fill(~on, 0), on, time)
