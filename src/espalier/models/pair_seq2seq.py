"""C-DNPG's recurrent baselines: the residual LSTM (Prakash et al. 2016) and the pointer-generator (See et al. 2017).

Both have a stacked encoder and a stacked decoder over word pieces. Without attention, the decoder has only the last
state of the encoder. With attention, the output is softmax(W tanh(W_c [h_t; a_t])), equations 5 and 6 of Luong et al.
(2015), where a_t is the context of the decoder's output h_t; the decoder itself reads only words (See et al., section
2.1), so all places of a row are computed at once.

With copying, P(w) = p_gen P_vocab(w) + (1 - p_gen) (attention to the places of w), equation 9, where p_gen = sigmoid(w
[a_t; h_t; x_t] + b), equation 8. Word pieces are copied; a piece that the vocabulary lacks cannot be copied. Coverage
follows equations 10 to 13.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from espalier.datasets.pairs.data import PairBatch
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.vocabulary import PAD
from espalier.layers.copy import CopyGate, copied_mass, mix, mix_all, smoothed_sum
from espalier.layers.dropout import dropout
from espalier.layers.embeddings import embedding
from espalier.layers.linear import linear
from espalier.layers.readout import Readout
from espalier.layers.recurrent import AttentionMemory, CoverageAttention, RecurrentStack
from espalier.layers.shared_memory import memory_rows
from espalier.models.cdnpg_config import PairSeq2SeqConfig
from espalier.models.contract import Loss, scattered


@dataclass
class PairSeq2SeqState:
    """A batch of prefixes. A memory has one row per source, shared by consecutive prefixes.

    Attributes:
        memory: None without attention.
        layers: (parts, layers, prefixes, width) state of the decoder.
        coverage: (prefixes, length) sum of the attention weights of each source place so far; None without coverage.
    """

    memory: AttentionMemory | None
    layers: Tensor
    coverage: Tensor | None

    def select(self, index: Tensor) -> PairSeq2SeqState:
        """The rows `index`, in that order."""
        memory, coverage = self.memory, self.coverage
        if memory is not None:
            owners = memory_rows(index, self.layers.shape[2], len(memory.ids))
            memory = memory if owners is None else memory.select(owners)
        if coverage is not None:
            coverage = coverage.index_select(0, index)
        return PairSeq2SeqState(memory, self.layers.index_select(2, index), coverage)


class PairSeq2Seq(nn.Module):
    """The model over the chain contract."""

    def __init__(self, config: PairSeq2SeqConfig, vocabulary: PairVocabulary) -> None:
        super().__init__()
        self.config, self.vocabulary = config, vocabulary
        width, pieces = config.width, vocabulary.text_size
        # On the scale of the states to which they are added; with a fifth of it, training starts much slower.
        self.embedding = embedding(pieces, config.word, std=0.5)
        stack = partial(
            RecurrentStack, config.cell, config.word, width, residual=config.residual, dropout=config.dropout
        )
        self.encoder = stack(config.encoder_layers, bidirectional=config.bidirectional)
        self.decoder = stack(config.layers)
        self.parts = 2 if config.cell == "lstm" else 1
        self.initial = nn.Linear(width, self.parts * config.layers * width)
        attention = CoverageAttention(width, width, width, coverage=config.coverage > 0)
        self.attention = attention if config.attention else None
        self.attended = nn.Linear(2 * width, width) if config.attention else None
        self.gate = CopyGate(2 * width + config.word) if config.copying else None
        self.readout = Readout(width, pieces)

    # --- The contract ------------------------------------------------------------------------------------------------

    def forward(self, batch: PairBatch, smoothing: float = 0.0) -> Loss:
        """Summed negative log-likelihood; in training plus lambda times the coverage loss, summed over targets.

        Label smoothing applies only to the vocabulary distribution, not to the copy distribution.
        """
        decoded, real = self._decode(batch), batch.real
        if self.gate is None:
            total = self.readout.loss(batch.unpadded(decoded.features), batch.unpadded(batch.target), smoothing)
        else:
            losses, even = self._copying_losses(decoded, batch)
            total = smoothed_sum(losses, even, smoothing)
        if self.training and decoded.repeated is not None:
            total = total + self.config.coverage * batch.unpadded(decoded.repeated).sum()
        return Loss(total, real.sum())

    def token_losses(self, batch: PairBatch) -> Tensor:
        """(batch, time) nats of each target, 0 at padding."""
        decoded, real = self._decode(batch), batch.real
        if self.gate is None:
            scores = self.readout.log_probabilities(batch.unpadded(decoded.features))
            losses = -scores.gather(1, batch.unpadded(batch.target)[:, None])[:, 0]
        else:
            losses, _ = self._copying_losses(decoded, batch)
        return scattered(losses, real)

    def start(self, batch: PairBatch) -> PairSeq2SeqState:
        """The state before the first token, with the encoder's output."""
        ids = batch.source if batch.source.shape[1] else F.pad(batch.source, (0, 1))
        real = ids != PAD
        states, last = self.encoder.encode(self._drop(self.embedding(ids)), real)
        layers = self.initial(last).tanh().view(len(batch), self.parts, self.config.layers, -1).permute(1, 2, 0, 3)
        memory = self.attention.project_memory(states, ids, real) if self.attention is not None else None
        coverage = torch.zeros(ids.shape, device=ids.device) if self.config.coverage else None
        return PairSeq2SeqState(memory, layers, coverage)

    def step(self, tokens: Tensor, state: PairSeq2SeqState) -> tuple[Tensor, PairSeq2SeqState]:
        """Read `tokens`, (batch,); return log-probabilities of the next, (batch, pieces)."""
        x = self.embedding(tokens)
        top, layers = self.decoder.step(x, state.layers)
        if self.attention is None or state.memory is None:
            return self.readout.log_probabilities(top), PairSeq2SeqState(None, layers, None)
        sources = len(state.memory.ids)
        top, x = top.view(sources, -1, top.shape[-1]), x.view(sources, -1, x.shape[-1])
        coverage = None if state.coverage is None else state.coverage.view(sources, top.shape[1], -1)
        weights, context = self.attention(top, state.memory, coverage)
        scores = self.readout.log_probabilities(self._features(top, context))
        if self.gate is not None:
            gates = self._gates(top, context, x, state.memory)
            scores = mix_all(scores, [weights], [state.memory.ids], gates)
        covered = None if coverage is None else (coverage + weights).flatten(0, 1)
        return scores.flatten(0, 1), PairSeq2SeqState(state.memory, layers, covered)

    # --- Its parts ---------------------------------------------------------------------------------------------------

    def _decode(self, batch: PairBatch) -> _Decoded:
        """Decode all places of a batch."""
        state, x = self.start(batch), self._drop(self.embedding(batch.inputs))
        top = self.decoder(x, state.layers)
        if self.attention is None or state.memory is None:
            return _Decoded(self._drop(top))
        weights, context, repeated = self._attend(top, state.memory)
        gates = None if self.gate is None else self._gates(top, context, x, state.memory)
        features = self._drop(self._features(top, context))
        return _Decoded(features, copied_mass(weights, state.memory.ids, batch.target), gates, repeated)

    def _attend(self, top: Tensor, memory: AttentionMemory) -> tuple[Tensor, Tensor, Tensor | None]:
        """Map (batch, time, width) to weights, contexts, and sum_i min(a_i, c_i) of each place (equation 12)."""
        assert self.attention is not None
        if not self.config.coverage:
            weights, context = self.attention(top, memory)
            return weights, context, None
        # The coverage of a place is made of the weights before it: a loop over time.
        covered, attended = [torch.zeros_like(memory.bias)], []
        for query in top.split(1, dim=1):
            attended.append(self.attention(query, memory, covered[-1]))
            covered.append(covered[-1] + attended[-1][0])
        weights, context = (torch.cat(parts, dim=1) for parts in zip(*attended, strict=True))
        return weights, context, torch.minimum(weights, torch.cat(covered[:-1], dim=1)).sum(-1)

    def _features(self, top: Tensor, context: Tensor) -> Tensor:
        """tanh(W_c [h; a]), the input of the readout."""
        assert self.attended is not None
        return linear(torch.cat([top, context], dim=-1), self.attended.weight, self.attended.bias).tanh()

    def _gates(self, top: Tensor, context: Tensor, x: Tensor, memory: AttentionMemory) -> Tensor:
        """(sources, n, 2) log p_gen and log(1 - p_gen). p_gen is 1 for a source without pieces."""
        assert self.gate is not None
        empty = memory.empty[:, None]
        return self.gate.log_probabilities(torch.cat([context, top, x], dim=-1), empty)

    def _copying_losses(self, decoded: _Decoded, batch: PairBatch) -> tuple[Tensor, Tensor]:
        """(targets,) nats of each non-padding target, and the mean nats of the vocabulary at its place."""
        assert decoded.copied is not None and decoded.gates is not None
        scores = self.readout.target_scores(batch.unpadded(decoded.features), batch.unpadded(batch.target))
        return -mix(scores.chosen, [batch.unpadded(decoded.copied)], batch.unpadded(decoded.gates)), -scores.mean

    def _drop(self, x: Tensor) -> Tensor:
        return dropout(x, self.config.dropout, self.training)


@dataclass
class _Decoded:
    """Results at all places of a batch. Attributes that the model does not use are None.

    Attributes:
        features: (batch, time, width) input of the readout.
        copied: (batch, time) copy probability of each target.
        gates: (batch, time, 2) log p_gen and log(1 - p_gen).
        repeated: (batch, time) the coverage loss.
    """

    features: Tensor
    copied: Tensor | None = None
    gates: Tensor | None = None
    repeated: Tensor | None = None
