"""C-DNPG (Gu et al. 2022): a Transformer whose attention depends on a continuous granularity of each token.

A granularity head in each layer estimates whether a token belongs to the sentence's template or to its details; two
masks computed from it, resonance and scope, multiply the weights of self-attention (`layers.granularity`). Without a
mask the model is the Transformer baseline, which may copy from the source. For copying the paper cites CopyNet (Gu et
al. 2016), a recurrent model, and the released code has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from espalier.datasets.pairs.data import PairBatch, PairData
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.vocabulary import PAD
from espalier.layers.attention import padding_bias
from espalier.layers.copy import Pointer, copied_mass, mix, smoothed_sum
from espalier.layers.dropout import dropout
from espalier.layers.initial import initialise
from espalier.layers.linear import linear
from espalier.layers.readout import readout_loss, target_scores
from espalier.layers.recurrent import AttentionMemory
from espalier.layers.shared_memory import memory_rows
from espalier.models.cdnpg_blocks import EPSILON, DecoderBlock, EncoderBlock, LayerPast, Memory, select_layers
from espalier.models.cdnpg_config import CDNPGConfig
from espalier.models.contract import Loss, scattered


@dataclass
class CDNPGState:
    """A batch of prefixes of length `time`. A memory has one row per source, shared by consecutive prefixes.

    Attributes:
        memories: memory of each decoder layer.
        past: past of each decoder layer.
        copied: the source, for the pointer; None for a model that does not copy.
    """

    time: int
    memories: list[Memory]
    past: list[LayerPast]
    copied: AttentionMemory | None

    def select(self, index: Tensor) -> CDNPGState:
        """The rows `index`, in that order."""
        memories, copied = self.memories, self.copied
        owners = memory_rows(index, len(self.past[0].past), len(memories[0].key_values))
        if owners is not None:
            memories = [memory.select(owners) for memory in memories]
            copied = None if copied is None else copied.select(owners)
        return CDNPGState(self.time, memories, select_layers(self.past, index, self.time), copied)


class Granularities(NamedTuple):
    """z by layer, from 1; layers without a granularity head are left out.

    Attributes:
        encoder: (batch, source pieces) each.
        decoder: (batch, time) each, for the decoder's inputs: BOS, then the target.
    """

    encoder: dict[int, Tensor]
    decoder: dict[int, Tensor]


class CDNPG(nn.Module):
    """The model over the chain contract. It reads and writes word pieces."""

    def __init__(self, config: CDNPGConfig, vocabulary: PairVocabulary) -> None:
        super().__init__()
        self.config, self.vocabulary = config, vocabulary
        table = partial(nn.Embedding, vocabulary.text_size, config.width, padding_idx=PAD)
        self.source_pieces = None if config.shared_embeddings else table()
        self.source_positions = Positions(config)
        # Also the output matrix.
        self.target_pieces = table()
        self.target_positions = Positions(config)
        self.encoder = nn.ModuleList([EncoderBlock(config, n + 1) for n in range(config.encoder_layers)])
        self.decoder = nn.ModuleList([DecoderBlock(config, n + 1) for n in range(config.layers)])
        self.head = nn.Sequential(*_released_head(config.width) if config.head == "released" else ())
        self.readout_bias = nn.Parameter(torch.zeros(vocabulary.text_size))
        self.pointer = Pointer(config.width) if config.copying else None
        self.apply(lambda module: initialise(module, config.initial))

    # --- The contract ------------------------------------------------------------------------------------------------

    def forward(self, batch: PairBatch, smoothing: float = 0.0) -> Loss:
        """Summed negative log-likelihood of the targets.

        Label smoothing applies only to the vocabulary distribution, not to the copy distribution.
        """
        real = batch.real
        if self.pointer is None:
            features, weight = self.head(batch.unpadded(self._hidden(batch)[0])), self.target_pieces.weight
            total = readout_loss(features, weight, self.readout_bias, batch.unpadded(batch.target), smoothing)
        else:
            losses, even = self._copy_losses(batch, self.pointer)
            total = smoothed_sum(losses, even, smoothing)
        return Loss(total, real.sum())

    def token_losses(self, batch: PairBatch) -> Tensor:
        """(batch, time) nats of each target, 0 at padding."""
        real = batch.real
        if self.pointer is None:
            scores = self._logits(batch.unpadded(self._hidden(batch)[0])).log_softmax(-1)
            losses = -scores.gather(1, batch.unpadded(batch.target)[:, None])[:, 0]
        else:
            losses = self._copy_losses(batch, self.pointer)[0]
        return scattered(losses, real)

    def start(self, batch: PairBatch) -> CDNPGState:
        """The state before the first token: the encoder's output, and its keys and values for the decoder."""
        memories, copied, _ = self._read(batch)
        like = self.readout_bias
        past = [
            LayerPast(block.attention.attention.empty(len(batch), 32, like), like.new_empty(len(batch), 0))
            for block in self._decoder
        ]
        return CDNPGState(0, memories, past, copied)

    def step(self, tokens: Tensor, state: CDNPGState) -> tuple[Tensor, CDNPGState]:
        """Read `tokens`, (batch,); return log-probabilities of the next, (batch, pieces)."""
        if state.time >= self.config.positions:
            raise ValueError(f"a row longer than the {self.config.positions} positions of this model")
        embedded = self._embedded_target(tokens[:, None], state.time)
        x = embedded
        for block, past, memory in zip(self._decoder, state.past, state.memories, strict=True):
            x = block.step(x, past, state.time, memory)
        scores = self._logits(x[:, 0]).log_softmax(-1)
        if self.pointer is not None and state.copied is not None:
            scores = self.pointer.step(scores, x, embedded, state.copied)
        return scores, CDNPGState(state.time + 1, state.memories, state.past, state.copied)

    # --- Its granularity ---------------------------------------------------------------------------------------------

    def granularities(self, batch: PairBatch) -> Granularities:
        """The granularity of each token in each layer (figure 2). Values at padding are meaningless."""
        memories, _, encoded = self._read(batch)
        decoded = self._decoded(batch, memories)
        return Granularities(_levels(self._encoder, encoded), _levels(self._decoder, decoded))

    # --- Its parts ---------------------------------------------------------------------------------------------------

    @property
    def _encoder(self) -> list[EncoderBlock]:
        return list(self.encoder)  # type: ignore[arg-type]

    @property
    def _decoder(self) -> list[DecoderBlock]:
        return list(self.decoder)  # type: ignore[arg-type]

    def _read(self, batch: PairBatch) -> tuple[list[Memory], AttentionMemory | None, list[Tensor]]:
        """The memory of each decoder layer, the memory of the pointer, and the encoder's H^0 ... H^L."""
        ids = batch.source if batch.source.shape[1] else F.pad(batch.source, (0, 1))
        real = ids != PAD
        bias, length = padding_bias(real), real.sum(1, keepdim=True)
        if self.config.scope_length == "padded":
            length = torch.full_like(length, self.config.padded_length)
        table = self.target_pieces if self.source_pieces is None else self.source_pieces
        embedded = self.source_positions(table(ids))
        states = [*accumulate(self._encoder, lambda x, block: block(x, length, bias), initial=embedded)]
        memories = [block.memory(states[-1], bias) for block in self._decoder]
        copied = self.pointer.attention.project_memory(states[-1], ids, real) if self.pointer else None
        return memories, copied, states

    def _embedded_target(self, row: Tensor, start: int = 0) -> Tensor:
        """Embed (batch, time) ids, whose first position is `start`, as (batch, time, width)."""
        return self.target_positions(self.target_pieces(row), start)

    def _decoded(self, batch: PairBatch, memories: list[Memory]) -> list[Tensor]:
        """H^0 ... H^L of the decoder, (batch, time, width) each."""
        length = torch.arange(1, batch.inputs.shape[1] + 1, device=batch.device)
        if self.config.scope_length == "padded":
            length = torch.full_like(length, self.config.padded_length - 1)
        states = [self._embedded_target(batch.inputs)]
        for block, memory in zip(self._decoder, memories, strict=True):
            states.append(block(states[-1], length, memory))
        return states

    def _hidden(self, batch: PairBatch) -> tuple[Tensor, Tensor, AttentionMemory | None]:
        """The decoder's last states and its embedded inputs, and the pointer's memory."""
        memories, copied, _ = self._read(batch)
        states = self._decoded(batch, memories)
        return states[-1], states[0], copied

    def _copy_losses(self, batch: PairBatch, pointer: Pointer) -> tuple[Tensor, Tensor]:
        """(targets,) nats of each non-padding target, and the mean nats of the vocabulary at its place."""
        hidden, embedded, copied = self._hidden(batch)
        assert copied is not None
        weights, gates = pointer(hidden, embedded, copied)
        copies = batch.unpadded(copied_mass(weights, copied.ids, batch.target))
        features = self.head(batch.unpadded(hidden))
        scores = target_scores(features, self.target_pieces.weight, self.readout_bias, batch.unpadded(batch.target))
        return -mix(scores.chosen, [copies], batch.unpadded(gates)), -scores.mean

    def _logits(self, x: Tensor) -> Tensor:
        """(..., pieces) logits in float32."""
        return linear(self.head(x), self.target_pieces.weight, self.readout_bias).float()


class Positions(nn.Module):
    """Learned positions added to embeddings, followed by layer norm and dropout (BERT, Devlin et al. 2019)."""

    def __init__(self, config: CDNPGConfig) -> None:
        super().__init__()
        self.table = nn.Embedding(config.positions, config.width)
        self.norm = nn.LayerNorm(config.width, eps=EPSILON)
        self.dropout = config.dropout

    def forward(self, embedded: Tensor, start: int = 0) -> Tensor:
        """Map (batch, time, width), whose first position is `start`, to the same shape."""
        last = self.table.num_embeddings - 1
        places = torch.arange(start, start + embedded.shape[1], device=embedded.device)
        # Training batches are padded to a multiple of GRAIN, and padding needs no positions.
        if embedded.shape[1] > -(-(last + 1) // PairData.GRAIN) * PairData.GRAIN:
            raise ValueError(f"a row of {embedded.shape[1]} ids for {last + 1} positions")
        x: Tensor = self.norm(embedded + self.table(places.clamp(max=last)))
        return dropout(x, self.dropout, self.training)


def _released_head(width: int) -> tuple[nn.Module, ...]:
    """The prediction head of BERT, as in the released code."""
    return nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width, eps=EPSILON)


def _levels(blocks: Sequence[EncoderBlock | DecoderBlock], states: Sequence[Tensor]) -> dict[int, Tensor]:
    """z of each layer with a granularity head, computed from the layer's input H^(l-1)."""
    heads = [block.attention.granularity for block in blocks]
    return {
        layer: head(x)
        for layer, (head, x) in enumerate(zip(heads, states[:-1], strict=True), start=1)
        if head is not None
    }
