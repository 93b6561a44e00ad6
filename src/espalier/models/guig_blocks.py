"""The Transformer blocks of GuiG's encoders and of its decoder (figures 2 and 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch.nn.functional as F
from torch import Tensor, nn

from espalier.layers.attention import Attention, KeyValues
from espalier.layers.multi_encoder import Memory, MultiEncoderAttention
from espalier.layers.options import Norm
from espalier.layers.path_attention import PathAttention
from espalier.layers.paths import Paths
from espalier.layers.residual import FeedForward
from espalier.models.guig_config import EncoderConfig, GuiGConfig


class Sublayer(nn.Module):
    """A sublayer with its residual connection and layer norm, in one of the forms of `GuiGConfig.norm`."""

    def __init__(self, form: Norm, width: int, dropout: float) -> None:
        super().__init__()
        self.form, self.dropout = form, dropout
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor, Tensor], Tensor], *, inside: bool = False) -> Tensor:
        """(..., width) to the same.

        Args:
            sublayer: of the queries, and of what keys and values are made from.
            inside: the sublayer's result has the residual in it, and has been dropped out as it should.
        """
        query = x if self.form == "post" else self.norm(x)
        made = sublayer(query, query if self.form == "pre" else x)
        if not inside:
            made = x + (F.dropout(made, self.dropout, self.training) if self.dropout else made)
        return self.norm(made) if self.form == "post" else made


class Encoder(nn.Module):
    """Transformer blocks over one row, or several read as one."""

    def __init__(self, config: GuiGConfig, encoder: EncoderConfig) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([EncoderBlock(config, encoder) for _ in range(encoder.layers)])
        self.final_norm = nn.LayerNorm(config.width) if config.norm == "pre" else nn.Identity()

    def forward(self, x: Tensor, bias: Tensor | None, paths: Paths | None) -> Tensor:
        """(batch, time, width) to the same; `paths` of the rows, where path attention is used."""
        for block in self.blocks:
            x = block(x, bias, paths)
        encoded: Tensor = self.final_norm(x)
        return encoded


class EncoderBlock(nn.Module):
    """Self-attention, or path attention `passes` times over with the same weights; then a feed-forward layer."""

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
        self.attention_residual = Sublayer(config.norm, width, config.dropout)
        self.feed_forward = FeedForward(width, config.inner)
        self.feed_forward_residual = Sublayer(config.feed_forward_norm, width, config.dropout)

    def forward(self, x: Tensor, bias: Tensor | None, paths: Paths | None) -> Tensor:
        """(batch, time, width) to the same."""
        attention = self.attention
        if isinstance(attention, PathAttention):
            for _ in range(self.passes):
                x = self.attention_residual(
                    x, lambda q, m: attention(q, paths, None if m is q else m), inside=self.inside
                )
        else:
            x = self.attention_residual(x, lambda q, m: attention(q, None if m is q else m, bias=bias))
        return self.feed_forward_residual(x, lambda h, _: self.feed_forward(h))


class DecoderBlock(nn.Module):
    """Masked self-attention, multi-encoder attention, feed-forward."""

    def __init__(self, config: GuiGConfig) -> None:
        super().__init__()
        width, dropout = config.width, config.attention_dropout
        self.attention = Attention(width, config.heads, dropout, config.head_width)
        self.encoders = MultiEncoderAttention(
            width, [encoder.cross_heads for encoder in config.encoders], config.head_width, dropout
        )
        self.feed_forward = FeedForward(width, config.inner)
        self.attention_residual, self.encoders_residual = (
            Sublayer(config.norm, width, config.dropout) for _ in range(2)
        )
        self.feed_forward_residual = Sublayer(config.feed_forward_norm, width, config.dropout)

    def forward(self, x: Tensor, memories: Sequence[Memory]) -> Tensor:
        """(batch, time, width) to the same."""
        attend = self.attention
        x = self.attention_residual(x, lambda q, m: attend(q, None if m is q else m, causal=True))
        return self._after_attention(x, memories)

    def step(self, x: Tensor, past: KeyValues, time: int, memories: Sequence[Memory]) -> Tensor:
        """The same for the one place at `time`, (batch, 1, width)."""
        attend = self.attention
        x = self.attention_residual(x, lambda q, m: attend.step(q, past, time, None if m is q else m))
        return self._after_attention(x, memories)

    def _after_attention(self, x: Tensor, memories: Sequence[Memory]) -> Tensor:
        x = self.encoders_residual(x, lambda q, _: self.encoders(q, memories))
        return self.feed_forward_residual(x, lambda h, _: self.feed_forward(h))
