"""Multi-head attention with masks and biases on scores, and factors on weights."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from espalier.datasets.part import present_part
from espalier.layers.device import on_host
from espalier.layers.dropout import dropout
from espalier.layers.linear import linear
from espalier.layers.shared_memory import KeyValues, Past

#: The least factor whose logarithm is taken, as in C-DNPG's released code.
LEAST_FACTOR = 1e-32


class Factors(NamedTuple):
    """Factors of the attention weights, A * F element by element (C-DNPG, equation 9).

    Attributes:
        values: float32, at least 0, broadcastable to (batch, heads, time, memory time).
        renormalised: whether the products of a place are divided by their sum; factors below `LEAST_FACTOR` are then
            raised to it, so the sum is never 0. Without it the products sum to at most 1 if the factors are at most 1.
    """

    values: Tensor
    renormalised: bool = False


class Attention(nn.Module):
    """softmax(Q K^T / sqrt(d) + bias) V over `heads` heads, then an output projection.

    Queries are projected from `x`; keys and values from `memory` or `x`. `head_width` is `width` / `heads` by default.
    """

    def __init__(self, width: int, heads: int, dropout: float = 0.0, head_width: int | None = None) -> None:
        super().__init__()
        if head_width is None and width % heads:
            raise ValueError(f"width {width} is no multiple of {heads} heads")
        self.heads, self.dropout = heads, dropout
        self.inner = heads * (head_width or width // heads)
        self.project = nn.Linear(width, 3 * self.inner)  # W^Q, W^K, W^V, one below the other
        self.out = nn.Linear(self.inner, width)

    def forward(
        self,
        x: Tensor,
        memory: Tensor | KeyValues | None = None,
        *,
        bias: Tensor | None = None,
        causal: bool = False,
        factors: Factors | None = None,
    ) -> Tensor:
        """Attend from all places of `x`.

        Args:
            x: (batch, time, width).
            memory: (batch, memory time, width), or its keys and values from `project_memory`; None means `x`.
            bias: broadcastable to (batch, heads, time, memory time): bool (True: attend), or added to the scores.
            causal: place t attends to places <= t only.
            factors: factors of the weights; None means 1.

        Returns:
            (batch, time, width).
        """
        if memory is None:
            query, key, value = (self._split(part) for part in self._projected(x).chunk(3, dim=-1))
        else:
            inner = self.inner
            query = self._split(linear(x, self.project.weight[:inner], self.project.bias[:inner]))
            projected = memory if isinstance(memory, KeyValues) else self.project_memory(memory)
            key, value = projected.keys, projected.values
        return self._attend(query, key, value, bias, causal, factors)

    def weights(self, x: Tensor, memory: Tensor | KeyValues, *, bias: Tensor | None = None) -> Tensor:
        """(batch, heads, time, memory time) attention weights of `forward`, without dropout."""
        query = self._split(linear(x, self.project.weight[: self.inner], self.project.bias[: self.inner]))
        keys = (memory if isinstance(memory, KeyValues) else self.project_memory(memory)).keys
        return _biased(_scores(query, keys), bias, causal=False).softmax(-1)

    def project_memory(self, memory: Tensor) -> KeyValues:
        """The keys and values of a memory, to be computed once for many steps."""
        projected = linear(memory, self.project.weight[self.inner :], self.project.bias[self.inner :])
        key, value = projected.chunk(2, dim=-1)
        return KeyValues(self._split(key), self._split(value))

    def empty(self, batch: int, capacity: int, like: Tensor, window: int | None = None) -> Past:
        """The past of a decoder, with room for `capacity` places; a step reads at most `window`."""
        return Past.empty(batch, self.heads, capacity, self.inner // self.heads, like, window)

    def step(
        self,
        x: Tensor,
        past: Past,
        time: int,
        memory: Tensor | None = None,
        *,
        bias: Tensor | None = None,
        factors: Factors | None = None,
    ) -> Tensor:
        """Attend from one place `x`, (batch, 1, width), to itself and the `time` places before it; append it to `past`.

        Args:
            memory: (batch, 1, width) the input of the place's key and value; None means `x`.
            bias: bool, with 4 dimensions, broadcastable to (batch, heads, 1, `time` + 1): True at the places to attend
                to. None if `past` has a window.
            factors: factors of the weights of these `time` + 1 places; None means 1. None if `past` has a window.
        """
        if memory is None:
            query, key, value = self._projected(x).view(len(x), 3, self.heads, 1, self.inner // self.heads).unbind(1)
        else:
            query = self._split(linear(x, self.project.weight[: self.inner], self.project.bias[: self.inner]))
            projected = self.project_memory(memory)
            key, value = projected.keys, projected.values
        known = past.append(time, key, value)
        if past.slots is not None:
            slots = past.slots.after
            query, read = slots.of_prefixes(query), slots.read[:, None]
            bias = read if bias is None else read & slots.at_slots(bias)
            factors = factors and factors._replace(values=slots.at_slots(factors.values))
        attended = self._attend(query, known.keys, known.values, bias, False, factors)
        return attended.view(len(x), 1, self.out.out_features)

    def _attend(
        self, query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, causal: bool, factors: Factors | None
    ) -> Tensor:
        dropout = self.dropout if self.training else 0.0
        if factors is None:
            mixed = dot_product_attention(query, key, value, bias, dropout, causal)
        else:
            mixed = factored_attention(query, key, value, factors, bias, dropout, causal)
        return linear(mixed.transpose(1, 2).flatten(2), self.out.weight, self.out.bias)

    def _projected(self, x: Tensor) -> Tensor:
        return linear(x, self.project.weight, self.project.bias)

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


def dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None = None, dropout_p: float = 0.0, causal: bool = False
) -> Tensor:
    """`F.scaled_dot_product_attention`. On a CPU, bfloat16 is computed as float32 and dropout is `layers.dropout`.

    On a CPU the backward pass takes 1.2 to 14 times as long in bfloat16 as in float32
    (`benchmarks/attention_precision.py`). If several processes share a batch, dropout is `layers.dropout` on every
    device.
    """
    if query.device.type != "cpu" and not (dropout_p and present_part()):
        return F.scaled_dot_product_attention(query, key, value, bias, dropout_p, causal)
    dtype = query.dtype
    with torch.autocast("cpu", enabled=False):
        query, key, value = (_float32(part) for part in (query, key, value))
        bias = bias if bias is None else _float32(bias)
        if dropout_p:
            mixed = dropout(_biased(_scores(query, key), bias, causal).softmax(-1), dropout_p) @ value
        else:
            mixed = F.scaled_dot_product_attention(query, key, value, bias, is_causal=causal)
    return mixed.to(dtype)


def factored_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    factors: Factors,
    bias: Tensor | None = None,
    dropout_p: float = 0.0,
    causal: bool = False,
) -> Tensor:
    """(softmax(Q K^T / sqrt(d) + bias) * F) V.

    If renormalised, it is `dot_product_attention` with log F added to scores.
    """
    if factors.renormalised:
        scores = factors.values.clamp(min=LEAST_FACTOR).log()
        return dot_product_attention(query, key, value, _biased(scores, bias, causal), dropout_p)
    dtype = query.dtype
    with torch.autocast("cpu", enabled=False):
        if query.device.type == "cpu":  # as in `dot_product_attention`
            query, key, value = (_float32(part) for part in (query, key, value))
        weights = _biased(_scores(query, key), bias, causal).softmax(-1) * factors.values
        mixed = dropout(weights, dropout_p) @ value
    return mixed.to(dtype)


def _float32(x: Tensor) -> Tensor:
    """Convert bfloat16 to float32; keep other types."""
    return x.float() if x.dtype == torch.bfloat16 else x


def _scores(query: Tensor, key: Tensor) -> Tensor:
    """(batch, heads, time, memory time) Q K^T / sqrt(d)."""
    return (query * query.shape[-1] ** -0.5) @ key.transpose(-2, -1)


def _biased(scores: Tensor, bias: Tensor | None, causal: bool) -> Tensor:
    """Add the bias and the causal mask of `Attention.forward`; hidden places get the smallest finite number.

    Unlike -inf, this gives no NaN if all places are hidden.
    """
    least = torch.finfo(scores.dtype).min
    if bias is not None:
        scores = scores.masked_fill(~bias, least) if bias.dtype == torch.bool else scores + bias
    if causal:
        later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(later, least)
    return scores


def padding_bias(real: Tensor) -> Tensor | None:
    """Convert (batch, time) bool to a bias that hides padding.

    On a CPU None, which is faster, if there is no padding; another device would have to be waited for.
    """
    return None if on_host(real) and bool(real.all()) else real[:, None, None, :]
