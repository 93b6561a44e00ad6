"""DNPG (Li et al. 2019), C-DNPG's strongest baseline: paraphrases at two levels of granularity.

A separator assigns each token of the source to the phrase level or to the sentence level. Each level has its own
encoder and decoder. At the phrase level, self-attention has a window, and the decoder can copy. At the sentence level,
attention has no window, and positions count only tokens of the level, so that a phrase takes no room in the template.
An aggregator mixes the distributions of the two decoders:

    P(y_t) = sum over m of P(m | y_<t, X) P_m(y_t | y_<t, X)

`docs/cdnpg.md` lists the choices that no paper specifies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from espalier.datasets.pairs.data import PairBatch, PairData
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.vocabulary import PAD
from espalier.layers.copy import CopyGate, add_copies, copied_mass, mix, smoothed_sum
from espalier.layers.dropout import dropout
from espalier.layers.embeddings import PieceEmbedding
from espalier.layers.positions import sinusoids, sinusoids_at
from espalier.layers.recurrent import AttentionMemory, BilinearAttention
from espalier.layers.shared_memory import Past, memory_rows, select_pasts
from espalier.models.cdnpg_config import DNPGConfig
from espalier.models.contract import Loss, scattered
from espalier.models.dnpg_levels import OTHER_LEVEL, PHRASE, SENTENCE, Aggregator, Level, LevelMemory, Separator


@dataclass
class DNPGState:
    """A batch of prefixes of length `time`. A memory has one row per source, shared by consecutive prefixes.

    Attributes:
        memories: memory of each level.
        past: past of each decoder layer of each level.
        copied: the source in the form of the pointer.
        aggregator: (2, 1, prefixes, width) state of the aggregator's LSTM.
    """

    time: int
    memories: list[LevelMemory]
    past: list[list[Past]]
    copied: AttentionMemory
    aggregator: Tensor

    def select(self, index: Tensor) -> Self:
        """The rows `index`, in that order."""
        memories, copied = self.memories, self.copied
        owners = memory_rows(index, self.aggregator.shape[2], len(copied.ids))
        if owners is not None:
            memories, copied = [memory.select(owners) for memory in memories], copied.select(owners)
        past = [select_pasts(layers, index, self.time) for layers in self.past]
        aggregator = self.aggregator.index_select(2, index)
        return replace(self, memories=memories, past=past, copied=copied, aggregator=aggregator)


class DNPG(nn.Module):
    """The model over the chain contract."""

    def __init__(self, config: DNPGConfig, vocabulary: PairVocabulary) -> None:
        super().__init__()
        self.config, self.vocabulary = config, vocabulary
        width = config.width
        # Embedding for both sides and both levels; it also scores the output.
        self.embedding = PieceEmbedding(vocabulary.text_size, width)
        self.separator = Separator(width, config.temperature)
        self.levels = nn.ModuleList([Level(config, config.window), Level(config, None)])
        self.aggregator = Aggregator(width)
        self.pointer = BilinearAttention(width, width)
        self.gate = CopyGate(3 * width)
        self.positions: Tensor
        # Training batches are padded to a multiple of GRAIN.
        places = -(-config.positions // PairData.GRAIN) * PairData.GRAIN
        self.register_buffer("positions", sinusoids(places, width), persistent=False)

    # --- The contract ------------------------------------------------------------------------------------------------

    def forward(self, batch: PairBatch, smoothing: float = 0.0) -> Loss:
        """Summed negative log-likelihood; in training plus lambda times the cross entropy of the levels of both sides.

        Label smoothing applies half to each of the two vocabulary distributions.
        """
        source = self._read(batch)
        written = self._write(batch, source)
        losses, even = self._losses(batch, written)
        total = smoothed_sum(losses, even, smoothing)
        if self.training and self.config.supervision:
            wanted = aligned_levels(source.copied.ids, batch.target)
            logits, levels = (batch.unpadded(part, "source") for part in (source.logits, wanted.source))
            separated = F.cross_entropy(logits, levels, reduction="sum")
            aggregated = F.nll_loss(batch.unpadded(written.levels), batch.unpadded(wanted.target), reduction="sum")
            total = total + self.config.supervision * (separated + aggregated)
        return Loss(total, batch.real.sum())

    def token_losses(self, batch: PairBatch) -> Tensor:
        """(batch, time) nats of each target, 0 at padding."""
        losses, _ = self._losses(batch, self._write(batch, self._read(batch)))
        return scattered(losses, batch.real)

    def start(self, batch: PairBatch) -> DNPGState:
        """The state before the first token, with the outputs of both encoders."""
        source = self._read(batch)
        past = [level.empty(len(batch), self.positions) for level in self._levels]
        aggregator = self.aggregator.start(len(batch), self.positions)
        return DNPGState(0, source.memories, past, source.copied, aggregator)

    def step(self, tokens: Tensor, state: DNPGState) -> tuple[Tensor, DNPGState]:
        """Read `tokens`, (batch,); return log-probabilities of the next, (batch, pieces)."""
        if state.time >= self.config.positions:
            raise ValueError(f"a row longer than the {self.config.positions} positions of this model")
        x = self.embedding(tokens[:, None]) + self.positions[state.time]
        tops = [
            level.step(x, past, state.time, memory)[:, 0]
            for level, past, memory in zip(self._levels, state.past, state.memories, strict=True)
        ]
        levels, aggregator = self.aggregator.step(tops, state.aggregator)
        sources = len(state.copied.ids)
        top, read, levels = (part.view(sources, -1, part.shape[-1]) for part in (tops[PHRASE], x[:, 0], levels))
        weights, gates = self._point(top, read, levels, state.copied)
        phrase, sentence = (self.embedding.log_probabilities(part).view(*weights.shape[:2], -1) for part in tops)
        of_sentence, of_phrase, of_copy = gates[:, :, None].unbind(-1)
        written = torch.logaddexp(of_sentence + sentence, of_phrase + phrase)
        scores = add_copies(written, of_copy.exp() * weights, state.copied.ids)
        return scores.flatten(0, 1), replace(state, time=state.time + 1, aggregator=aggregator)

    # --- Its levels --------------------------------------------------------------------------------------------------

    def granularities(self, batch: PairBatch) -> tuple[dict[int, Tensor], dict[int, Tensor]]:
        """The separator's probability of the phrase level, (batch, source pieces), as C-DNPG's z for one layer.

        Values at padding are meaningless. The written text has no z, since both decoders write every token.
        """
        return {1: self._read(batch).logits.softmax(-1)[..., PHRASE]}, {}

    # --- Its parts ---------------------------------------------------------------------------------------------------

    @property
    def _levels(self) -> list[Level]:
        return list(self.levels)  # type: ignore[arg-type]

    def _read(self, batch: PairBatch) -> _Source:
        ids = batch.source if batch.source.shape[1] else F.pad(batch.source, (0, 1))
        x, real = self.embedding(ids), ids != PAD
        logits, z = self.separator(self._drop(x), real)
        # In the template a token's position is the number of its level's tokens before it.
        template = sinusoids_at(z[..., SENTENCE].cumsum(1) - z[..., SENTENCE], self.config.width)
        states, memories = [], []
        for level, positions, own in zip(
            self._levels, (self._places(ids.shape[1]), template), z.unbind(-1), strict=True
        ):
            encoded, memory = level.encode(self._drop(x + positions), own, real)
            states.append(encoded)
            memories.append(memory)
        copied = self.pointer.project_memory(states[PHRASE], ids, real)
        copied = replace(copied, bias=copied.bias - OTHER_LEVEL * (1 - z[:, None, :, PHRASE]))
        return _Source(logits, memories, copied)

    def _write(self, batch: PairBatch, source: _Source) -> _Written:
        embedded = self.embedding(batch.inputs)
        x = self._drop(embedded + self._places(batch.inputs.shape[1]))
        tops = [level(x, memory) for level, memory in zip(self._levels, source.memories, strict=True)]
        levels = self.aggregator(tops)
        weights, gates = self._point(tops[PHRASE], x, levels, source.copied)
        return _Written(tops, levels, gates, copied_mass(weights, source.copied.ids, batch.target))

    def _point(self, top: Tensor, x: Tensor, levels: Tensor, memory: AttentionMemory) -> tuple[Tensor, Tensor]:
        """Copy weights and gates of the phrase level.

        Args:
            top, x: (sources, n, width) states and inputs of the phrase decoder.
            levels: (sources, n, 2) log-probabilities of the levels.
            memory: memory of the pointer.

        Returns:
            (sources, n, length) copy weights; (sources, n, 3) log-probabilities of writing at the sentence level, of
            writing at the phrase level, and of copying.
        """
        weights, context = self.pointer(top, memory)
        empty = memory.empty[:, None]
        gates = self.gate.log_probabilities(torch.cat([context, top, x], dim=-1), empty)
        return weights, torch.cat([levels[..., SENTENCE, None], levels[..., PHRASE, None] + gates], dim=-1)

    def _losses(self, batch: PairBatch, written: _Written) -> tuple[Tensor, Tensor]:
        """(targets,) nats of each non-padding target, and the mean nats of the vocabularies at its place."""
        target = batch.unpadded(batch.target)
        phrase, sentence = (self.embedding.target_scores(batch.unpadded(top), target) for top in written.tops)
        losses = -mix(
            sentence.chosen, [phrase.chosen.exp(), batch.unpadded(written.copied)], batch.unpadded(written.gates)
        )
        return losses, -(phrase.mean + sentence.mean) / 2

    def _places(self, time: int) -> Tensor:
        if time > len(self.positions):
            raise ValueError(f"a row of {time} ids for {self.config.positions} positions")
        return self.positions[:time]

    def _drop(self, x: Tensor) -> Tensor:
        return dropout(x, self.config.dropout, self.training)


@dataclass
class AlignedLevels:
    """Levels of the source, (batch, source pieces), and of the target, (batch, time), including padding."""

    source: Tensor
    target: Tensor


def aligned_levels(source: Tensor, target: Tensor) -> AlignedLevels:
    """Levels by alignment: pieces that the other side also has are at the phrase level, others at the sentence level.

    Args:
        source: (batch, source pieces) ids.
        target: (batch, time) ids; EOS, which no source has, is at the sentence level.
    """
    same = source[:, :, None] == target[:, None]
    return AlignedLevels(*(torch.where(same.any(dim), PHRASE, SENTENCE) for dim in (2, 1)))


@dataclass
class _Source:
    """A batch of sources: the separator's logits, (batch, time, 2), the memories of the levels, and the pointer's."""

    logits: Tensor
    memories: list[LevelMemory]
    copied: AttentionMemory


@dataclass
class _Written:
    """The decoder's results at all places of a batch.

    Attributes:
        tops: (batch, time, width) last states of the decoder of each level.
        levels: (batch, time, 2) log-probabilities of the levels.
        gates: (batch, time, 3) gates from `DNPG._point`.
        copied: (batch, time) the copy probability of each target.
    """

    tops: list[Tensor]
    levels: Tensor
    gates: Tensor
    copied: Tensor
