"""GuiG (Li et al. 2020): a Transformer decoder that attends to several encoders, with path attention over trees.

The text generator (section 3.2), the syntax expander (section 3.1), the ablations of tables 1 and 2, and the
Transformer baseline share one architecture, whose blocks are figures 2 and 3. They differ in the rows and attention of
the encoders, and in the output. Copying from the source is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from espalier.datasets.pairs.data import PairBatch, PairData, PathBatch, modality_of
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.vocabulary import PAD
from espalier.layers.attention import Attention, padding_bias
from espalier.layers.copy import Pointer, copied_mass, mix, smoothed_sum
from espalier.layers.dropout import dropout
from espalier.layers.embeddings import PieceEmbedding, TreeSymbolEmbedding
from espalier.layers.multi_encoder import Memory, MultiEncoderAttention
from espalier.layers.path_attention import PathAttention
from espalier.layers.paths import Paths
from espalier.layers.positions import sinusoids
from espalier.layers.recurrent import AttentionMemory
from espalier.layers.residual import FeedForward, Residual
from espalier.layers.shared_memory import Past, memory_rows, select_pasts
from espalier.models.contract import Loss, scattered
from espalier.models.guig_config import COPIED, EncoderConfig, GuiGConfig


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
        return self.final_norm(x)


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

    def step(self, x: Tensor, past: Past, time: int, memories: Sequence[Memory]) -> Tensor:
        """Like `forward` for the one place at `time`, (batch, 1, width)."""
        residual = self.attention_residual
        x = residual(x, partial(self.attention.step, past=past, time=time, memory=residual.memory(x)))
        return self._after_attention(x, memories)

    def _after_attention(self, x: Tensor, memories: Sequence[Memory]) -> Tensor:
        x = self.encoders_residual(x, partial(self.encoders, memories=memories))
        return self.feed_forward_residual(x, self.feed_forward)


@dataclass
class GuiGState:
    """A batch of prefixes of length `time`. A memory has one row per source, shared by its prefixes.

    Attributes:
        copied: the source, for the pointer; None for a model that does not copy.
    """

    time: int
    memories: list[list[Memory]]
    past: list[Past]
    copied: AttentionMemory | None

    def select(self, index: Tensor) -> GuiGState:
        """The rows `index`, in that order."""
        memories, copied = self.memories, self.copied
        owners = memory_rows(index, len(self.past[0]), len(memories[0][0].key_values.keys))
        if owners is not None:
            memories = [[memory.select(owners) for memory in layer] for layer in memories]
            copied = None if copied is None else copied.select(owners)
        return GuiGState(self.time, memories, select_pasts(self.past, index, self.time), copied)


class GuiG(nn.Module):
    """The model over the chain contract. It writes word pieces or `TreeSymbols`."""

    def __init__(self, config: GuiGConfig, vocabulary: PairVocabulary) -> None:
        super().__init__()
        self.config, self.vocabulary = config, vocabulary
        modalities = {config.writes, *(modality_of(row) for encoder in config.encoders for row in encoder.reads)}
        self.embeddings = nn.ModuleDict()
        if "text" in modalities:
            self.embeddings["text"] = PieceEmbedding(vocabulary.text_size, config.width)
        if "tree" in modalities:
            self.embeddings["tree"] = TreeSymbolEmbedding(vocabulary.trees, config.width, config.alpha, config.beta)
        self.encoders = nn.ModuleList([Encoder(config, encoder) for encoder in config.encoders])
        self.decoder = nn.ModuleList([DecoderBlock(config) for _ in range(config.layers)])
        self.final_norm = nn.LayerNorm(config.width) if config.norm == "pre" else nn.Identity()
        # Concatenated rows are numbered as one row, and training batches are padded to a multiple of GRAIN.
        padded = -(-config.positions // PairData.GRAIN) * PairData.GRAIN
        places = padded * max(len(encoder.reads) for encoder in config.encoders)
        self.positions: Tensor
        self.register_buffer("positions", sinusoids(places, config.width), persistent=False)
        self.pointer = Pointer(config.width) if config.copying else None
        self.apply(_initialise)

    # --- The contract ------------------------------------------------------------------------------------------------

    def forward(self, batch: PairBatch, smoothing: float = 0.0) -> Loss:
        """loss_txt of section 3.2, or loss_syn of section 3.1, summed over the batch's targets.

        Label smoothing applies only to the vocabulary distribution, not to the copy distribution.
        """
        hidden = self._hidden(batch)
        if self.pointer is None:
            x = self.final_norm(batch.unpadded(hidden.states))  # only rows that have a target
            total = self.output_embedding.loss(x, batch.unpadded(batch.target), smoothing)
        else:
            total = smoothed_sum(*self._copy_losses(batch, hidden, self.pointer), smoothing)
        return Loss(total, batch.real.sum())

    def token_losses(self, batch: PairBatch) -> Tensor:
        """(batch, time) nats of each target (for trees the sum for node and level), 0 at padding."""
        hidden = self._hidden(batch)
        if self.pointer is None:
            scores = self.output_embedding.log_probabilities(self.final_norm(batch.unpadded(hidden.states)))
            losses = -scores.gather(1, batch.unpadded(batch.target)[:, None])[:, 0]
        else:
            losses = self._copy_losses(batch, hidden, self.pointer)[0]
        return scattered(losses, batch.real)

    def start(self, batch: PairBatch) -> GuiGState:
        """The state before the first token: the encoders' outputs, and their keys and values for the decoder."""
        past = [block.attention.empty(len(batch), 32, self.positions) for block in self._blocks]
        memories, copied = self._memories(batch)
        return GuiGState(0, memories, past, copied)

    def step(self, tokens: Tensor, state: GuiGState) -> tuple[Tensor, GuiGState]:
        """Read `tokens`, (batch,); return log-probabilities of the next, (batch, pieces or symbols)."""
        if state.time >= self.config.positions:
            raise ValueError(f"a row longer than the {self.config.positions} positions of this model")
        x = embedded = self.output_embedding(tokens[:, None]) + self.positions[state.time]
        for block, past, memories in zip(self._blocks, state.past, state.memories, strict=True):
            x = block.step(x, past, state.time, memories)
        x = self.final_norm(x)
        scores = self.output_embedding.log_probabilities(x[:, 0], self.config.sharpness)
        if self.pointer is not None and state.copied is not None:
            scores = self.pointer.step(scores, x, embedded, state.copied)
        return scores, replace(state, time=state.time + 1)

    # --- Its parts ---------------------------------------------------------------------------------------------------

    @property
    def output_embedding(self) -> PieceEmbedding | TreeSymbolEmbedding:
        """The output embedding, whose matrices also score the output."""
        return self.embeddings[self.config.writes]  # type: ignore[return-value]

    @property
    def _blocks(self) -> list[DecoderBlock]:
        return list(self.decoder)  # type: ignore[arg-type]

    def _hidden(self, batch: PairBatch) -> _Hidden:
        """The decoder's states, its inputs, and the pointer's memory."""
        x = embedded = self._with_positions(self.output_embedding(batch.inputs), None)
        memories, copied = self._memories(batch)
        for block, layer in zip(self._blocks, memories, strict=True):
            x = block(x, layer)
        return _Hidden(x, embedded, copied)

    def _copy_losses(self, batch: PairBatch, hidden: _Hidden, pointer: Pointer) -> tuple[Tensor, Tensor]:
        """(targets,) nats of each non-padding target, and the mean nats of the vocabulary at its place."""
        assert hidden.copied is not None and isinstance(self.output_embedding, PieceEmbedding)  # by `GuiGConfig`
        x = self.final_norm(hidden.states)
        weights, gates = pointer(x, hidden.embedded, hidden.copied)
        copies = batch.unpadded(copied_mass(weights, hidden.copied.ids, batch.target))
        scores = self.output_embedding.target_scores(batch.unpadded(x), batch.unpadded(batch.target))
        return -mix(scores.chosen, [copies], batch.unpadded(gates)), -scores.mean

    def _memories(self, batch: PairBatch) -> tuple[list[list[Memory]], AttentionMemory | None]:
        """The memories of each decoder block, one per encoder, and that of the pointer."""
        encoded, biases, copied = [], [], None
        for config, encode in zip(self.config.encoders, self.encoders, strict=True):
            rows = [getattr(batch, name) for name in config.reads]
            real = torch.cat([row != PAD for row in rows], dim=1)
            embedded = [self.embeddings[modality_of(name)](row) for name, row in zip(config.reads, rows, strict=True)]
            bias = padding_bias(real)
            paths = None
            if config.attention == "path":
                assert isinstance(batch, PathBatch)  # by `GuiGConfig.view`
                paths = Paths(batch.paths[config.reads[0]], rows[0].shape[1])
            x = self._with_positions(torch.cat(embedded, dim=1), real if len(rows) > 1 else None)
            encoded.append(encode(x, bias, paths))
            biases.append(bias)
            if self.pointer is not None and config.reads == COPIED:
                copied = self.pointer.attention.project_memory(encoded[-1], rows[0], real)
        return [block.encoders.project_memory(encoded, biases) for block in self._blocks], copied

    def _with_positions(self, x: Tensor, real: Tensor | None) -> Tensor:
        """Add positions, and apply dropout.

        Args:
            real: (batch, time) bool for concatenated rows, in which padding has no positions; None for a single row.
        """
        if x.shape[1] > len(self.positions):
            raise ValueError(f"a row of {x.shape[1]} ids for {self.config.positions} positions")
        places = self.positions[: x.shape[1]] if real is None else self.positions[(real.cumsum(1) - 1).clamp(min=0)]
        x = x + places
        return dropout(x, self.config.dropout, self.training)


class _Hidden(NamedTuple):
    """Results of the decoder at all places of a batch.

    Attributes:
        states: (batch, time, width), before the last norm.
        embedded: (batch, time, width) inputs.
        copied: the source, for the pointer; None for a model that does not copy.
    """

    states: Tensor
    embedded: Tensor
    copied: AttentionMemory | None


def _initialise(module: nn.Module) -> None:
    """Initialise matrices by Xavier's normal rule (released) and biases with 0."""
    if isinstance(module, nn.Linear):
        nn.init.xavier_normal_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
