"""The Transformer blocks of GuiG's encoders and decoder (figures 2 and 3)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from torch import Tensor, nn

from espalier.layers.attention import Attention, KeyValues
from espalier.layers.multi_encoder import Memory, MultiEncoderAttention
from espalier.layers.path_attention import PathAttention
from espalier.layers.paths import Paths
from espalier.layers.residual import FeedForward, Residual
from espalier.models.guig_config import EncoderConfig, GuiGConfig


class Encoder(nn.Module):
    """Transformer blocks over one row, or over several concatenated rows."""

    def __init__(self, config: GuiGConfig, encoder: EncoderConfig) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([EncoderBlock(config, encoder) for _ in range(encoder.layers)])
        self.final_norm = nn.LayerNorm(config.width) if config.norm == "pre" else nn.Identity()

    def forward(self, x: Tensor, bias: Tensor | None, paths: Paths | None) -> Tensor:
        """Map (batch, time, width) to the same shape. `paths` are needed for path attention."""
        for block in self.blocks:
            x = block(x, bias, paths)
        encoded: Tensor = self.final_norm(x)
        return encoded


class EncoderBlock(nn.Module):
    """Self-attention, or path attention applied `passes` times with the same weights, and a feed-forward layer."""

    def __init__(self, config: GuiGConfig, encoder: EncoderConfig) -> None:
        super().__init__()
        width, heads, head_width, dropout = config.width, encoder.heads, config.head_width, config.attention_dropout
        self.attention: Attention | PathAttention
        if encoder.attention == "path":
            self.attention = PathAttention(
                width,
                heads,
                head_width,
                dropout,
                residual=config.residual,
                divide=config.divide,
                residual_dropout=config.dropout,
            )
        else:
            self.attention = Attention(width, heads, dropout, head_width)
        self.passes, self.inside = config.passes, config.residual == "inside"
        self.attention_residual = Residual(width, config.norm, config.dropout)
        self.feed_forward = FeedForward(width, config.inner)
        self.feed_forward_residual = Residual(width, config.feed_forward_norm, config.dropout)

    def forward(self, x: Tensor, bias: Tensor | None, paths: Paths | None) -> Tensor:
        """Map (batch, time, width) to the same shape."""
        residual = self.attention_residual
        if isinstance(self.attention, PathAttention):
            for _ in range(self.passes):
                attend = partial(self.attention, paths=paths, memory=residual.memory(x))
                x = residual(x, attend, inside=self.inside)
        else:
            x = residual(x, partial(self.attention, memory=residual.memory(x), bias=bias))
        return self.feed_forward_residual(x, self.feed_forward)


class DecoderBlock(nn.Module):
    """Masked self-attention, multi-encoder attention, and a feed-forward layer."""

    def __init__(self, config: GuiGConfig) -> None:
        super().__init__()
        width, dropout = config.width, config.attention_dropout
        self.attention = Attention(width, config.heads, dropout, config.head_width)
        self.encoders = MultiEncoderAttention(
            width, [encoder.cross_heads for encoder in config.encoders], config.head_width, dropout
        )
        self.feed_forward = FeedForward(width, config.inner)
        self.attention_residual, self.encoders_residual = (
            Residual(width, config.norm, config.dropout) for _ in range(2)
        )
        self.feed_forward_residual = Residual(width, config.feed_forward_norm, config.dropout)

    def forward(self, x: Tensor, memories: Sequence[Memory]) -> Tensor:
        """Map (batch, time, width) to the same shape."""
        residual = self.attention_residual
        x = residual(x, partial(self.attention, memory=residual.memory(x), causal=True))
        return self._after_attention(x, memories)

    def step(self, x: Tensor, past: KeyValues, time: int, memories: Sequence[Memory]) -> Tensor:
        """Like `forward` for the one place at `time`, (batch, 1, width)."""
        residual = self.attention_residual
        x = residual(x, partial(self.attention.step, past=past, time=time, memory=residual.memory(x)))
        return self._after_attention(x, memories)

    def _after_attention(self, x: Tensor, memories: Sequence[Memory]) -> Tensor:
        x = self.encoders_residual(x, partial(self.encoders, memories=memories))
        return self.feed_forward_residual(x, self.feed_forward)
