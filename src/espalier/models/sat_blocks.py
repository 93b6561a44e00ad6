"""The Transformer blocks of SAT's structure encoder and decoder."""

from functools import partial
from typing import Final

import torch
from torch import Tensor, nn

from espalier.layers.attention import Attention
from espalier.layers.residual import FeedForward, Residual
from espalier.layers.shared_memory import KeyValues, Past
from espalier.models.sat_config import SATConfig

#: The initial bias on the own place. With equal scores, this place then has half the weight in a template of 20 tokens.
OWN: Final = 3.0


class StructureEncoderBlock(nn.Module):
    """Bidirectional self-attention (equations 8-10) and a feed-forward layer (equation 11)."""

    def __init__(self, config: SATConfig) -> None:
        super().__init__()
        self.attention = Attention(config.width, config.heads, config.attention_dropout)
        self.feed_forward = FeedForward(config.width, config.inner, config.activation)
        self.attention_residual, self.feed_forward_residual = _residual(config), _residual(config)

    def forward(self, x: Tensor, bias: Tensor | None) -> Tensor:
        """Map (batch, time, width) to the same shape. `bias` hides padding."""
        x = self.attention_residual(x, partial(self.attention, bias=bias))
        return self.feed_forward_residual(x, self.feed_forward)


class DecoderBlock(nn.Module):
    """Masked self-attention (equation 13), structure-aware attention (14-17), and a feed-forward layer (18).

    Equation 13 has neither residual connection nor layer norm. Both are added here, as in the Transformer, since
    without them words would reach the next block only through attention.
    """

    def __init__(self, config: SATConfig) -> None:
        super().__init__()
        self.attention = Attention(config.width, config.heads, config.attention_dropout)
        self.attention_residual = _residual(config)
        self.structure_attention = (
            Attention(config.width, config.heads, config.attention_dropout) if config.attends else None
        )
        self.structure_residual = _residual(config) if config.attends else None
        #: (heads,) added to the score of the place of the token to be predicted.
        self.own = nn.Parameter(torch.full((config.heads,), OWN)) if config.structure == "biased" else None
        self.feed_forward = FeedForward(config.width, config.inner, config.activation)
        self.feed_forward_residual = _residual(config)

    def forward(self, x: Tensor, memory: Tensor | None, memory_mask: Tensor | None, places: Tensor) -> Tensor:
        """Map (batch, time, width) to the same shape.

        Args:
            memory: H_Ne, (batch, memory time, width); None for GPT2.
            memory_mask: (batch, 1, 1, memory time) bool, False at padding; None without padding.
            places: (batch or 1, time) positions of the symbols of the tokens to predict.
        """
        x = self.attention_residual(x, partial(self.attention, causal=True))
        return self._after_attention(x, memory, memory_mask, places)

    def begin(self, x: Tensor, past: Past, memory: Tensor | None, memory_mask: Tensor | None, places: Tensor) -> Tensor:
        """Like `forward` for places before the text. Their keys and values become the first of `past`."""

        def attend(y: Tensor) -> Tensor:
            known = self.attention.project_memory(y)
            past.keys[:, :, : x.shape[1]], past.values[:, :, : x.shape[1]] = known.keys, known.values
            return self.attention(y, causal=True)

        return self._after_attention(self.attention_residual(x, attend), memory, memory_mask, places)

    def step(
        self,
        x: Tensor,
        past: Past,
        time: int,
        memory: KeyValues | None,
        memory_mask: Tensor | None,
        places: Tensor,
        shown: Tensor | None = None,
    ) -> Tensor:
        """Like `forward` for the one place at `time`, (batch, 1, width).

        Args:
            shown: (batch, 1, 1, time + 1) bool, False at empty places of `past`; None if none is empty.
            memory: one row per template, shared by equally many consecutive rows of the batch.
            places: (templates, 1).
        """
        x = self.attention_residual(x, partial(self.attention.step, past=past, time=time, bias=shown))
        if memory is None:
            return self._after_attention(x, None, None, places)
        # The prefixes of a template become the time dimension; the place is the same for all of them.
        return self._after_attention(x.view(len(memory), -1, x.shape[2]), memory, memory_mask, places).view_as(x)

    def _after_attention(
        self, x: Tensor, memory: Tensor | KeyValues | None, memory_mask: Tensor | None, places: Tensor
    ) -> Tensor:
        if self.structure_attention is not None and self.structure_residual is not None and memory is not None:
            bias = self._bias(memory, memory_mask, places)
            x = self.structure_residual(x, partial(self.structure_attention, memory=memory, bias=bias))
        return self.feed_forward_residual(x, self.feed_forward)

    def _bias(self, memory: Tensor | KeyValues, memory_mask: Tensor | None, places: Tensor) -> Tensor | None:
        """A bias that hides padding and raises the score of the own place."""
        if self.own is None:
            return memory_mask
        time = memory.keys.shape[2] if isinstance(memory, KeyValues) else memory.shape[1]
        is_own = places[:, None, :, None] == torch.arange(time, device=places.device)
        bias = is_own * self.own[:, None, None]
        return bias if memory_mask is None else bias.masked_fill(~memory_mask, -torch.inf)


def _residual(config: SATConfig) -> Residual:
    return Residual(config.width, config.norm, config.dropout, config.epsilon)
