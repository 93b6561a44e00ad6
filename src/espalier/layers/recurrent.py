"""Recurrent encoders of padded rows, stacked layers, attention over states, and single steps of recurrent cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from espalier.datasets.vocabulary import PAD
from espalier.layers.dropout import dropout
from espalier.layers.linear import linear
from espalier.layers.options import Cell


class RecurrentEncoder(nn.Module):
    """One LSTM over right-padded rows, unidirectional or bidirectional (Graves and Schmidhuber 2005).

    Attributes:
        out: width of the states: `width`, or twice that if bidirectional.
    """

    def __init__(self, inputs: int, width: int, *, bidirectional: bool = False) -> None:
        super().__init__()
        self.lstm = nn.LSTM(inputs, width, batch_first=True, bidirectional=bidirectional)
        self.out = 2 * width if bidirectional else width

    def forward(self, x: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
        """Encode every row up to its own end, where the backward direction starts.

        Args:
            x: (batch, time, inputs), time at least 1.
            real: (batch, time) bool, False at padding, which must be on the right. A row of padding only is read as one
                place.

        Returns:
            (batch, time, out) states, 0 at padding; (batch, out) the last state of each direction.
        """
        return read_rows(self.lstm, x, real)


def read_rows(layer: nn.LSTM | nn.GRU, x: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
    """Run one LSTM or GRU layer (`batch_first`) over right-padded rows, as in `RecurrentEncoder.forward`."""
    if x.device.type != "cpu":
        return read_padded(layer, x, real)
    packed = pack_padded_sequence(x, real.sum(1).clamp(min=1).cpu(), batch_first=True, enforce_sorted=False)
    states, last = layer(packed)
    padded, _ = pad_packed_sequence(states, batch_first=True, total_length=x.shape[1])
    last = last[0] if isinstance(layer, nn.LSTM) else last
    return padded, last.transpose(0, 1).flatten(1)


def read_padded(layer: nn.LSTM | nn.GRU, x: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
    """`read_rows` without packed rows, whose lengths the host would have to wait for.

    The backward direction reads rows that are reversed up to their own ends.
    """
    place = torch.arange(x.shape[1], device=x.device)
    length = real.sum(1, keepdim=True).clamp(min=1)
    inside = (place < length)[..., None]
    reverse = torch.where(place < length, length - 1 - place, place)[..., None]
    call, weights = torch.lstm if isinstance(layer, nn.LSTM) else torch.gru, layer.all_weights
    states, last = list[Tensor](), list[Tensor]()
    for number, own in enumerate(weights):
        row = x.take_along_dim(reverse, 1) if number else x
        zero = x.new_zeros(1, len(x), layer.hidden_size)
        start = (zero, zero) if isinstance(layer, nn.LSTM) else zero
        y = call(row, start, own, True, 1, 0.0, layer.training, False, True)[0]  # type: ignore[arg-type]
        last.append(y.take_along_dim(length[..., None] - 1, 1)[:, 0])
        states.append(y.take_along_dim(reverse, 1) if number else y)
    return torch.cat(states, dim=-1).masked_fill(~inside, 0.0), torch.cat(last, dim=-1)


@dataclass
class AttentionMemory:
    """The output of an encoder, for attention and copying.

    Attributes:
        ids: (sources, length) the ids of the encoder's input.
        states: (sources, length, states' width).
        keys: projected keys: (sources, query width, length), or (sources, length, width).
        bias: (sources, 1, length) -inf at padding, else 0; all 0 in a row of padding only.
    """

    ids: Tensor
    states: Tensor
    keys: Tensor
    bias: Tensor

    @property
    def empty(self) -> Tensor:
        """(sources,) bool: True if a source is padding only."""
        return (self.ids == PAD).all(1)

    def select(self, index: Tensor) -> AttentionMemory:
        """The rows `index`, in that order."""
        parts = (self.ids, self.states, self.keys, self.bias)
        return AttentionMemory(*(part.index_select(0, index) for part in parts))


def masking_bias(real: Tensor) -> Tensor:
    """Convert (sources, length) bool, False at padding, to the bias of an `AttentionMemory`."""
    masked = ~real & real.any(1, keepdim=True)
    return torch.zeros(real.shape, device=real.device).masked_fill(masked, -torch.inf)[:, None]


class BilinearAttention(nn.Module):
    """softmax(q W s_1, ..., q W s_n): the "general" score of Luong et al. (2015), section 3.1."""

    def __init__(self, query: int, states: int) -> None:
        super().__init__()
        self.score = nn.Linear(states, query, bias=False)

    def project_memory(self, states: Tensor, ids: Tensor, real: Tensor) -> AttentionMemory:
        """Project the keys once for many queries.

        Args:
            states: (sources, length, states' width).
            ids: (sources, length) the encoder's input.
            real: (sources, length) bool, False at padding.
        """
        return AttentionMemory(ids, states, self.score(states).transpose(1, 2), masking_bias(real))

    def forward(self, query: Tensor, memory: AttentionMemory) -> tuple[Tensor, Tensor]:
        """Attend from `n` places of each source.

        Args:
            query: (sources, n, query width).

        Returns:
            (sources, n, length) float32 weights, which sum to 1; (sources, n, states' width) contexts.
        """
        weights = (torch.bmm(query, memory.keys).float() + memory.bias).softmax(-1)
        return weights, torch.bmm(weights, memory.states)


def lstm_step(lstm: nn.LSTM, x: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """One step of `lstm`, faster than calling the module for a single place.

    Args:
        lstm: unidirectional, with biases.
        x: (rows, inputs).
        hidden, cell: (layers, rows, width).

    Returns:
        The new `hidden` and `cell`; the last of `hidden` is the step's output.
    """
    hiddens, cells = [], []
    for layer, (input_weight, state_weight, input_bias, state_bias) in enumerate(lstm.all_weights):
        gates = linear(x, input_weight, input_bias) + linear(hidden[layer], state_weight, state_bias)
        input_gate, forget_gate, candidate, output_gate = gates.chunk(4, dim=-1)
        cells.append(forget_gate.sigmoid() * cell[layer] + input_gate.sigmoid() * candidate.tanh())
        hiddens.append(output_gate.sigmoid() * cells[-1].tanh())
        x = dropout(hiddens[-1], lstm.dropout, lstm.training)
    return torch.stack(hiddens), torch.stack(cells)


def gru_update(from_input: Tensor, from_state: Tensor, hidden: Tensor) -> Tensor:
    """A gated recurrent unit (Cho et al. 2014), given the projections of its input and of its state.

    As in `nn.GRU`, the reset gate is applied after the projection of the state; Cho et al. apply it before.

    Args:
        from_input: (..., 3 width) W x + b, for the reset gate, the update gate and the new state.
        from_state: (..., 3 width) U h + b, for the same.
        hidden: (..., width) h.
    """
    width = hidden.shape[-1]
    gates = (from_input[..., : 2 * width] + from_state[..., : 2 * width]).sigmoid()
    new = torch.tanh(from_input[..., 2 * width :] + gates[..., :width] * from_state[..., 2 * width :])
    # Under autocast the projections are in lower precision; the state is not.
    return torch.lerp(new.to(hidden.dtype), hidden, gates[..., width:].to(hidden.dtype))


@dataclass
class Hidden:
    """The states of a recurrent layer, (batch, width): all that it keeps of the places before."""

    states: Tensor

    def __len__(self) -> int:
        return len(self.states)

    def select(self, index: Tensor) -> Hidden:
        """The rows `index` of the batch, in that order."""
        return Hidden(self.states.index_select(0, index))


class RecurrentLayer(nn.Module):
    """A GRU (Cho et al. 2014) in place of masked self-attention, with the methods of `Attention`."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gru = nn.GRU(width, width, batch_first=True)

    def forward(self, x: Tensor, *, causal: bool = True) -> Tensor:
        """(batch, time, width) to the same; place t reads places <= t, so `causal` must be true."""
        if not causal:
            raise ValueError("a recurrent layer reads from left to right only")
        return self.gru(x)[0]

    def empty(self, batch: int, capacity: int, like: Tensor) -> Hidden:
        """The states before the first place. `capacity` is accepted as in `Attention.empty` and ignored."""
        return Hidden(like.new_zeros(batch, self.gru.hidden_size))

    def step(self, x: Tensor, past: Hidden, time: int) -> Tensor:
        """Read one place `x`, (batch, 1, width), and update `past`."""
        input_weight, state_weight, input_bias, state_bias = self.gru.all_weights[0]
        from_state = linear(past.states, state_weight, state_bias)
        past.states = gru_update(linear(x[:, 0], input_weight, input_bias), from_state, past.states)
        return past.states[:, None]


class AdditiveAttention(nn.Module):
    """v . tanh(W q + U s_j), through a softmax over j: Bahdanau et al. (2015), appendix A.1.2.

    Args:
        query, states: the widths of queries and states.
        width: the width of W q + U s_j.
    """

    def __init__(self, query: int, states: int, width: int) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(query, width), nn.Linear(states, width, bias=False)
        self.score = nn.Linear(width, 1, bias=False)

    def forward(self, query: Tensor, keys: Tensor, states: Tensor, real: Tensor) -> Tensor:
        """The context of each query, (n, states' width).

        Args:
            query: (n, query width).
            keys: (n, length, width), `self.key` of the states.
            states: (n, length, states' width).
            real: (n, length) bool, False at padding; in a row of padding every place is attended to.
        """
        combined = torch.tanh(keys + linear(query, self.query.weight, self.query.bias)[:, None])
        masked = ~real & real.any(1, keepdim=True)
        weights = self.score(combined)[..., 0].masked_fill(masked, -torch.inf).softmax(-1)
        return torch.bmm(weights[:, None], states)[:, 0]


class CoverageAttention(nn.Module):
    """v . tanh(W_h s_i + W_s q + w_c c_i + b), through a softmax over i: See et al. (2017), equations 1, 2 and 11.

    c_i, the coverage, is the sum of the weights of place i at the places before. `coverage` adds the term w_c c_i.
    """

    def __init__(self, query: int, states: int, width: int, *, coverage: bool = False) -> None:
        super().__init__()
        self.key, self.query = nn.Linear(states, width, bias=False), nn.Linear(query, width)
        self.score = nn.Linear(width, 1, bias=False)
        self.covered = nn.Parameter(torch.zeros(width)) if coverage else None

    def project_memory(self, states: Tensor, ids: Tensor, real: Tensor) -> AttentionMemory:
        """Project the keys once for many queries. Arguments are as in `BilinearAttention.project_memory`."""
        return AttentionMemory(ids, states, self.key(states), masking_bias(real))

    def forward(self, query: Tensor, memory: AttentionMemory, coverage: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend from `n` places of each source.

        Args:
            query: (sources, n, query width).
            coverage: (sources, n, length); None means 0.

        Returns:
            (sources, n, length) float32 weights, which sum to 1; (sources, n, states' width) contexts.
        """
        combined = memory.keys[:, None] + linear(query, self.query.weight, self.query.bias)[:, :, None]
        if self.covered is not None and coverage is not None:
            combined = combined + coverage[..., None] * self.covered
        weights = (self.score(combined.tanh())[..., 0].float() + memory.bias).softmax(-1)
        return weights, torch.bmm(weights, memory.states)


class RecurrentStack(nn.Module):
    """Stacked layers of LSTMs or GRUs, with a residual connection every `residual` layers.

    The output of layer l is y_l = RNN_l(y_{l-1}), and y_l = RNN_l(y_{l-1}) + y_{l-n} where l is a multiple of n; y_0 is
    the input (Prakash et al. 2016). The layer above reads the sum; the next place of layer l does not, as in Wu et al.
    (2016), section 3.1. A state is (parts, layers, rows, width), of hidden states and, in LSTMs, of cells.

    Args:
        inputs: the width of the input; equal to `width` if it is added to a layer's output.
        width: the width of every layer's output; each direction has half of it if the stack is bidirectional.
        residual: n; 0 means no residual connection.
        dropout: on the outputs of all layers but the last.
    """

    def __init__(
        self,
        cell: Cell,
        inputs: int,
        width: int,
        layers: int,
        *,
        residual: int = 0,
        dropout: float = 0.0,
        bidirectional: bool = False,
    ) -> None:
        super().__init__()
        if bidirectional and width % 2:
            raise ValueError(f"width {width} cannot be divided between two directions")
        self.residual, self.dropout = residual, dropout
        kind, own = nn.LSTM if cell == "lstm" else nn.GRU, width // (1 + bidirectional)
        self.layers = nn.ModuleList(
            kind(width if layer else inputs, own, batch_first=True, bidirectional=bidirectional)
            for layer in range(layers)
        )

    def encode(self, x: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
        """Read every row up to its own end. Arguments are as in `RecurrentEncoder.forward`.

        Returns:
            (batch, time, width) outputs, 0 at padding if `x` is; (batch, width) the last layer's last hidden state of
            each direction.
        """
        outputs = [x]
        for layer in self._layers:
            y, last = read_rows(layer, outputs[-1], real)
            outputs.append(self._added(y, outputs))
        return outputs[-1], last

    def forward(self, x: Tensor, state: Tensor) -> Tensor:
        """(batch, time, inputs) to (batch, time, width), from `state` before the first place."""
        outputs = [x]
        for layer, past in zip(self._layers, state.split(1, dim=1), strict=True):
            hidden = past.contiguous()
            y, _ = layer(outputs[-1], (hidden[0], hidden[1]) if isinstance(layer, nn.LSTM) else hidden[0])
            outputs.append(self._added(y, outputs))
        return outputs[-1]

    def step(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Read one place `x`, (rows, inputs): its output, (rows, width), and the new state."""
        outputs, states = [x], []
        for layer, past in zip(self._layers, state.split(1, dim=1), strict=True):
            if isinstance(layer, nn.LSTM):
                states.append(torch.stack(lstm_step(layer, outputs[-1], past[0], past[1])))
            else:
                (input_weight, state_weight, input_bias, state_bias), hidden = layer.all_weights[0], past[0, 0]
                from_input = linear(outputs[-1], input_weight, input_bias)
                from_state = linear(hidden, state_weight, state_bias)
                states.append(gru_update(from_input, from_state, hidden)[None, None])
            outputs.append(self._added(states[-1][0, 0], outputs))
        return outputs[-1], torch.cat(states, dim=1)

    @property
    def _layers(self) -> list[nn.LSTM | nn.GRU]:
        return cast("list[nn.LSTM | nn.GRU]", list(self.layers))

    def _added(self, y: Tensor, below: list[Tensor]) -> Tensor:
        """The input of the layer above `below`, which are the outputs of the layers under it, the input first."""
        layer = len(below)
        if self.residual and layer % self.residual == 0:
            y = y + below[layer - self.residual]
        return dropout(y, self.dropout, self.training) if layer < len(self.layers) else y
