"""Residual connections with their layer norm after (Vaswani et al. 2017) or before (GPT-2) the sublayer."""

from __future__ import annotations

from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor, nn

from espalier.layers.linear import linear
from espalier.layers.options import Activation, Norm


class Residual(nn.Module):
    """post: LN(f(x) + x), as SongNet's equations 8 and 9 have it; pre: f(LN(x)) + x."""

    def __init__(self, width: int, norm: Norm, dropout: float, epsilon: float) -> None:
        super().__init__()
        self.post, self.dropout = norm == "post", dropout
        self.norm = nn.LayerNorm(width, eps=epsilon)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """(..., width) to (..., width)."""
        if self.post:
            return self.norm(x + self._drop(sublayer(x)))
        return x + self._drop(sublayer(self.norm(x)))

    def _drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout, self.training) if self.dropout else x


class FeedForward(nn.Module):
    """Two linear maps with a GELU between: (..., width) to (..., width)."""

    def __init__(self, width: int, inner: int, activation: Activation = "gelu") -> None:
        super().__init__()
        self.into, self.out = nn.Linear(width, inner), nn.Linear(inner, width)
        self.activation = activation

    def forward(self, x: Tensor) -> Tensor:
        """Map each place for itself."""
        inner = linear(x, self.into.weight, self.into.bias, self.activation)
        return linear(inner, self.out.weight, self.out.bias)
