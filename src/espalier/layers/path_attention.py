"""Path attention (GuiG, section 3.2): a node attends only to its ancestors and descendants."""

from typing import Literal

import torch
from torch import Tensor, nn

from espalier.layers.dropout import dropout
from espalier.layers.linear import linear
from espalier.layers.paths import Paths


class PathAttention(nn.Module):
    """The mean over root-to-leaf paths of self-attention within each path, computed without copies of the sequence.

    The paper copies the sequence O for each of n_p paths, masks the nodes of copy p that are not on path p, applies one
    self-attention, C_p, and takes (1/n_p) sum_p C_p. As in the released code, C_p is 0 at nodes that are not on path p.
    Then

        out_i = (cover_i / n_p) c_i,    c_i = W_O (sum_k w_ik v_k) + b_O,    w_ik = mean of a^p_ik over i's paths p,

    where cover_i is the number of paths that node i is on, and a^p the softmax within path p. The scores q_i k_k are
    computed once for each pair of nodes, gathered into a (depth, depth) table for each path, normalized there, and
    summed in w. The result equals that of the copies; attention dropout is drawn for each path.

    Memory: the tables take heads x paths x depth^2, at most heads x depth x (nodes x depth); scores and w take heads x
    nodes^2, which is no more than the queries take if a tree has at most as many nodes as the width of a head. No
    tensor has paths x nodes x width elements.

    Args:
        residual: "outside": the caller adds the residual to the result. "inside" (released): O is added within each
            path's term, out_i = (cover_i / n_p) (O_i + c_i).
        divide: "paths": as above (paper). "coverage": the sum is divided by cover_i, so that cover_i / n_p becomes 1.
        residual_dropout: dropout of c with the residual inside, where the caller cannot apply it.
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
        """Attend once from every node of `x` to the nodes of its paths.

        Args:
            x: (batch, time, width), the input of the queries.
            paths: the paths of the rows (`paths.Paths`).
            memory: (batch, time, width), the input of keys and values, and the residual O if it is inside; None means
                `x`.

        Returns:
            (batch, time, width); 0 at places outside all paths.
        """
        query, key, value = self._projected(x, memory)
        scores = query @ key.transpose(2, 3)
        weights = self._weights(scores, paths).to(value.dtype)
        mean = linear((weights @ value).transpose(1, 2).flatten(2), self.out.weight, self.out.bias)
        if self.inside:
            if self.residual_dropout:
                mean = dropout(mean, self.residual_dropout, self.training)
            mean = mean + (x if memory is None else memory)
        return mean * (paths.share if self.by_paths else paths.covered).to(mean.dtype)

    def _weights(self, scores: Tensor, paths: Paths) -> Tensor:
        """(batch, heads, time, time) scores to weights: the mean of the softmaxes of a node over its paths."""
        pairs = paths.pairs[:, None].expand(-1, self.heads, -1)
        tables = scores.flatten(2).gather(2, pairs).unflatten(2, (*paths.nodes.shape[1:], paths.nodes.shape[2]))
        # At least in single precision, the bias's, whatever the precision of the scores.
        tables = torch.add(paths.key_bias, tables, alpha=(self.inner // self.heads) ** -0.5).softmax(-1)
        if self.dropout:
            tables = dropout(tables, self.dropout, self.training)
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
