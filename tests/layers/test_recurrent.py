"""Recurrent layers against plain loops, and rows against the same rows without padding."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from espalier.layers.linear import constant_weights
from espalier.layers.recurrent import BilinearAttention, RecurrentEncoder, lstm_step


def encoder(bidirectional: bool) -> RecurrentEncoder:
    torch.manual_seed(3)
    return RecurrentEncoder(5, 7, bidirectional=bidirectional)


def real_of(lengths: list[int], time: int) -> Tensor:
    return torch.arange(time) < torch.tensor(lengths)[:, None]


@pytest.mark.parametrize("bidirectional", [False, True])
def test_rows_are_read_as_if_alone_and_without_padding(bidirectional: bool) -> None:
    encode, x, lengths = encoder(bidirectional), torch.randn(3, 9, 5), [4, 9, 1]
    states, last = encode(x, real_of(lengths, 9))
    assert states.shape == (3, 9, encode.out) and last.shape == (3, encode.out)
    for row, length in enumerate(lengths):
        alone, (final, _) = encode.lstm(x[row : row + 1, :length])
        assert torch.allclose(states[row, :length], alone[0], atol=1e-6)
        assert torch.allclose(last[row], final[:, 0].flatten(), atol=1e-6)
        assert not states[row, length:].any()


@pytest.mark.parametrize("bidirectional", [False, True])
def test_what_stands_at_padding_and_how_much_of_it_changes_nothing(bidirectional: bool) -> None:
    encode, x, real = encoder(bidirectional), torch.randn(2, 4, 5), real_of([4, 2], 4)
    other = torch.cat([torch.where(real[..., None], x, 9.0), torch.full((2, 3, 5), -4.0)], dim=1)
    states, last = encode(x, real)
    found, final = encode(other, real_of([4, 2], 7))
    assert torch.allclose(found[:, :4], states, atol=1e-6)
    assert torch.allclose(final, last, atol=1e-6)


@torch.no_grad()
def test_attention_is_the_softmax_of_bilinear_scores_over_real_places() -> None:
    torch.manual_seed(4)
    attend, states, query = BilinearAttention(3, 5), torch.randn(2, 4, 5), torch.randn(2, 6, 3)
    lengths = [4, 2]
    memory = attend.project_memory(states, torch.ones(2, 4, dtype=torch.long), real_of(lengths, 4))
    weights, context = attend(query, memory)
    for row, length in enumerate(lengths):
        for place in range(6):
            scores = [float(query[row, place] @ attend.score.weight @ states[row, j]) for j in range(length)]
            wanted = torch.tensor(scores).softmax(0)
            assert torch.allclose(weights[row, place, :length], wanted, atol=1e-6)
            assert not weights[row, place, length:].any()
            assert torch.allclose(context[row, place], wanted @ states[row, :length], atol=1e-6)


def test_a_row_that_is_all_padding_gives_numbers_all_the_same() -> None:
    attend, encode, real = BilinearAttention(3, 7), encoder(False), real_of([0, 2], 2)
    states, _ = encode(torch.randn(2, 2, 5), real)
    weights, context = attend(
        torch.randn(2, 1, 3), attend.project_memory(states, torch.zeros(2, 2, dtype=torch.long), real)
    )
    assert torch.isfinite(weights).all() and torch.isfinite(context).all()
    assert torch.allclose(weights.sum(-1), torch.ones(2, 1))


def test_memories_are_selected_by_row() -> None:
    attend, states, ids = BilinearAttention(3, 5), torch.randn(3, 2, 5), torch.arange(6).view(3, 2)
    memory = attend.project_memory(states, ids, real_of([2, 1, 2], 2)).select(torch.tensor([2, 0, 2]))
    assert memory.ids.tolist() == [[4, 5], [0, 1], [4, 5]]
    assert torch.equal(memory.states, states[[2, 0, 2]]) and len(memory.keys) == len(memory.bias) == 3


@pytest.mark.parametrize("layers", [1, 3])
def test_steps_are_those_of_the_module(layers: int) -> None:
    torch.manual_seed(5)
    lstm, x = nn.LSTM(4, 6, layers, batch_first=True), torch.randn(2, 5, 4)
    hidden, cell = torch.randn(layers, 2, 6), torch.randn(layers, 2, 6)
    wanted, (last, last_cell) = lstm(x, (hidden, cell))
    packed_hidden, packed_cell = hidden, cell
    for t in range(5):
        hidden, cell = lstm_step(lstm, x[:, t], hidden, cell)
        assert torch.allclose(hidden[-1], wanted[:, t], atol=1e-6)
        with constant_weights():
            packed_hidden, packed_cell = lstm_step(lstm, x[:, t], packed_hidden, packed_cell)
        assert torch.allclose(packed_hidden[-1], wanted[:, t], atol=1e-5)
    assert torch.allclose(hidden, last, atol=1e-6) and torch.allclose(cell, last_cell, atol=1e-6)


def test_steps_drop_between_layers_while_training_alone() -> None:
    lstm, x, zero = nn.LSTM(4, 6, 2, dropout=0.5), torch.randn(2, 4), torch.zeros(2, 2, 6)
    drawn = [lstm_step(lstm, x, zero, zero)[0][-1] for _ in range(2)]
    assert not torch.equal(*drawn)
    lstm.eval()
    still = [lstm_step(lstm, x, zero, zero)[0][-1] for _ in range(2)]
    assert torch.equal(*still)
