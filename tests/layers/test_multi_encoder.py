"""Multi-encoder attention against loops over encoders, heads and places, from the equations of GuiG's section 3.1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from espalier.layers.attention import padding_bias
from espalier.layers.linear import constant_weights
from espalier.layers.multi_encoder import Memory, MultiEncoderAttention

WIDTH, HEAD = 10, 3
#: For each encoder its heads, its places, and the real ones in each of two rows.
ENCODERS: dict[str, list[tuple[int, int, tuple[int, int]]]] = {
    "one": [(3, 4, (4, 2))],
    "two": [(1, 5, (3, 5)), (2, 2, (1, 2))],
    "three": [(2, 3, (3, 3)), (1, 6, (1, 4)), (3, 1, (1, 1))],
    "two with as many heads": [(2, 3, (2, 3)), (2, 3, (3, 1))],
}


def attention_of(heads: list[int], dropout: float = 0.0) -> MultiEncoderAttention:
    torch.manual_seed(len(heads))
    attention = MultiEncoderAttention(WIDTH, heads, HEAD, dropout).eval()
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter.normal_(std=0.6)
    return attention


def case(name: str) -> tuple[MultiEncoderAttention, list[Tensor], list[Tensor]]:
    """An attention, its encoders' outputs with noise for padding, and where these are real."""
    attention = attention_of([heads for heads, _, _ in ENCODERS[name]])
    encoded = [torch.randn(2, places, WIDTH) for _, places, _ in ENCODERS[name]]
    real = [torch.arange(places) < torch.tensor(lengths)[:, None] for _, places, lengths in ENCODERS[name]]
    return attention, encoded, real


def slow(
    attention: MultiEncoderAttention, x: Tensor, encoded: list[Tensor], real: list[Tensor]
) -> np.ndarray[Any, Any]:
    """C = Concat(A_1^(1), ..., A_2^(1), ...) W_O, in 64 bits."""

    def arrays(layer: Any) -> tuple[Any, Any]:
        return layer.weight.detach().double().numpy(), layer.bias.detach().double().numpy()

    queries, memories, (w_o, b_o) = (
        arrays(attention.queries), [arrays(each) for each in attention.memories], arrays(attention.out)
    )  # fmt: skip
    found = np.zeros(x.shape)
    for row in range(len(x)):
        for place in range(x.shape[1]):
            state, before, parts = x[row, place].double().numpy(), 0, []
            for states, seen, heads, (w, b) in zip(encoded, real, attention.heads, memories, strict=True):
                kept = [states[row, m].double().numpy() for m in range(states.shape[1]) if seen[row, m]]
                for head in range(heads):
                    of_query = slice((before + head) * HEAD, (before + head + 1) * HEAD)
                    of_key = slice(head * HEAD, (head + 1) * HEAD)
                    of_value = slice((heads + head) * HEAD, (heads + head + 1) * HEAD)
                    query = queries[0][of_query] @ state + queries[1][of_query]
                    mass = [math.exp(query @ (w[of_key] @ h + b[of_key]) / math.sqrt(HEAD)) for h in kept]
                    values = [w[of_value] @ h + b[of_value] for h in kept]
                    parts.append(sum(m / sum(mass) * value for m, value in zip(mass, values, strict=True)))
                before += heads
            found[row, place] = w_o @ np.concatenate(parts) + b_o
    return found


@pytest.mark.parametrize("name", ENCODERS)
def test_it_is_the_paper_s_equation(name: str) -> None:
    attention, encoded, real = case(name)
    x = torch.randn(2, 4, WIDTH)
    memories = attention.project_memory(encoded, [padding_bias(each) for each in real])
    assert np.allclose(attention(x, memories).detach().numpy(), slow(attention, x, encoded, real), atol=1e-5)


@pytest.mark.parametrize("name", ENCODERS)
def test_what_stands_in_padding_and_how_much_of_it_changes_nothing(name: str) -> None:
    attention, encoded, real = case(name)
    x = torch.randn(2, 4, WIDTH)

    def found(more: int) -> Tensor:
        wider = [torch.cat([each, 50 * torch.randn(2, more, WIDTH)], 1) for each in encoded]
        hidden = [torch.cat([each, torch.zeros(2, more, dtype=torch.bool)], 1) for each in real]
        noisy = [
            torch.where(each[..., None], one, torch.randn(one.shape)) for one, each in zip(wider, hidden, strict=True)
        ]
        made: Tensor = attention(x, attention.project_memory(noisy, [padding_bias(each) for each in hidden]))
        return made

    assert torch.allclose(found(0), found(3), atol=1e-5)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ENCODERS)
def test_rows_of_one_source_share_its_memory(name: str, packed: bool) -> None:
    attention, encoded, real = case(name)
    x = torch.randn(6, 1, WIDTH)  # three rows for each of two sources
    biases = [padding_bias(each) for each in real]
    copied = attention(
        x,
        attention.project_memory(
            [each.repeat_interleave(3, 0) for each in encoded],
            [None if each is None else each.repeat_interleave(3, 0) for each in biases],
        ),
    )
    if packed:
        with constant_weights():
            shared = attention(x, attention.project_memory(encoded, biases))
    else:
        shared = attention(x, attention.project_memory(encoded, biases))
    assert shared.shape == x.shape and torch.allclose(shared, copied, atol=1e-5)


def test_a_memory_s_selected_sources_keep_their_bias() -> None:
    attention, encoded, real = case("two")
    memories = attention.project_memory(encoded, [padding_bias(each) for each in real])
    chosen = [each.select(torch.tensor([1, 1, 0])) for each in memories]
    x = torch.randn(3, 2, WIDTH)
    swapped = [each[[1, 1, 0]] for each in encoded], [each[[1, 1, 0]] for each in real]
    assert np.allclose(attention(x, chosen).detach().numpy(), slow(attention, x, *swapped), atol=1e-5)
    assert Memory(memories[0].key_values, None).select(torch.tensor([0])).bias is None


def test_an_encoder_that_read_nothing_says_nothing_and_no_nan() -> None:
    attention, encoded, real = case("two")
    x = torch.randn(2, 4, WIDTH, requires_grad=True)
    real[0][0] = False  # one row of the first encoder has no place, the other has all
    found = attention(x, attention.project_memory(encoded, [padding_bias(each) for each in real]))
    encoded[0] = encoded[0][:, :0]  # none has any
    none = attention(
        x, attention.project_memory(encoded, [padding_bias(each[:, :n]) for each, n in zip(real, (0, 2), strict=True)])
    )
    assert torch.allclose(found[0], none[0], atol=1e-5) and not torch.allclose(found[1], none[1], atol=1e-3)
    (found.sum() + none.sum()).backward()
    assert x.grad is not None and x.grad.isfinite().all()


def test_one_memory_for_each_encoder_is_wanted() -> None:
    attention, encoded, real = case("two")
    memories = attention.project_memory(encoded, [padding_bias(each) for each in real])
    with pytest.raises(ValueError, match="zip"):
        attention(torch.randn(2, 4, WIDTH), memories[:1] * 3)
    with pytest.raises(ValueError, match="zip"):
        attention.project_memory(encoded[:1], [None])


def test_dropout_acts_in_training_alone() -> None:
    attention, x = attention_of([1, 2], dropout=0.5), torch.randn(1, 6, WIDTH)
    memories = attention.project_memory([x, x], [None, None])
    assert not torch.equal(attention.train()(x, memories), attention(x, memories))
    assert torch.equal(attention.eval()(x, memories), attention(x, memories))


def test_half_precision_stays_near() -> None:
    attention, encoded, real = case("three")
    x, biases = torch.randn(2, 4, WIDTH), [padding_bias(each) for each in real]
    with torch.autocast("cpu", torch.bfloat16):
        rough = attention(x, attention.project_memory(encoded, biases))
    exact = attention(x, attention.project_memory(encoded, biases))
    assert torch.allclose(rough.float(), exact, atol=0.1, rtol=0.1)
