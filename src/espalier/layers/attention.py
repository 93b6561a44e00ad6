"""Multi-head attention with masks and biases on scores, and factors on weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from espalier.datasets.part import present_part
from espalier.layers.dropout import dropout
from espalier.layers.linear import linear

#: The places that get another row, and these rows; None if a selection cannot be made in place.
_Moves = tuple[Tensor, Tensor] | None
#: In a `reused_buffers` block the moves of each selection, by the address of its index and the number of rows. The
#: index is kept too, so that its address is not reused.
_moved: ContextVar[dict[tuple[int, int], tuple[Tensor, _Moves]] | None] = ContextVar("moved", default=None)


@contextmanager
def reused_buffers() -> Iterator[None]:
    """In this block a selection of buffers moves only the rows that change places, if it can.

    The caller must not use a state any more that rows were selected from.
    """
    token = _moved.set({})
    try:
        yield
    finally:
        _moved.reset(token)


@dataclass
class KeyValues:
    """Projected keys and values, each (batch, heads, time, head width).

    For a memory all places are filled. For the past of a decoder they are buffers, of which only the first places are
    filled.
    """

    keys: Tensor
    values: Tensor

    def __len__(self) -> int:
        return len(self.keys)

    def select(self, index: Tensor, filled: int | None = None) -> KeyValues:
        """The rows `index` of the batch, in that order.

        Args:
            filled: for buffers, the number of filled places; only these are copied, without gradients.
        """
        if filled is None:
            return KeyValues(self.keys.index_select(0, index), self.values.index_select(0, index))
        moves = _moves(index, len(self))
        return KeyValues(*(_selected(buffer, index, filled, moves) for buffer in (self.keys, self.values)))

    def write(self, time: int, keys: Tensor, values: Tensor) -> None:
        """Write one place, (batch, heads, 1, head width), at `time`; the buffers grow if needed."""
        if time >= self.keys.shape[2]:
            self.keys, self.values = _grown(self.keys), _grown(self.values)
        self.keys[:, :, time : time + 1] = keys
        self.values[:, :, time : time + 1] = values


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

    def empty(self, batch: int, capacity: int, like: Tensor) -> KeyValues:
        """Buffers for `capacity` steps of a decoder's past."""
        shape = (batch, self.heads, capacity, self.inner // self.heads)
        return KeyValues(_room(*shape, like), _room(*shape, like))

    def step(
        self,
        x: Tensor,
        past: KeyValues,
        time: int,
        memory: Tensor | None = None,
        *,
        bias: Tensor | None = None,
        factors: Factors | None = None,
    ) -> Tensor:
        """Attend from one place `x`, (batch, 1, width), to itself and the `time` places before it; append it to `past`.

        Args:
            memory: (batch, 1, width) the input of the place's key and value; None means `x`.
            bias: bias of the scores of these `time` + 1 places, as in `forward`.
            factors: factors of the weights of these `time` + 1 places; None means 1.
        """
        if memory is None:
            query, key, value = self._projected(x).view(len(x), 3, self.heads, 1, self.inner // self.heads).unbind(1)
        else:
            query = self._split(linear(x, self.project.weight[: self.inner], self.project.bias[: self.inner]))
            projected = self.project_memory(memory)
            key, value = projected.keys, projected.values
        past.write(time, key, value)
        return self._attend(query, past.keys[:, :, : time + 1], past.values[:, :, : time + 1], bias, False, factors)

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


def _room(batch: int, heads: int, time: int, width: int, like: Tensor) -> Tensor:
    """An empty (batch, heads, time, width) tensor, time-major in memory: the filled places of a row are contiguous."""
    return like.new_empty(batch, time, heads, width).transpose(1, 2)


def _grown(buffer: Tensor) -> Tensor:
    """The buffer with twice the capacity. Unfilled places are not written, since touching fresh pages is slow."""
    batch, heads, time, width = buffer.shape
    larger = _room(batch, heads, max(16, 2 * time), width, buffer)
    larger[:, :, :time] = buffer
    return larger


def _moves(index: Tensor, rows: int) -> _Moves:
    """The moves of a selection in a `reused_buffers` block, which all layers share; else None."""
    known, key = _moved.get(), (id(index), rows)
    if known is None:
        return None
    if key not in known:
        places = index != torch.arange(len(index), device=index.device)
        to = places.nonzero()[:, 0]
        source = index[to]
        overwritten = len(index) > rows or bool(places[source[source < len(index)]].any())
        known[key] = index, None if overwritten else (to, source)
    return known[key][1]


def _selected(buffer: Tensor, index: Tensor, filled: int, moves: _Moves) -> Tensor:
    _, heads, time, width = buffer.shape
    past = buffer.transpose(1, 2)[:, :filled]
    with torch.no_grad():
        if moves:
            to, source = moves
            past.index_copy_(0, to, past.index_select(0, source))
            return buffer[: len(index)]
        selected = _room(len(index), heads, time, width, buffer)
        torch.index_select(past, 0, index, out=selected.transpose(1, 2)[:, :filled])
    return selected


def padding_bias(real: Tensor) -> Tensor | None:
    """Convert (batch, time) bool to a bias that hides padding.

    On a CPU None, which is faster, if there is no padding; another device would have to be waited for.
    """
    return None if real.device.type == "cpu" and bool(real.all()) else real[:, None, None, :]


def select_all(caches: list[KeyValues], index: Tensor, filled: int | None = None) -> list[KeyValues]:
    """`KeyValues.select` for each layer."""
    return [cache.select(index, filled) for cache in caches]
