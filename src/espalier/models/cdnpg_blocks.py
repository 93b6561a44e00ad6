"""The Transformer blocks of C-DNPG's encoder and decoder (equation 10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from espalier.layers.attention import Attention, Factors
from espalier.layers.granularity import Granularity, resonance
from espalier.layers.residual import FeedForward, Residual
from espalier.layers.shared_memory import KeyValues, Past, select_pasts
from espalier.models.cdnpg_config import CDNPGConfig

#: Epsilon of layer norms, as in the released code.
EPSILON = 1e-12


@dataclass
class Memory:
    """The encoder's output as keys and values of one layer, one row per source. Consecutive prefixes share a row.

    Attributes:
        bias: bias that hides padding (`attention.padding_bias`).
        granularity: (sources, length) z_j for the resonance with it; None without resonance.
    """

    key_values: KeyValues
    bias: Tensor | None
    granularity: Tensor | None

    def select(self, index: Tensor) -> Memory:
        """The sources `index`."""
        bias, granularity = (
            None if part is None else part.index_select(0, index) for part in (self.bias, self.granularity)
        )
        return Memory(self.key_values.select(index), bias, granularity)


@dataclass
class LayerPast:
    """The places that one decoder layer has read.

    Attributes:
        granularity: (prefixes, time) z of the places; (prefixes, 0) in a layer without a granularity head.
    """

    past: Past
    granularity: Tensor


def select_layers(layers: Sequence[LayerPast], index: Tensor, time: int) -> list[LayerPast]:
    """The prefixes `index` after `time` places, as in `select_pasts`."""
    pasts = select_pasts([layer.past for layer in layers], index, time)
    return [
        LayerPast(past, layer.granularity.index_select(0, index)) for past, layer in zip(pasts, layers, strict=True)
    ]


class SelfAttention(nn.Module):
    """A residual sublayer: granularity-aware self-attention, or plain self-attention without a granularity head.

    Args:
        layer: number of the layer, from 1.
    """

    def __init__(self, config: CDNPGConfig, layer: int) -> None:
        super().__init__()
        self.attention = Attention(config.width, config.heads, config.attention_dropout)
        self.residual = Residual(config.width, "post", config.dropout, EPSILON)
        self.granularity: Granularity | None = None
        if config.granularity != "none" and layer >= config.first_layer:
            self.granularity = Granularity(
                config.width, config.granularity, config.epsilon, renormalised=config.renormalise
            )

    def forward(self, x: Tensor, length: Tensor, bias: Tensor | None = None, *, causal: bool = False) -> Tensor:
        """Map (batch, time, width) to the same shape.

        Args:
            length: N of the scope, broadcastable to (batch, time).
        """
        factors = None
        if self.granularity is not None:
            z = self.granularity(x)
            factors = self.granularity.factors(z, z, torch.arange(x.shape[1], device=x.device), length)
        return self.residual(x, partial(self.attention, bias=bias, causal=causal, factors=factors))

    def step(self, x: Tensor, past: LayerPast, time: int) -> Tensor:
        """Like `forward` for the one place at `time`, (batch, 1, width), with N = `time` + 1; append it to `past`."""
        factors = None
        if self.granularity is not None:
            z = self.granularity(x)
            past.granularity = torch.cat([past.granularity, z], dim=1)
            place = torch.tensor([time], device=x.device)
            factors = self.granularity.factors(z, past.granularity, place, place + 1)
        return self.residual(x, partial(self.attention.step, past=past.past, time=time, factors=factors))


class EncoderBlock(nn.Module):
    """Self-attention and a feed-forward layer."""

    def __init__(self, config: CDNPGConfig, layer: int) -> None:
        super().__init__()
        self.attention = SelfAttention(config, layer)
        self.feed_forward = FeedForward(config.width, config.inner)
        self.feed_forward_residual = Residual(config.width, "post", config.dropout, EPSILON)

    def forward(self, x: Tensor, length: Tensor, bias: Tensor | None) -> Tensor:
        """Map (batch, time, width) to the same shape."""
        return self.feed_forward_residual(self.attention(x, length, bias), self.feed_forward)


class DecoderBlock(nn.Module):
    """Causal self-attention, attention to the encoder, and a feed-forward layer."""

    def __init__(self, config: CDNPGConfig, layer: int) -> None:
        super().__init__()
        self.attention = SelfAttention(config, layer)
        self.cross = Attention(config.width, config.heads, config.attention_dropout)
        self.cross_residual = Residual(config.width, "post", config.dropout, EPSILON)
        self.cross_granularity: Granularity | None = None
        if config.cross_resonance and layer >= config.first_layer:
            self.cross_granularity = Granularity(config.width, "resonance", renormalised=config.renormalise)
        self.feed_forward = FeedForward(config.width, config.inner)
        self.feed_forward_residual = Residual(config.width, "post", config.dropout, EPSILON)

    def memory(self, encoded: Tensor, bias: Tensor | None) -> Memory:
        """The memory of this block for the encoder's output, (sources, length, width)."""
        granularity = None if self.cross_granularity is None else self.cross_granularity(encoded)
        return Memory(self.cross.project_memory(encoded), bias, granularity)

    def forward(self, x: Tensor, length: Tensor, memory: Memory) -> Tensor:
        """Map (sources, time, width) to the same shape."""
        return self._after_self_attention(self.attention(x, length, causal=True), memory)

    def step(self, x: Tensor, past: LayerPast, time: int, memory: Memory) -> Tensor:
        """Like `forward` for the one place at `time`, (prefixes, 1, width)."""
        x, sources = self.attention.step(x, past, time), len(memory.key_values)
        # The prefixes of a source become the time of attention to it.
        shared = x.view(sources, -1, x.shape[-1]) if sources < len(x) else x
        return self._after_self_attention(shared, memory).view_as(x)

    def _after_self_attention(self, x: Tensor, memory: Memory) -> Tensor:
        factors: Factors | None = None
        if self.cross_granularity is not None and memory.granularity is not None:
            values = resonance(self.cross_granularity(x), memory.granularity)
            factors = Factors(values[:, None], self.cross_granularity.renormalised)
        x = self.cross_residual(x, partial(self.cross, memory=memory.key_values, bias=memory.bias, factors=factors))
        return self.feed_forward_residual(x, self.feed_forward)
