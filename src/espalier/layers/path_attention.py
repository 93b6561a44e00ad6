"""Path attention (GuiG, section 3.2): a node exchanges information with its ancestors and descendants alone."""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from espalier.layers.linear import linear
from espalier.layers.paths import Paths


class PathAttention(nn.Module):
    """The mean over root-to-leaf paths of self-attention within each path, without a copy of the sequence for any.

    The paper copies the sequence O once for each of n_p paths, hides from copy p what is not on path p, sends it
    through one self-attention, C_p, and takes (1/n_p) sum_p C_p. We read it, as the released code does, so that C_p is
    nothing at nodes that are not on path p: they are neither seen nor updated there. Then

        out_i = (cover_i / n_p) c_i,    c_i = W_O (sum_k w_ik v_k) + b_O,    w_ik = mean of a^p_ik over i's paths p,

    where cover_i counts the paths that node i is on and a^p is the softmax within path p. Scores q_i k_k are computed
    once for each two nodes. Those of a path's nodes are read into a (depth, depth) table of the path, softmaxed there,
    and added up in w: exact for scores of any size, with attention dropout drawn for each path, as copies would.

    Memory: tables take heads x paths x depth^2, so at most heads x depth x (nodes x depth); scores and w take
    heads x nodes^2, no more than the queries do while a tree has at most as many nodes as a head is wide. Nothing takes
    paths x nodes x width.

    Args:
        residual: "outside": the result is out; the caller adds its residual. "inside" (released): O is added within
            each path's term, out_i = (cover_i / n_p) (O_i + c_i), and is in the result.
        divide: "paths": as above (paper). "coverage": each node by the number of paths that it is on, so that
            cover_i / n_p becomes 1.
        residual_dropout: of c where the residual is inside, for then the caller cannot tell them apart.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        head_width: int,
        dropout: float = 0.0,
        *,
        residual: Literal["outside", "inside"] = "outside",
        divide: Literal["paths", "coverage"] = "paths",
        residual_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.heads, self.inner, self.dropout = heads, heads * head_width, dropout
        self.inside, self.by_paths, self.residual_dropout = residual == "inside", divide == "paths", residual_dropout
        self.project = nn.Linear(width, 3 * self.inner)  # W^Q, W^K, W^V, one below the other
        self.out = nn.Linear(self.inner, width)

    def forward(self, x: Tensor, paths: Paths, memory: Tensor | None = None) -> Tensor:
        """Attend once from every node of `x` to those of its paths.

        Args:
            x: (batch, time, width), what queries are made from.
            paths: of the rows (`paths.paths_of`).
            memory: (batch, time, width), what keys and values are made from, and the residual O where that is inside;
                None means `x`.

        Returns:
            (batch, time, width); 0 at places that are on no path.
        """
        query, key, value = self._projected(x, memory)
        scores = query @ key.transpose(2, 3)
        weights = self._weights(scores, paths).to(value.dtype)
        mean = linear((weights @ value).transpose(1, 2).flatten(2), self.out.weight, self.out.bias)
        if self.inside:
            if self.residual_dropout:
                mean = F.dropout(mean, self.residual_dropout, self.training)
            mean = mean + (x if memory is None else memory)
        return mean * (paths.share if self.by_paths else paths.covered).to(mean.dtype)

    def _weights(self, scores: Tensor, paths: Paths) -> Tensor:
        """(batch, heads, time, time) products of queries and keys to weights: the mean of a node's softmaxes."""
        pairs = paths.pairs[:, None].expand(-1, self.heads, -1)
        tables = scores.flatten(2).gather(2, pairs).unflatten(2, (*paths.nodes.shape[1:], paths.nodes.shape[2]))
        # In single precision at least, whatever the scores came in: the bias has it.
        tables = torch.add(paths.key_bias, tables, alpha=(self.inner // self.heads) ** -0.5).softmax(-1)
        if self.dropout:
            tables = F.dropout(tables, self.dropout, self.training)
        tables = (tables * paths.query_weight).flatten(2)
        return tables.new_zeros(scores.shape).flatten(2).scatter_add(2, pairs, tables).view_as(scores)

    def _projected(self, x: Tensor, memory: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values, each (batch, heads, time, head width)."""
        weight, bias, inner = self.project.weight, self.project.bias, self.inner
        if memory is None:
            query, key, value = linear(x, weight, bias).chunk(3, dim=-1)
        else:
            query = linear(x, weight[:inner], bias[:inner])
            key, value = linear(memory, weight[inner:], bias[inner:]).chunk(2, dim=-1)
        query, key, value = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (query, key, value))
        return query, key, value
