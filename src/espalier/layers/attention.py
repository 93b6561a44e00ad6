"""Multi-head attention: one core for every model, with one hook for masks and biases."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from espalier.layers.linear import linear


@dataclass
class KeyValues:
    """Projected keys and values, each (batch, heads, time, head width).

    Of a memory they are complete from the start; of a decoder's past they are buffers of which the first `step` places
    are filled.
    """

    keys: Tensor
    values: Tensor

    def select(self, index: Tensor, filled: int | None = None) -> KeyValues:
        """The rows `index` of the batch, in that order.

        Args:
            filled: of buffers, copy no more than these first places; no gradient goes through.
        """
        return KeyValues(_selected(self.keys, index, filled), _selected(self.values, index, filled))

    def write(self, time: int, keys: Tensor, values: Tensor) -> None:
        """Put one place, (batch, heads, 1, head width), at `time`; the buffers grow as needed."""
        if time >= self.keys.shape[2]:
            self.keys, self.values = _grown(self.keys), _grown(self.values)
        self.keys[:, :, time : time + 1] = keys
        self.values[:, :, time : time + 1] = values


class Attention(nn.Module):
    """softmax(Q K^T / sqrt(d) + bias) V over `heads` heads, then an output projection.

    Queries come from `x`; keys and values from `memory`, or from `x` itself. Width in, width out; the heads share the
    width evenly, unless `head_width` says how wide each is.
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
        self, x: Tensor, memory: Tensor | KeyValues | None = None, *, bias: Tensor | None = None, causal: bool = False
    ) -> Tensor:
        """Attend from every place of `x`.

        Args:
            x: (batch, time, width).
            memory: (batch, memory time, width), or its keys and values from `remember`; None means `x`.
            bias: broadcastable to (batch, heads, time, memory time): bool (True is seen), or added to the scores.
            causal: place t sees places <= t alone.

        Returns:
            (batch, time, width).
        """
        if memory is None:
            query, key, value = (self._split(part) for part in self._projected(x).chunk(3, dim=-1))
        else:
            inner = self.inner
            query = self._split(linear(x, self.project.weight[:inner], self.project.bias[:inner]))
            seen = memory if isinstance(memory, KeyValues) else self.remember(memory)
            key, value = seen.keys, seen.values
        return self._attend(query, key, value, bias, causal)

    def remember(self, memory: Tensor) -> KeyValues:
        """Keys and values of a memory, to be computed once for many steps."""
        projected = linear(memory, self.project.weight[self.inner :], self.project.bias[self.inner :])
        key, value = projected.chunk(2, dim=-1)
        return KeyValues(self._split(key), self._split(value))

    def empty(self, batch: int, capacity: int, like: Tensor) -> KeyValues:
        """Room for `capacity` steps of a decoder's past."""
        shape = (batch, self.heads, capacity, self.inner // self.heads)
        return KeyValues(_room(*shape, like), _room(*shape, like))

    def step(self, x: Tensor, past: KeyValues, time: int, memory: Tensor | None = None) -> Tensor:
        """Attend from the one place `x`, (batch, 1, width), to the `time` places before it and itself; `past` grows.

        Args:
            memory: the place as keys and values see it; None means `x`.
        """
        if memory is None:
            query, key, value = self._projected(x).view(len(x), 3, self.heads, 1, self.inner // self.heads).unbind(1)
        else:
            query = self._split(linear(x, self.project.weight[: self.inner], self.project.bias[: self.inner]))
            seen = self.remember(memory)
            key, value = seen.keys, seen.values
        past.write(time, key, value)
        return self._attend(query, past.keys[:, :, : time + 1], past.values[:, :, : time + 1], None, False)

    def _attend(self, query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, causal: bool) -> Tensor:
        dropout = self.dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(query, key, value, bias, dropout, causal)
        return linear(mixed.transpose(1, 2).flatten(2), self.out.weight, self.out.bias)

    def _projected(self, x: Tensor) -> Tensor:
        return linear(x, self.project.weight, self.project.bias)

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


def _room(batch: int, heads: int, time: int, width: int, like: Tensor) -> Tensor:
    """(batch, heads, time, width), in memory one place after the other, so that a row's filled places lie together."""
    return like.new_empty(batch, time, heads, width).transpose(1, 2)


def _grown(buffer: Tensor) -> Tensor:
    """Twice the room in time; what is not filled yet is never touched, for fresh pages are what costs."""
    batch, heads, time, width = buffer.shape
    larger = _room(batch, heads, max(16, 2 * time), width, buffer)
    larger[:, :, :time] = buffer
    return larger


def _selected(buffer: Tensor, index: Tensor, filled: int | None) -> Tensor:
    if filled is None:
        return buffer.index_select(0, index)
    _, heads, time, width = buffer.shape
    made = _room(len(index), heads, time, width, buffer)
    with torch.no_grad():
        torch.index_select(buffer.transpose(1, 2)[:, :filled], 0, index, out=made.transpose(1, 2)[:, :filled])
    return made


def padding_bias(real: Tensor) -> Tensor | None:
    """(batch, time) bool to a bias that hides what is not real; None where all is, which is faster."""
    return None if bool(real.all()) else real[:, None, None, :]


def select_all(caches: list[KeyValues], index: Tensor, filled: int | None = None) -> list[KeyValues]:
    """`KeyValues.select` over the layers."""
    return [cache.select(index, filled) for cache in caches]
