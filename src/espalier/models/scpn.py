"""SCPN (Iyyer et al., NAACL 2018), GuiG's baseline: two LSTM models with attention and copying over bracketed parses.

The text generator reads a source and the bracketed target parse, and writes the target. The parse generator reads the
bracketed source parse and a bracketed template, and writes the bracketed target parse. Both share one architecture: a
bidirectional encoder of the first row, a unidirectional encoder of the second, and a decoder that attends to both. It
copies from the rows with the same kind of ids as its output, unless `copying` is false.

The paper's decoder is h_t = LSTM([w_{t-1}; a_t; z_t]), where the contexts a_t and z_t depend on h_{t-1}. It is
therefore a loop over time; all other parts are computed for all places at once. With `attention: after` the contexts
depend on h_t, as in Luong et al. (2015) without input feeding, and the decoder is one call. The readout of both is
softmax(W tanh(W_c [h_t; a_t; z_t])), equations 5 and 6 of Luong et al.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from espalier.datasets.pairs.data import PairBatch, modality_of
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.part import Unit
from espalier.datasets.vocabulary import PAD
from espalier.layers.copy import CopyGate, copied_mass, mix, mix_all, smoothed_sum
from espalier.layers.dropout import dropout
from espalier.layers.embeddings import embedding
from espalier.layers.linear import linear
from espalier.layers.readout import Readout
from espalier.layers.recurrent import AttentionMemory, BilinearAttention, RecurrentEncoder, lstm_step
from espalier.layers.shared_memory import memory_rows
from espalier.models.contract import Loss, scattered
from espalier.models.guig_config import SCPNConfig


@dataclass
class SCPNState:
    """A batch of prefixes. A memory has one row per source, shared by consecutive prefixes.

    Attributes:
        hidden, cell: (layers, prefixes, width).
    """

    memories: list[AttentionMemory]
    hidden: Tensor
    cell: Tensor

    def select(self, index: Tensor) -> SCPNState:
        """The rows `index`, in that order."""
        owners = memory_rows(index, self.hidden.shape[1], len(self.memories[0].ids))
        memories = self.memories if owners is None else [memory.select(owners) for memory in self.memories]
        return SCPNState(memories, self.hidden.index_select(1, index), self.cell.index_select(1, index))


class SCPN(nn.Module):
    """The model over the chain contract. It writes word pieces, or brackets and labels.

    With `mixture: released`, `step` returns scores that are not normalized over the vocabulary; `forward` and
    `token_losses` are their negatives.
    """

    def __init__(self, config: SCPNConfig, vocabulary: PairVocabulary) -> None:
        super().__init__()
        self.config, self.vocabulary = config, vocabulary
        width, rows = config.width, config.view.reads
        sizes = {"tree": (vocabulary.trees.bracketed_size, config.label)}
        if config.writes == "text":
            sizes["text"] = vocabulary.text_size, config.word
        # On the same scale as the LSTM's initial weights.
        self.embeddings = nn.ModuleDict({modality: embedding(*size, std=0.1) for modality, size in sizes.items()})
        self.modalities = [modality_of(row) for row in rows]
        copied = [place for place, modality in enumerate(self.modalities) if modality == config.writes]
        self.copies = copied if config.copying else []
        size, inputs = sizes[config.writes]
        first = RecurrentEncoder(sizes[self.modalities[0]][1], width, bidirectional=True)
        second = RecurrentEncoder(config.label, config.tree_hidden)
        self.encoders = nn.ModuleList([first, second])
        self.attentions = nn.ModuleList([BilinearAttention(width, encoder.out) for encoder in (first, second)])
        self.initial = nn.Linear(first.out, config.layers * width)
        contexts = first.out + second.out
        fed = inputs + contexts if config.attention == "before" else inputs
        between = config.dropout if config.layers > 1 else 0.0
        self.decoder = nn.LSTM(fed, width, config.layers, batch_first=True, dropout=between)
        self.attended = nn.Linear(width + contexts, width)
        # From state, contexts and input, as in See et al.'s equation 8; a softmax, since two rows may be copied from.
        self.gate = CopyGate(width + contexts + inputs, 1 + len(self.copies)) if self.copies else None
        self.readout = Readout(width, size)

    # --- The contract ------------------------------------------------------------------------------------------------

    def forward(self, batch: PairBatch, smoothing: float = 0.0) -> Loss:
        """Summed negative log-likelihood of the targets under the mixture.

        Label smoothing applies only to the vocabulary distribution, not to the copy distributions.
        """
        losses, even = self._losses(batch)
        total = smoothed_sum(losses, even, smoothing)
        return Loss(total, batch.real.sum())

    def token_losses(self, batch: PairBatch) -> Tensor:
        """(batch, time) nats of each target, 0 at padding."""
        return scattered(self._losses(batch)[0], batch.real)

    def start(self, batch: PairBatch) -> SCPNState:
        """The state before the first token, with the encoders' outputs."""
        memories, last = [], []
        for name, modality, encode, attention in zip(
            self.config.view.reads, self.modalities, self.encoders, self.attentions, strict=True
        ):
            ids: Tensor = getattr(batch, name)
            ids = ids if ids.shape[1] else F.pad(ids, (0, 1))
            real = ids != PAD
            states, final = encode(self._drop(self.embeddings[modality](ids)), real)
            memories.append(attention.project_memory(states, ids, real))  # type: ignore[operator]
            last.append(final)
        hidden = self.initial(last[0]).tanh().view(len(batch), self.config.layers, -1).transpose(0, 1).contiguous()
        return SCPNState(memories, hidden, torch.zeros_like(hidden))

    def step(self, tokens: Tensor, state: SCPNState) -> tuple[Tensor, SCPNState]:
        """Read `tokens`, (batch,); return log-probabilities of the next, (batch, pieces or bracketed ids)."""
        x = self.embeddings[self.config.writes](tokens.view(len(state.memories[0].ids), -1))
        step = self._advance(x, state)
        gates = self._gates(step.features, x, state.memories)
        vocabulary = self.readout.log_probabilities(self._joined(step.features))
        weights = [step.weights[place] for place in self.copies]
        ids = [state.memories[place].ids for place in self.copies]
        scores = mix_all(vocabulary, weights, ids, gates, self.config.mixture)
        return scores.flatten(0, 1), SCPNState(state.memories, step.hidden, step.cell)

    # --- Its parts ---------------------------------------------------------------------------------------------------

    def _losses(self, batch: PairBatch) -> tuple[Tensor, Tensor]:
        """(targets,) nats of each non-padding target, and the mean nats of the vocabulary at its place."""
        state = self.start(batch)
        x = self._drop(self.embeddings[self.config.writes](batch.inputs))
        features, weights = self._decode(x, state)
        gates = batch.unpadded(self._gates(features, x, state.memories))
        copies = [
            batch.unpadded(copied_mass(weights[place], state.memories[place].ids, batch.target))
            for place in self.copies
        ]
        scores = self.readout.target_scores(
            self._joined(batch.unpadded(features), "target"), batch.unpadded(batch.target)
        )
        return -mix(scores.chosen, copies, gates, self.config.mixture), -scores.mean

    def _decode(self, x: Tensor, state: SCPNState) -> tuple[Tensor, list[Tensor]]:
        """Decode inputs (batch, time, input): features (batch, time, ...), and attention to each memory."""
        if self.config.attention == "after":
            top, _ = self.decoder(x, (state.hidden, state.cell))
            weights, contexts = self._attend(top, state.memories)
            return torch.cat([top, contexts], dim=-1), weights
        steps: list[_Step] = []
        for place in x.unbind(1):
            steps.append(self._advance(place[:, None], state))
            state = SCPNState(state.memories, steps[-1].hidden, steps[-1].cell)
        weights = [torch.cat(parts, dim=1) for parts in zip(*(step.weights for step in steps), strict=True)]
        return torch.cat([step.features for step in steps], dim=1), weights

    def _advance(self, x: Tensor, state: SCPNState) -> _Step:
        """One step for n prefixes of each source, with inputs (sources, n, input)."""
        shape = *x.shape[:2], self.config.width
        if self.config.attention == "before":
            weights, contexts = self._attend(state.hidden[-1].view(shape), state.memories)
            x = torch.cat([x, contexts], dim=-1)
        hidden, cell = lstm_step(self.decoder, x.flatten(0, 1), state.hidden, state.cell)
        top = hidden[-1].view(shape)
        if self.config.attention == "after":
            weights, contexts = self._attend(top, state.memories)
        return _Step(torch.cat([top, contexts], dim=-1), weights, hidden, cell)

    def _attend(self, query: Tensor, memories: list[AttentionMemory]) -> tuple[list[Tensor], Tensor]:
        """Weights over each memory, and concatenated contexts, for queries (sources, n, width)."""
        attended = [attend(query, memory) for attend, memory in zip(self.attentions, memories, strict=True)]
        return [weights for weights, _ in attended], torch.cat([context for _, context in attended], dim=-1)

    def _gates(self, features: Tensor, x: Tensor, memories: list[AttentionMemory]) -> Tensor:
        """(sources, n, 1 + rows to copy from) log-probabilities; -inf for a row without ids."""
        if self.gate is None:
            return features.new_zeros(*features.shape[:-1], 1, dtype=torch.float32)
        empty = torch.stack([memories[place].empty for place in self.copies], dim=-1)
        return self.gate.log_probabilities(torch.cat([features, x], dim=-1), empty)

    def _joined(self, features: Tensor, unit: Unit = "row") -> Tensor:
        """(..., width) input of the readout."""
        return self._drop(linear(features, self.attended.weight, self.attended.bias).tanh(), unit)

    def _drop(self, x: Tensor, unit: Unit = "row") -> Tensor:
        return dropout(x, self.config.dropout, self.training, unit=unit)


@dataclass
class _Step:
    """The result of one decoder step: features and weights, (sources, n, ...), and the new state."""

    features: Tensor
    weights: list[Tensor]
    hidden: Tensor
    cell: Tensor
