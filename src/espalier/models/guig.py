"""GuiG (Li et al. 2020): a Transformer decoder that attends to several encoders, with path attention over trees.

The text generator (section 3.2), the syntax expander (section 3.1), the ablations of tables 1 and 2, and the
Transformer baseline share one architecture, whose blocks are figures 2 and 3. They differ in the rows and attention of
the encoders, and in the output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor, nn

from espalier.datasets.pairs.data import PairBatch, PairData, PathBatch, modality_of
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.vocabulary import PAD
from espalier.layers.attention import Attention, padding_bias
from espalier.layers.dropout import dropout
from espalier.layers.embeddings import PieceEmbedding, TreeSymbolEmbedding
from espalier.layers.multi_encoder import Memory, MultiEncoderAttention
from espalier.layers.path_attention import PathAttention
from espalier.layers.paths import Paths
from espalier.layers.positions import sinusoids
from espalier.layers.residual import FeedForward, Residual
from espalier.layers.shared_memory import Past, memory_rows, select_pasts
from espalier.models.contract import Loss, scattered
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
    """A batch of prefixes of length `time`. A memory has one row per source, shared by its prefixes."""

    time: int
    memories: list[list[Memory]]
    past: list[Past]

    def select(self, index: Tensor) -> GuiGState:
        """The rows `index`, in that order."""
        memories = self.memories
        owners = memory_rows(index, len(self.past[0]), len(memories[0][0].key_values.keys))
        if owners is not None:
            memories = [[memory.select(owners) for memory in layer] for layer in memories]
        return GuiGState(self.time, memories, select_pasts(self.past, index, self.time))


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
        self.apply(_initialise)

    # --- The contract ------------------------------------------------------------------------------------------------

    def forward(self, batch: PairBatch, smoothing: float = 0.0) -> Loss:
        """loss_txt of section 3.2, or loss_syn of section 3.1, summed over the batch's targets."""
        real = batch.real
        x = self.final_norm(batch.unpadded(self._hidden(batch)))  # only rows that have a target
        return Loss(self.output_embedding.loss(x, batch.unpadded(batch.target), smoothing), real.sum())

    def token_losses(self, batch: PairBatch) -> Tensor:
        """(batch, time) nats of each target (for trees the sum for node and level), 0 at padding."""
        real = batch.real
        scores = self.output_embedding.log_probabilities(self.final_norm(batch.unpadded(self._hidden(batch))))
        losses = -scores.gather(1, batch.unpadded(batch.target)[:, None])[:, 0]
        return scattered(losses, real)

    def start(self, batch: PairBatch) -> GuiGState:
        """The state before the first token: the encoders' outputs, and their keys and values for the decoder."""
        past = [block.attention.empty(len(batch), 32, self.positions) for block in self._blocks]
        return GuiGState(0, self._memories(batch), past)

    def step(self, tokens: Tensor, state: GuiGState) -> tuple[Tensor, GuiGState]:
        """Read `tokens`, (batch,); return log-probabilities of the next, (batch, pieces or symbols)."""
        if state.time >= self.config.positions:
            raise ValueError(f"a row longer than the {self.config.positions} positions of this model")
        x = self.output_embedding(tokens[:, None]) + self.positions[state.time]
        for block, past, memories in zip(self._blocks, state.past, state.memories, strict=True):
            x = block.step(x, past, state.time, memories)
        scores = self.output_embedding.log_probabilities(self.final_norm(x[:, 0]), self.config.sharpness)
        return scores, replace(state, time=state.time + 1)

    # --- Its parts ---------------------------------------------------------------------------------------------------

    @property
    def output_embedding(self) -> PieceEmbedding | TreeSymbolEmbedding:
        """The output embedding, whose matrices also score the output."""
        return self.embeddings[self.config.writes]  # type: ignore[return-value]

    @property
    def _blocks(self) -> list[DecoderBlock]:
        return list(self.decoder)  # type: ignore[arg-type]

    def _hidden(self, batch: PairBatch) -> Tensor:
        """The decoder's states, (batch, time, width)."""
        x = self._with_positions(self.output_embedding(batch.inputs), None)
        for block, memories in zip(self._blocks, self._memories(batch), strict=True):
            x = block(x, memories)
        return x

    def _memories(self, batch: PairBatch) -> list[list[Memory]]:
        """The memories of each decoder block, one per encoder."""
        encoded, biases = [], []
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
        return [block.encoders.project_memory(encoded, biases) for block in self._blocks]

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


def _initialise(module: nn.Module) -> None:
    """Initialise matrices by Xavier's normal rule (released) and biases with 0."""
    if isinstance(module, nn.Linear):
        nn.init.xavier_normal_(module.weight)
        nn.init.zeros_(module.bias)
