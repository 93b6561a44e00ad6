"""SAT (Structure Controllable Text Generation, anonymous): a language model that reads the structure of a template.

Equation numbers are the paper's. The symbol at place t belongs to the token that is predicted at t. The decoder sees
all symbols, also those of later tokens, but no later tokens. Without structures the model is GPT2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from espalier.datasets.structure.data import StructureBatch, StructureData
from espalier.datasets.structure.vocabulary import StructureVocabulary
from espalier.datasets.vocabulary import PAD
from espalier.layers.attention import Attention, padding_bias
from espalier.layers.dropout import dropout
from espalier.layers.initial import STD, initialise
from espalier.layers.linear import linear
from espalier.layers.positions import sinusoids
from espalier.layers.readout import readout_loss
from espalier.layers.shared_memory import KeyValues, Past, memory_rows, select_all, select_pasts
from espalier.models.contract import Loss, scattered
from espalier.models.learned_positions import learned_positions
from espalier.models.sat_blocks import DecoderBlock, StructureEncoderBlock
from espalier.models.sat_config import SATConfig


@dataclass
class SATState:
    """A batch of prefixes of length `time`.

    `symbols`, `first`, `last`, `memory` and `memory_mask` have one row for each template, shared by its prefixes.
    """

    time: int
    symbols: Tensor  # (templates, template length, width): equation 7 without positions
    first: Tensor  # (templates,) the place of the text's first token, after the topic
    last: Tensor  # (templates,) the place that predicts the end mark
    memory: list[KeyValues]
    memory_mask: Tensor | None
    topic: Tensor  # (prefixes, topic length) bool, False at padding: of the first places of `past`
    past: list[Past]

    def select(self, index: Tensor) -> SATState:
        """The rows `index`, in that order."""
        symbols, first, last, memory, mask = self.symbols, self.first, self.last, self.memory, self.memory_mask
        owners = memory_rows(index, len(self.past[0]), len(last))
        if owners is not None:
            symbols, first, last = (part.index_select(0, owners) for part in (symbols, first, last))
            memory, mask = select_all(memory, owners), mask.index_select(0, owners) if mask is not None else None
        topic, filled = self.topic.index_select(0, index), self.topic.shape[1] + self.time
        return SATState(self.time, symbols, first, last, memory, mask, topic, select_pasts(self.past, index, filled))


class SAT(nn.Module):
    """The language model of equations 1-18, over the chain contract."""

    vocabulary_rows: ClassVar[tuple[str, ...]] = ("table.weight", "head_bias")

    def __init__(self, config: SATConfig, vocabulary: StructureVocabulary) -> None:
        super().__init__()
        self.config, self.vocabulary = config, vocabulary
        width = config.width
        self.table = nn.Embedding(vocabulary.text_size, width, padding_idx=PAD)  # E_x
        self.head_bias = nn.Parameter(torch.zeros(vocabulary.text_size))
        self.symbols = nn.ModuleDict(  # E_s
            {name: nn.Embedding(vocabulary.symbol_count(name), width) for name in config.structures}
        )
        self.positions = _Positions(config)  # E_p
        self.structure_positions = _Positions(config) if config.attends and config.places == "learned" else None
        count = config.encoder_layers if config.attends else 0
        self.encoder = nn.ModuleList([StructureEncoderBlock(config) for _ in range(count)])
        self.encoder_norm = _final_norm(config) if config.attends else nn.Identity()
        self.decoder = nn.ModuleList([DecoderBlock(config) for _ in range(config.layers)])
        self.final_norm = _final_norm(config)
        for module in self.modules():
            initialise(module, config.initial)

    @property
    def symbol_rows(self) -> dict[str, str]:
        """For each tensor with a row per symbol of a structure: the name of the tensor, and the structure."""
        return {f"symbols.{name}.weight": name for name in self.symbols}

    # --- The contract ------------------------------------------------------------------------------------------------

    def forward(self, batch: StructureBatch, smoothing: float = 0.0) -> Loss:
        """The negative of equation 3, summed over the batch's targets, with label smoothing."""
        topic, batch = batch.topic.shape[1], after_topic(batch)
        real = batch.real
        x = self.final_norm(batch.unpadded(self._hidden(batch, topic)))  # only places that have a target
        return Loss(readout_loss(x, *self._output(), batch.unpadded(batch.target), smoothing), real.sum())

    def token_losses(self, batch: StructureBatch) -> Tensor:
        """(batch, time) nats of each target, 0 at padding."""
        whole, real = after_topic(batch), batch.real
        logits = self._logits(whole.unpadded(self._hidden(whole, batch.topic.shape[1])))
        losses = F.cross_entropy(logits.float(), batch.unpadded(batch.target), reduction="none")
        return scattered(losses, real)

    def start(self, batch: StructureBatch) -> SATState:
        """The state before the first token, with keys and values of the encoded structures and of the topic."""
        topic, length = batch.topic, batch.topic.shape[1]
        batch = after_topic(batch)
        symbols = self._symbols(batch)
        memory, mask = self._memory(batch, symbols, length)
        known = [
            block.structure_attention.project_memory(memory)
            for block in self._blocks
            if block.structure_attention is not None and memory is not None
        ]
        past = [
            block.attention.empty(len(batch), length + 32, symbols) for block in self._blocks
        ]  # grows with the text
        if length:
            x = self._embedded(batch.inputs[:, :length], symbols[:, :length], length)
            places = torch.arange(length, device=x.device)[None]
            for block, own in zip(self._blocks, past, strict=True):
                x = block.begin(x, own, memory, mask, places)
        first, last = (topic != PAD).sum(1), (batch.inputs != PAD).sum(1) - 1
        return SATState(0, symbols, first, last, known, mask, topic != PAD, past)

    def step(self, tokens: Tensor, state: SATState) -> tuple[Tensor, SATState]:
        """Read `tokens`, (batch,); return log-probabilities of the next, (batch, text size)."""
        length = state.topic.shape[1]
        if state.time >= self.config.positions:
            raise ValueError(f"a text longer than the {self.config.positions} positions of this model")
        # Past its template a text goes on with the symbol of the template's end mark.
        places = (state.first + state.time).minimum(state.last)
        # A row beyond the last position has ended: it waits for those of shorter topics.
        given = self.positions.weight[(state.first + state.time).clamp(max=self.config.positions - 1)]
        if self.config.structure == "add":
            given = given + state.symbols[torch.arange(len(places), device=tokens.device), places]
        x = self.table(tokens)
        x = (x.view(len(places), -1, x.shape[1]) + given[:, None]).view(len(tokens), 1, -1)
        shown = F.pad(state.topic, (0, state.time + 1), value=True)[:, None, None] if length else None
        for number, block in enumerate(self._blocks):
            memory = state.memory[number] if state.memory else None
            x = block.step(
                x, state.past[number], length + state.time, memory, state.memory_mask, places[:, None], shown
            )
        return F.log_softmax(self._logits(x[:, 0]).float(), dim=-1), replace(state, time=state.time + 1)

    # --- What attention finds ----------------------------------------------------------------------------------------

    @torch.no_grad()
    def own_weights(self, batch: StructureBatch) -> Tensor:
        """(batch, N_d, heads) mean attention weight on the symbol of the token to predict, over the targets.

        A head with uniform attention gives 1 / (length of the template). Without an encoder the shape is (batch, 0,
        heads).
        """
        topic, batch = batch.topic.shape[1], after_topic(batch)
        real, found = batch.real, []

        def keep(attention: Attention, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            weights = attention.weights(*args, **kwargs).diagonal(dim1=2, dim2=3)  # (batch, heads, time)
            found.append((weights * real[:, None]).sum(2) / real.sum(1).clamp(min=1)[:, None])

        attentions = [block.structure_attention for block in self._blocks if block.structure_attention is not None]
        hooks = [each.register_forward_pre_hook(keep, with_kwargs=True) for each in attentions]
        try:
            self._hidden(batch, topic)
        finally:
            for hook in hooks:
                hook.remove()
        empty = torch.zeros(len(batch), 0, self.config.heads, device=real.device)
        return torch.stack(found, 1) if found else empty

    # --- Its parts ---------------------------------------------------------------------------------------------------

    @property
    def _blocks(self) -> list[DecoderBlock]:
        return list(self.decoder)  # type: ignore[arg-type]

    def _hidden(self, batch: StructureBatch, topic: int) -> Tensor:
        """F_Nd, (batch, time, width), for a batch whose rows include topics of at most `topic` words."""
        symbols = self._symbols(batch)
        memory, mask = self._memory(batch, symbols, topic)
        x = self._embedded(batch.inputs, symbols, topic)
        places = torch.arange(x.shape[1], device=x.device)[None]
        for block in self._blocks:
            x = block(x, memory, mask, places)
        return x

    def _embedded(self, inputs: Tensor, symbols: Tensor, topic: int) -> Tensor:
        """F_0 (equation 12), (batch, time, width)."""
        x = self.table(inputs) + learned_positions(self.positions.weight, inputs.shape[1], _padding(topic))
        return self._drop(x + symbols if self.config.structure == "add" else x)

    def _symbols(self, batch: StructureBatch) -> Tensor:
        """The sum of the symbols' embeddings, (batch, time, width): equation 7 without positions."""
        found = self.table.weight.new_zeros(*batch.inputs.shape, self.config.width)
        for name, table in self.symbols.items():
            found = found + table(batch.structures[name])
        return found

    def _memory(self, batch: StructureBatch, symbols: Tensor, topic: int) -> tuple[Tensor | None, Tensor | None]:
        """H_Ne (equations 7-11), and the bias that hides padding."""
        if not self.config.attends:
            return None, None
        mask = padding_bias(batch.inputs != PAD)
        positions = self.structure_positions or self.positions
        x = self._drop(symbols + learned_positions(positions.weight, symbols.shape[1], _padding(topic)))
        for block in self.encoder:
            x = block(x, mask)
        return self.encoder_norm(x), mask

    def _logits(self, x: Tensor) -> Tensor:
        return linear(self.final_norm(x), *self._output())

    def _output(self) -> tuple[Tensor, Tensor]:
        """The output matrix, equal to E_x (GPT2), and the output bias."""
        return self.table.weight, self.head_bias

    def _drop(self, x: Tensor) -> Tensor:
        return dropout(x, self.config.dropout, self.training)


def _padding(topic: int) -> int:
    """The most places of padding behind a row that fills its positions, beside one with `topic` words of topic."""
    return topic + StructureData.GRAIN - 1


def after_topic(batch: StructureBatch) -> StructureBatch:
    """A batch whose rows begin with their topics.

    `TOPIC` directly precedes the text; targets are `PAD` and symbols P there.
    """
    length = batch.topic.shape[1]
    if not length:
        return batch
    time = batch.target.shape[1]
    shift = (batch.topic != PAD).sum(1, keepdim=True) + torch.arange(time, device=batch.device)

    def moved(row: Tensor, before: Tensor) -> Tensor:
        return F.pad(before, (0, time)).scatter(1, shift, row)

    none = torch.zeros_like(batch.topic)  # `PAD`, and `SPECIAL`
    structures = {name: moved(row, none) for name, row in batch.structures.items()}
    empty = batch.topic[:, :0]
    inputs, target = moved(batch.inputs, batch.topic), moved(batch.target, none)
    made = StructureBatch(inputs, target, structures, empty, batch.prompt)
    places = batch.places()
    made.keep_places("target", places // time * (length + time) + shift.flatten().index_select(0, places))
    return made


class _Positions(nn.Module):
    """Embeddings of the positions 0, 1, 2 ...; sinusoids are not learned, and are scaled like the other embeddings."""

    def __init__(self, config: SATConfig) -> None:
        super().__init__()
        self.weight: Tensor
        if config.places == "sinusoid":
            table = sinusoids(config.positions, config.width) * (STD * 2**0.5)
            self.register_buffer("weight", table, persistent=False)
        else:
            self.weight = nn.Parameter(torch.empty(config.positions, config.width).normal_(std=STD))


def _final_norm(config: SATConfig) -> nn.Module:
    return nn.LayerNorm(config.width, eps=config.epsilon) if config.norm == "pre" else nn.Identity()
