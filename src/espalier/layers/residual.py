"""Residual connections with layer norm after (Vaswani et al. 2017) or before (GPT-2) the sublayer."""

from collections.abc import Callable

from torch import Tensor, nn

from espalier.layers.dropout import dropout
from espalier.layers.linear import linear
from espalier.layers.options import Activation, Norm


class Residual(nn.Module):
    """A sublayer f with its residual connection and layer norm.

    post: LN(x + f(x)), as in equations 8 and 9 of SongNet. pre: x + f(LN(x)). released (GuiG's code): like pre, but in
    attention only the queries are projected from LN(x); keys and values are projected from x.
    """

    def __init__(self, width: int, norm: Norm, dropout: float, epsilon: float = 1e-5) -> None:
        super().__init__()
        self.form, self.dropout = norm, dropout
        self.norm = nn.LayerNorm(width, eps=epsilon)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor], *, inside: bool = False) -> Tensor:
        """(..., width) to (..., width).

        Args:
            inside: `sublayer` applies dropout and adds the residual connection itself.
        """
        y = sublayer(x if self.form == "post" else self.norm(x))
        if not inside:
            y = x + dropout(y, self.dropout, self.training)
        return self.norm(y) if self.form == "post" else y

    def memory(self, x: Tensor) -> Tensor | None:
        """The input of keys and values of self-attention; None means the input of the queries."""
        return x if self.form == "released" else None


class FeedForward(nn.Module):
    """Two linear maps with a GELU between them: (..., width) to (..., width)."""

    def __init__(self, width: int, inner: int, activation: Activation = "gelu") -> None:
        super().__init__()
        self.into, self.out = nn.Linear(width, inner), nn.Linear(inner, width)
        self.activation = activation

    def forward(self, x: Tensor) -> Tensor:
        """Map each place independently."""
        inner = linear(x, self.into.weight, self.into.bias, self.activation)
        return linear(inner, self.out.weight, self.out.bias)
