"""Recurrent layers against plain loops, and rows against the same rows without padding."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from espalier.layers.linear import constant_weights
from espalier.layers.recurrent import (
    BilinearAttention,
    CoverageAttention,
    RecurrentEncoder,
    RecurrentStack,
    lstm_step,
    read_padded,
    read_rows,
)


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


@pytest.mark.parametrize(
    ("residual", "words", "states"),
    [(0, 0, 1), (1, 1, 4), (2, 1, 2), (3, 0, 1), (4, 1, 1)],
    ids=lambda value: str(value),
)
@torch.no_grad()
def test_a_residual_connection_adds_the_output_n_layers_below(residual: int, words: int, states: int) -> None:
    """Four layers whose every state is tanh(1): the input is added `words` times, and `states` states."""
    stack = RecurrentStack("lstm", 5, 5, 4, residual=residual)
    for layer in stack.layers:
        for parameter in layer.parameters():
            parameter.zero_()
        layer.bias_ih_l0.copy_(
            torch.tensor([50.0, -50.0, 50.0, 50.0]).repeat_interleave(5)
        )  # enter, forget, new, leave
    x, state = torch.randn(2, 3, 5), torch.zeros(2, 4, 2, 5)
    wanted = words * x + states * torch.tensor(1.0).tanh()
    assert torch.allclose(stack(x, state), wanted, atol=1e-6)
    assert torch.allclose(stack.encode(x, real_of([3, 3], 3))[0], wanted, atol=1e-6)
    top, state = stack.step(x[:, 0], state)
    assert torch.allclose(top, wanted[:, 0], atol=1e-6)
    assert torch.allclose(state[0], torch.tensor(1.0).tanh().expand(4, 2, 5)) and torch.allclose(
        state[1], torch.ones(4, 2, 5)
    )


@pytest.mark.parametrize("kind", ["lstm", "gru"])
@torch.no_grad()
def test_a_stack_without_residual_connections_is_the_module_s(kind: str) -> None:
    torch.manual_seed(7)
    stack = RecurrentStack(kind, 4, 6, 3, bidirectional=True)  # type: ignore[arg-type]
    module = (nn.LSTM if kind == "lstm" else nn.GRU)(4, 3, 3, batch_first=True, bidirectional=True)
    for number, layer in enumerate(stack.layers):
        for name, parameter in layer.named_parameters():
            getattr(module, name.replace("l0", f"l{number}")).copy_(parameter)
    x = torch.randn(2, 5, 4)
    outputs, last = stack.encode(x, real_of([5, 5], 5))
    wanted, state = module(x)
    assert torch.allclose(outputs, wanted, atol=1e-6)
    final = state[0] if kind == "lstm" else state
    assert torch.allclose(last, torch.cat([final[-2], final[-1]], dim=1), atol=1e-6)


def test_an_odd_width_has_no_two_directions() -> None:
    with pytest.raises(ValueError, match="width 5 cannot be divided"):
        RecurrentStack("gru", 4, 5, 1, bidirectional=True)


@torch.no_grad()
def test_coverage_raises_the_scores_of_places_that_were_attended_to() -> None:
    """With v = 1 and the other maps 0, a score is tanh(c_i): weights of coverage 0 and 1 are 1 to e^tanh(1)."""
    attend, states = CoverageAttention(3, 5, 1, coverage=True), torch.randn(1, 2, 5)
    for parameter in attend.parameters():
        parameter.zero_()
    attend.score.weight.fill_(1.0)
    assert attend.covered is not None
    attend.covered.fill_(1.0)
    memory = attend.project_memory(states, torch.tensor([[4, 5]]), real_of([2], 2))
    weights, context = attend(torch.zeros(1, 1, 3), memory, torch.tensor([[[0.0, 1.0]]]))
    assert weights[0, 0].tolist() == pytest.approx([0.318300, 0.681700], abs=1e-6)
    assert torch.allclose(context[0, 0], weights[0, 0] @ states[0])


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_rows_read_without_packing_have_the_states_and_gradients_of_packed_ones(
    kind: type[nn.LSTM] | type[nn.GRU], bidirectional: bool
) -> None:
    torch.manual_seed(5)
    layer = kind(5, 7, batch_first=True, bidirectional=bidirectional)
    x, real = torch.randn(4, 6, 5), real_of([6, 2, 0, 5], 6)

    def read(how: Any) -> list[Any]:
        layer.zero_grad()
        given = x.clone().requires_grad_()
        states, last = how(layer, given, real)
        ((states.sin()).sum() + (last * 2).cos().sum()).backward()
        return [states, last, *(leaf.grad for leaf in (given, *layer.parameters()))]

    for packed, padded in zip(read(read_rows), read(read_padded), strict=True):
        torch.testing.assert_close(padded, packed, rtol=1e-5, atol=1e-6)
