"""Recurrent encoders of padded rows, attention over their states, and single steps of recurrent cells."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from espalier.layers.linear import linear


class RecurrentEncoder(nn.Module):
    """One LSTM over right-padded rows, unidirectional or bidirectional (Graves and Schmidhuber 2005).

    Attributes:
        out: the width of its states: `width`, or twice that if it is bidirectional.
    """

    def __init__(self, inputs: int, width: int, *, bidirectional: bool = False) -> None:
        super().__init__()
        self.lstm = nn.LSTM(inputs, width, batch_first=True, bidirectional=bidirectional)
        self.out = 2 * width if bidirectional else width

    def forward(self, x: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
        """Encode every row up to its own end; the backward direction starts there.

        Args:
            x: (batch, time, inputs), time at least 1.
            real: (batch, time) bool, False at padding, which is on the right. A row of padding is read as one place.

        Returns:
            (batch, time, out) states, 0 at padding; (batch, out) the last state of each direction.
        """
        return read_rows(self.lstm, x, real)


def read_rows(layer: nn.LSTM | nn.GRU, x: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
    """Run one LSTM or GRU layer with `batch_first` over right-padded rows, as `RecurrentEncoder.forward` describes."""
    packed = pack_padded_sequence(x, real.sum(1).clamp(min=1).cpu(), batch_first=True, enforce_sorted=False)
    states, last = layer(packed)
    padded, _ = pad_packed_sequence(states, batch_first=True, total_length=x.shape[1])
    last = last[0] if isinstance(layer, nn.LSTM) else last
    return padded, last.transpose(0, 1).flatten(1)


@dataclass
class AttentionMemory:
    """An encoder's output, to be attended to and copied from.

    Attributes:
        ids: (sources, length) the ids of the encoder's input.
        states: (sources, length, states' width).
        keys: (sources, query width, length).
        bias: (sources, 1, length) -inf at padding, else 0; 0 everywhere in a row of padding.
    """

    ids: Tensor
    states: Tensor
    keys: Tensor
    bias: Tensor

    def select(self, index: Tensor) -> AttentionMemory:
        """The rows `index`, in that order."""
        parts = (self.ids, self.states, self.keys, self.bias)
        return AttentionMemory(*(part.index_select(0, index) for part in parts))


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
        hidden = ~real & real.any(1, keepdim=True)
        bias = torch.zeros(real.shape, device=real.device).masked_fill(hidden, -torch.inf)
        return AttentionMemory(ids, states, self.score(states).transpose(1, 2), bias[:, None])

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
    """One step of `lstm`; faster than calling the module for a single place.

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
        enter, forget, new, leave = gates.chunk(4, dim=-1)
        cells.append(forget.sigmoid() * cell[layer] + enter.sigmoid() * new.tanh())
        hiddens.append(leave.sigmoid() * cells[-1].tanh())
        x = F.dropout(hiddens[-1], lstm.dropout, lstm.training) if lstm.dropout else hiddens[-1]
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

    def select(self, index: Tensor, filled: int | None = None) -> Hidden:
        """The rows `index` of the batch, in that order. `filled` is that of `KeyValues.select`, and changes nothing."""
        return Hidden(self.states.index_select(0, index))


class RecurrentLayer(nn.Module):
    """A GRU (Cho et al. 2014) in the place of masked self-attention, with the methods of `Attention`."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gru = nn.GRU(width, width, batch_first=True)

    def forward(self, x: Tensor, *, causal: bool = True) -> Tensor:
        """(batch, time, width) to the same; place t reads places <= t, so `causal` must be true."""
        if not causal:
            raise ValueError("a recurrent layer reads from left to right only")
        states: Tensor = self.gru(x)[0]
        return states

    def empty(self, batch: int, capacity: int, like: Tensor) -> Hidden:
        """The states before the first place. `capacity` is that of `Attention.empty`, and changes nothing."""
        return Hidden(like.new_zeros(batch, self.gru.hidden_size))

    def step(self, x: Tensor, past: Hidden, time: int) -> Tensor:
        """Read one place `x`, (batch, 1, width), into `past`."""
        input_weight, state_weight, input_bias, state_bias = self.gru.all_weights[0]
        from_state = linear(past.states, state_weight, state_bias)
        past.states = gru_update(linear(x[:, 0], input_weight, input_bias), from_state, past.states)
        return past.states[:, None]


class AdditiveAttention(nn.Module):
    """v . tanh(W q + U s_j), through a softmax over j: Bahdanau et al. (2015), appendix A.1.2.

    Args:
        query, states: the widths of queries and of states.
        width: of W q + U s_j.
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
        hidden = ~real & real.any(1, keepdim=True)
        weights = self.score(combined)[..., 0].masked_fill(hidden, -torch.inf).softmax(-1)
        return torch.bmm(weights[:, None], states)[:, 0]
