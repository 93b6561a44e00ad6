"""SongNet (Li et al., ACL 2020): a causal Transformer that also attends to the symbols of the whole format.

Equation numbers are the paper's. `SongNetConfig` sets the ablations of its table 4 and the deviations of the released
code. Without symbols and global attention the model is a GPT-like decoder (GPT2); with a GRU in place of masked
self-attention it is SongNet-GRU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from espalier.datasets.verse.data import VerseBatch, VerseData
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import PAD
from espalier.layers.attention import Attention, padding_bias
from espalier.layers.dropout import dropout
from espalier.layers.initial import initialise
from espalier.layers.linear import linear
from espalier.layers.readout import readout_loss
from espalier.layers.recurrent import Hidden, RecurrentLayer
from espalier.layers.residual import FeedForward, Residual
from espalier.layers.shared_memory import KeyValues, Past, memory_rows, select_all, select_pasts
from espalier.models.contract import Loss, scattered
from espalier.models.learned_positions import learned_positions
from espalier.models.songnet_config import SongNetConfig


class SongNetLayer(nn.Module):
    """Masked self-attention (equation 8) or a GRU, followed by global attention over F0 (equation 9)."""

    def __init__(self, config: SongNetConfig) -> None:
        super().__init__()

        def residual() -> Residual:
            return Residual(config.width, config.norm, config.dropout, config.epsilon)

        def feed_forward() -> FeedForward:
            return FeedForward(config.width, config.inner, config.activation)

        self.attention: Attention | RecurrentLayer = (
            RecurrentLayer(config.width)
            if config.core == "gru"
            else Attention(config.width, config.heads, config.attention_dropout)
        )
        self.attention_residual = residual()
        self.global_attention = (
            Attention(config.width, config.heads, config.attention_dropout) if config.global_attention else None
        )
        self.global_residual = residual() if config.global_attention else None
        # Equation 8 has its own FFN. The released code, and a layer without global attention, has only the last FFN.
        has_first = config.block == "text" and config.global_attention
        self.first_feed_forward = feed_forward() if has_first else None
        self.first_feed_forward_residual = residual() if has_first else None
        self.feed_forward, self.feed_forward_residual = feed_forward(), residual()

    def forward(self, x: Tensor, memory: Tensor | KeyValues | None, memory_bias: Tensor | None) -> Tensor:
        """Map (batch, time, width) to the same shape."""
        x = self.attention_residual(x, partial(self.attention, causal=True))
        return self._after_attention(x, memory, memory_bias)

    def step(self, x: Tensor, past: Any, time: int, memory: KeyValues | None, memory_bias: Tensor | None) -> Tensor:
        """Like `forward` for the one place at `time`, (batch, 1, width).

        Args:
            past: result of `self.attention.empty`.
            memory: one row per frame, shared by equally many consecutive rows of the batch.
        """
        x = self.attention_residual(x, partial(self.attention.step, past=past, time=time))
        if memory is None:
            return self._after_attention(x, None, None)
        # The prefixes of a frame become the time dimension.
        return self._after_attention(x.view(len(memory.keys), -1, x.shape[2]), memory, memory_bias).view_as(x)

    def _after_attention(self, x: Tensor, memory: Tensor | KeyValues | None, memory_bias: Tensor | None) -> Tensor:
        if self.first_feed_forward is not None and self.first_feed_forward_residual is not None:
            x = self.first_feed_forward_residual(x, self.first_feed_forward)
        if self.global_attention is not None and self.global_residual is not None:
            x = self.global_residual(x, partial(self.global_attention, memory=memory, bias=memory_bias))
        return self.feed_forward_residual(x, self.feed_forward)


@dataclass
class SongNetState:
    """A batch of prefixes of length `time`.

    `symbols`, `last`, `memory` and `memory_bias` have one row for each frame, shared by its prefixes.
    """

    time: int
    symbols: Tensor  # (frames, frame length, width): F0 without the title
    last: Tensor  # (frames,) index of each frame's end mark
    memory: list[KeyValues]
    memory_bias: Tensor | None
    past: Sequence[Past | Hidden]  # `Hidden` for a GRU

    def select(self, index: Tensor) -> SongNetState:
        """The rows `index`, in that order."""
        symbols, last, memory, bias = self.symbols, self.last, self.memory, self.memory_bias
        owners = memory_rows(index, len(self.past[0]), len(last))
        if owners is not None:
            symbols, last = symbols.index_select(0, owners), last.index_select(0, owners)
            memory, bias = select_all(memory, owners), bias.index_select(0, owners) if bias is not None else None
        hidden = [each.select(index) for each in self.past if isinstance(each, Hidden)]
        past = hidden or select_pasts([each for each in self.past if isinstance(each, Past)], index, self.time)
        return SongNetState(self.time, symbols, last, memory, bias, past)


class SongNet(nn.Module):
    """The language model of equations 3-10, over the chain contract."""

    vocabulary_rows: ClassVar[tuple[str, ...]] = ("table.weight", "head.weight", "head.bias", "head_bias")

    def __init__(self, config: SongNetConfig, vocabulary: VerseVocabulary) -> None:
        super().__init__()
        self.config, self.vocabulary = config, vocabulary
        self.one_mark: Tensor
        width, text = config.width, vocabulary.text_size
        self.table = nn.Embedding(vocabulary.size, width, padding_idx=PAD)  # words, C, P and S: E_w, E_c, E_p, E_s
        self.positions = nn.Embedding(config.positions, width)  # E_g
        normed = config.embedding_norm
        self.embedding_norm = nn.LayerNorm(width, eps=config.epsilon) if normed else nn.Identity()
        self.layers = nn.ModuleList([SongNetLayer(config) for _ in range(config.layers)])
        self.final_norm = nn.LayerNorm(width, eps=config.epsilon) if config.norm == "pre" else nn.Identity()
        self.transform = (
            nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width, eps=config.epsilon))
            if config.head == "released"
            else nn.Identity()
        )
        self.head = nn.Linear(width, text) if config.head != "tied" else None
        self.head_bias = nn.Parameter(torch.zeros(text if config.head == "tied" else 0))
        one_mark = torch.arange(vocabulary.size)
        if config.marks == "one":
            one_mark[torch.from_numpy(vocabulary.mark_ids)] = vocabulary.c_mark
        self.register_buffer("one_mark", one_mark, persistent=False)
        self.apply(lambda module: initialise(module, config.initial))

    def forward(self, batch: VerseBatch, smoothing: float = 0.0) -> Loss:
        """Equation 10, summed over the batch's targets, with label smoothing."""
        real = batch.real
        x = self._prepared(batch.unpadded(self._hidden(batch)))  # only rows that have a target
        form = self.config.smoothing_form
        return Loss(readout_loss(x, *self._output(), batch.unpadded(batch.target), smoothing, form=form), real.sum())

    def token_losses(self, batch: VerseBatch) -> Tensor:
        """(batch, time) nats of each target, 0 at padding."""
        real = batch.real
        logits = self._logits(batch.unpadded(self._hidden(batch)))
        losses = F.cross_entropy(logits.float(), batch.unpadded(batch.target), reduction="none")
        return scattered(losses, real)

    def start(self, batch: VerseBatch) -> SongNetState:
        """The state before the first token, with F0 and its keys and values."""
        symbols = self._symbols(batch)
        memory, bias = self._memory(batch, symbols)
        layers: list[SongNetLayer] = list(self.layers)  # type: ignore[arg-type]
        known = [
            layer.global_attention.project_memory(memory)
            for layer in layers
            if layer.global_attention is not None and memory is not None
        ]
        past = [layer.attention.empty(len(batch), 32, symbols) for layer in layers]  # grows with the text
        return SongNetState(0, symbols, (batch.c != PAD).sum(1) - 1, known, bias, past)

    def step(self, tokens: Tensor, state: SongNetState) -> tuple[Tensor, SongNetState]:
        """Read `tokens`, (batch,); return log-probabilities over the text ids, (batch, text size)."""
        if state.time >= self.config.positions:
            raise ValueError(f"a text longer than the {self.config.positions} positions of this model")
        x = self.table(tokens) + self.positions.weight[state.time]
        if self.config.symbols:
            # A text longer than its frame repeats the symbols of the frame's end mark.
            place = state.last.clamp(max=state.time)
            symbols = state.symbols[torch.arange(len(place), device=tokens.device), place]
            x = (x.view(len(place), -1, x.shape[1]) + symbols[:, None]).view_as(x)
        x = self.embedding_norm(x)[:, None]
        for index, layer in enumerate(self.layers):
            memory = state.memory[index] if state.memory else None
            x = layer.step(x, state.past[index], state.time, memory, state.memory_bias)  # type: ignore[operator]
        logits = self._logits(x[:, 0])
        return F.log_softmax(logits.float(), dim=-1), replace(state, time=state.time + 1)

    def _hidden(self, batch: VerseBatch) -> Tensor:
        """H^L, (batch, time, width)."""
        symbols = self._symbols(batch)
        memory, bias = self._memory(batch, symbols)
        positions = learned_positions(self.positions.weight, batch.inputs.shape[1], VerseData.GRAIN - 1)
        x = self.table(batch.inputs) + symbols + positions  # equation 6
        x = self._drop(self.embedding_norm(x))
        for layer in self.layers:
            x = layer(x, memory, bias)
        return x

    def _symbols(self, batch: VerseBatch) -> Tensor:
        """E_c + E_p + E_s, (batch, time, width): equation 7, and part of equation 6."""
        rows = [self.one_mark[batch.c] if name == "c" else getattr(batch, name) for name in self.config.symbols]
        if not rows:
            return self.table.weight.new_zeros(*batch.c.shape, self.config.width)
        return self.table(torch.stack(rows)).sum(0)

    def _memory(self, batch: VerseBatch, symbols: Tensor) -> tuple[Tensor | None, Tensor | None]:
        """F0 (equation 7), preceded by the title if the model reads one, and the bias that hides padding."""
        if not self.config.global_attention:
            return None, None
        memory, real = symbols, batch.c != PAD
        if self.config.title and batch.title.shape[1]:
            memory = torch.cat([self._title(batch.title), memory], dim=1)
            real = torch.cat([batch.title != PAD, real], dim=1)
        return self._drop(self.embedding_norm(memory)), padding_bias(real)

    def _title(self, title: Tensor) -> Tensor:
        """The tune's name as a unit: the sum of its word embeddings, a segment symbol, and descending positions."""
        voc = self.vocabulary
        real = title != PAD
        place = (real.sum(1, keepdim=True) - 1 - torch.arange(title.shape[1], device=title.device)).clamp(min=0)
        return self.table(title) + self.table.weight[voc.s_title] + self.table(voc.position(0) + place)

    def _logits(self, x: Tensor) -> Tensor:
        return linear(self._prepared(x), *self._output())

    def _prepared(self, x: Tensor) -> Tensor:
        """The input of the output matrix: the prepared hidden states."""
        return self.transform(self.final_norm(x))

    def _output(self) -> tuple[Tensor, Tensor]:
        """The output matrix, (text size, width), and its bias."""
        if self.head is not None:
            return self.head.weight, self.head.bias
        return self.table.weight[: self.vocabulary.text_size], self.head_bias

    def _drop(self, x: Tensor) -> Tensor:
        return dropout(x, self.config.dropout, self.training)
