"""The granularity levels of DNPG: modules that separate, encode, decode and aggregate them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from espalier.datasets.part import present_part
from espalier.layers.attention import Attention
from espalier.layers.linear import linear
from espalier.layers.recurrent import RecurrentEncoder, RecurrentStack
from espalier.layers.residual import FeedForward, Residual
from espalier.layers.shared_memory import KeyValues, Past, select_all
from espalier.models.cdnpg_config import DNPGConfig

#: The levels: details (phrases), and the template (sentence).
PHRASE, SENTENCE = range(2)
LEVELS: Final = 2
#: Subtracted from the scores of keys of the other level; it is linear in z, so that the separator has a gradient.
OTHER_LEVEL = 10.0
#: Subtracted from the scores of padding and of keys outside a window: weights are 0 unless all keys are hidden.
MASKED = 1e4


class Separator(nn.Module):
    """A bidirectional LSTM that assigns each token of the source to a level by a Gumbel-softmax."""

    def __init__(self, width: int, temperature: float) -> None:
        super().__init__()
        self.temperature = temperature
        self.encoder = RecurrentEncoder(width, width // 2, bidirectional=True)
        self.level = nn.Linear(self.encoder.out, LEVELS)

    def forward(self, x: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
        """Assign levels to embeddings, (batch, time, width).

        Returns:
            (batch, time, 2) logits; (batch, time, 2) one-hot z. In training z is sampled, with the gradient of the
            softmax (straight-through, Jang et al. 2017); otherwise it is the more probable level.
        """
        states, _ = self.encoder(x, real)
        logits = linear(states, self.level.weight, self.level.bias).float()
        if self.training:
            part = present_part()
            if part is None:
                return logits, F.gumbel_softmax(logits, self.temperature, hard=True)
            own, count = part.places["row"]
            whole = logits.new_zeros(count, *logits.shape[1:])
            whole[own] = logits  # so that the noise is that of the whole batch
            return logits, F.gumbel_softmax(whole, self.temperature, hard=True)[own]
        return logits, F.one_hot(logits.argmax(-1), LEVELS).to(logits.dtype)


class Aggregator(nn.Module):
    """An LSTM over the last states of both decoders that predicts the probability of each level at each place."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width, self.stack = width, RecurrentStack("lstm", LEVELS * width, width, 1)
        self.level = nn.Linear(width, LEVELS)

    def start(self, rows: int, like: Tensor) -> Tensor:
        """The state before the first place."""
        return like.new_zeros(2, 1, rows, self.width)

    def forward(self, tops: list[Tensor]) -> Tensor:
        """Map (batch, time, width) states of each level to (batch, time, 2) log-probabilities."""
        return self._levels(self.stack(torch.cat(tops, dim=-1), self.start(len(tops[0]), tops[0])))

    def step(self, tops: list[Tensor], state: Tensor) -> tuple[Tensor, Tensor]:
        """Map (rows, width) states of each level to (rows, 2) log-probabilities and the new state."""
        top, state = self.stack.step(torch.cat(tops, dim=-1), state)
        return self._levels(top), state

    def _levels(self, x: Tensor) -> Tensor:
        return linear(x, self.level.weight, self.level.bias).float().log_softmax(-1)


@dataclass
class LevelMemory:
    """The source at one level, one row per source. Consecutive prefixes share a row.

    Attributes:
        key_values: keys and values for each decoder layer.
        bias: (sources, 1, 1, length) bias that hides padding and the other level.
    """

    key_values: list[KeyValues]
    bias: Tensor

    def select(self, index: Tensor) -> LevelMemory:
        """The sources `index`."""
        return LevelMemory(select_all(self.key_values, index), self.bias.index_select(0, index))


class Level(nn.Module):
    """A Transformer encoder and decoder of one level, with layer norm after each sublayer (Vaswani et al. 2017).

    Args:
        window: number of places that self-attention sees: around a place in the encoder, up to a place in the decoder.
            None means all.
    """

    def __init__(self, config: DNPGConfig, window: int | None) -> None:
        super().__init__()
        self.window = window
        self.encoder = nn.ModuleList([Block(config, crosses=False) for _ in range(config.encoder_layers)])
        self.decoder = nn.ModuleList([Block(config, crosses=True) for _ in range(config.layers)])
        self.apply(_initialise)

    def encode(self, x: Tensor, z: Tensor, real: Tensor) -> tuple[Tensor, LevelMemory]:
        """The states of a source, (batch, time, width), and the memory that the decoder has of them.

        Args:
            z: (batch, time) 1 at tokens of this level, 0 at others.
            real: (batch, time) bool, False at padding.
        """
        keys = (-OTHER_LEVEL * (1 - z) - MASKED * ~real)[:, None, None]
        bias = keys
        if self.window is not None:
            apart = _apart(x.shape[1], x.device).abs()
            bias = keys - MASKED * (apart > self.window // 2)
        for block in self._encoder:
            x = block(x, partial(block.attention, bias=bias))
        return x, LevelMemory([block.project_memory(x) for block in self._decoder], keys)

    def forward(self, x: Tensor, memory: LevelMemory) -> Tensor:
        """The decoder's last states of all places of `x`, (sources, time, width)."""
        bias = None
        if self.window is not None:
            apart = _apart(x.shape[1], x.device)
            bias = (apart >= 0) & (apart < self.window)
        for block, known in zip(self._decoder, memory.key_values, strict=True):
            x = block(x, partial(block.attention, bias=bias, causal=bias is None), known, memory.bias)
        return x

    def empty(self, batch: int, like: Tensor) -> list[Past]:
        """The past before the first place, for each layer of the decoder."""
        return [block.attention.empty(batch, self.window or 32, like, self.window) for block in self._decoder]

    def step(self, x: Tensor, past: list[Past], time: int, memory: LevelMemory) -> Tensor:
        """The last state for the one place `x`, (prefixes, 1, width), which is appended to `past`."""
        sources = len(memory.bias)
        for block, seen, known in zip(self._decoder, past, memory.key_values, strict=True):
            x = block(x, partial(block.attention.step, past=seen, time=time), known, memory.bias, sources)
        return x

    @property
    def _encoder(self) -> list[Block]:
        return list(self.encoder)  # type: ignore[arg-type]

    @property
    def _decoder(self) -> list[Block]:
        return list(self.decoder)  # type: ignore[arg-type]


class Block(nn.Module):
    """Self-attention, attention to the encoder (only in decoders), and a feed-forward layer."""

    def __init__(self, config: DNPGConfig, *, crosses: bool) -> None:
        super().__init__()
        width, heads, dropout = config.width, config.heads, config.attention_dropout
        self.attention, self.feed_forward = Attention(width, heads, dropout), FeedForward(width, config.inner)
        self.attention_residual, self.feed_forward_residual = (
            Residual(width, "post", config.dropout) for _ in range(2)
        )
        if crosses:
            self.cross, self.cross_residual = Attention(width, heads, dropout), Residual(width, "post", config.dropout)

    def project_memory(self, encoded: Tensor) -> KeyValues:
        """The keys and values of the encoder's states."""
        return self.cross.project_memory(encoded)

    def forward(
        self,
        x: Tensor,
        attend: Callable[[Tensor], Tensor],
        memory: KeyValues | None = None,
        bias: Tensor | None = None,
        sources: int | None = None,
    ) -> Tensor:
        """Map (rows, time, width) to the same shape.

        Args:
            attend: the self-attention function.
            memory: memory of the encoder; None in encoders.
            sources: number of rows of the memory, each shared by equally many consecutive rows of one place.
        """
        x = self.attention_residual(x, attend)
        if memory is not None:
            # The prefixes of a source become the time of attention to it.
            shared = x if sources in (None, len(x)) else x.view(sources, -1, x.shape[-1])
            x = self.cross_residual(shared, partial(self.cross, memory=memory, bias=bias)).view_as(x)
        return self.feed_forward_residual(x, self.feed_forward)


def _apart(time: int, device: torch.device) -> Tensor:
    """(time, time) differences i - j."""
    places = torch.arange(time, device=device)
    return places[:, None] - places


def _initialise(module: nn.Module) -> None:
    """Initialise matrices by Xavier's normal rule and biases with 0."""
    if isinstance(module, nn.Linear):
        nn.init.xavier_normal_(module.weight)
        nn.init.zeros_(module.bias)
