"""Root-to-leaf paths of a batch of trees as tensors, with what attention along them needs (GuiG, section 3.2)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import torch
from torch import Tensor

from espalier.datasets.pairs.paths import NO_NODE, tree_paths


@dataclass(frozen=True)
class Paths:
    """The paths of each tree, from the leftmost leaf to the rightmost.

    Computed once per batch and shared by all layers.

    Attributes:
        nodes: (batch, paths, depth) int64, index of a path's node at each level; 0 where `on` is False.
        on: (batch, paths, depth) bool: True where the path exists and reaches that level.
        time: the length of a row.
    """

    nodes: Tensor
    on: Tensor
    time: int

    @classmethod
    def of(cls, nodes: Tensor, time: int) -> Self:
        """The paths that `tree_paths` has found in rows of length `time`."""
        return cls(nodes.clamp(min=0), nodes != NO_NODE, time)

    @cached_property
    def count(self) -> Tensor:
        """(batch,) int64, n_p: the number of paths of each tree; 0 for a row without nodes."""
        return self.on.any(2).sum(1)

    @cached_property
    def cover(self) -> Tensor:
        """(batch, time) int64: the number of paths that each place is on; 0 at padding, BOS and EOS."""
        zeros = self.nodes.new_zeros(len(self.nodes), self.time)
        return zeros.scatter_add(1, self.nodes.flatten(1), self.on.flatten(1).long())

    @cached_property
    def share(self) -> Tensor:
        """(batch, time, 1) float: the share of its tree's paths that each place is on, cover / n_p."""
        return (self.cover / self.count.clamp(min=1)[:, None])[..., None]

    @cached_property
    def covered(self) -> Tensor:
        """(batch, time, 1) float: 1 for places on a path, 0 for others."""
        return self.cover.bool().float()[..., None]

    @cached_property
    def pairs(self) -> Tensor:
        """(batch, paths x depth x depth) int64: flat (time, time) indices of all pairs of nodes of a path."""
        return (self.nodes[..., :, None] * self.time + self.nodes[..., None, :]).flatten(1)

    @cached_property
    def key_bias(self) -> Tensor:
        """(batch, 1, paths, 1, depth) float: 0 for nodes of a path, -1e30 below its leaf.

        The number is finite, so that a padded path has no NaN; `query_weight` sets its weights to 0.
        """
        return torch.zeros_like(self.on, dtype=torch.float).masked_fill(~self.on, -1e30)[:, None, :, None, :]

    @cached_property
    def query_weight(self) -> Tensor:
        """(batch, 1, paths, depth, 1) float: 1 / the number of paths of a node; 0 where `on` is False."""
        cover = self.cover.gather(1, self.nodes.flatten(1)).view_as(self.nodes)
        return (self.on / cover.clamp(min=1))[:, None, ..., None]


def paths_of(levels: Tensor) -> Paths:
    """The paths of trees in pre-order, from their levels, (batch, time), as in `tree_paths`."""
    return Paths.of(torch.from_numpy(tree_paths(levels.cpu().numpy())).to(levels.device), levels.shape[1])
