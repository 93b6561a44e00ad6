"""The attention core against loops over places and heads."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from espalier.layers.attention import Attention, KeyValues, padding_bias, select_all

WIDTH, HEADS = 12, 3


@pytest.fixture
def attention() -> Attention:
    torch.manual_seed(1)
    return Attention(WIDTH, HEADS).eval()


def slow(attention: Attention, x: Tensor, memory: Tensor, seen: Tensor) -> Tensor:
    """softmax(q k / sqrt(d)) v, place by place; `seen` is (batch, time, memory time) bool."""
    weight, bias = attention.project.weight.detach(), attention.project.bias.detach()
    (wq, wk, wv), (bq, bk, bv) = weight.chunk(3), bias.chunk(3)
    d = WIDTH // HEADS
    found = torch.zeros_like(x)
    for row in range(len(x)):
        for t in range(x.shape[1]):
            for head in range(HEADS):
                part = slice(head * d, (head + 1) * d)
                query = wq[part] @ x[row, t] + bq[part]
                places = [m for m in range(memory.shape[1]) if seen[row, t, m]]
                scores = [float(query @ (wk[part] @ memory[row, m] + bk[part])) / math.sqrt(d) for m in places]
                top = max(scores)
                mass = [math.exp(score - top) for score in scores]
                for part_of, m in zip(mass, places, strict=True):
                    found[row, t, part] += part_of / sum(mass) * (wv[part] @ memory[row, m] + bv[part])
    return found @ attention.out.weight.T + attention.out.bias


def test_causal_attention_sees_what_is_not_later(attention: Attention) -> None:
    x = torch.randn(2, 5, WIDTH)
    seen = torch.ones(5, 5, dtype=torch.bool).tril().expand(2, 5, 5)
    assert torch.allclose(attention(x, causal=True), slow(attention, x, x, seen), atol=1e-5)


def test_attention_over_a_memory_hides_its_padding(attention: Attention) -> None:
    x, memory = torch.randn(2, 4, WIDTH), torch.randn(2, 6, WIDTH)
    real = torch.tensor([[True] * 6, [True] * 3 + [False] * 3])
    bias = padding_bias(real)
    wanted = slow(attention, x, memory, real[:, None].expand(2, 4, 6))
    assert torch.allclose(attention(x, memory, bias=bias), wanted, atol=1e-5)
    assert torch.allclose(attention(x, attention.project_memory(memory), bias=bias), wanted, atol=1e-5)
    added = torch.zeros(2, 1, 1, 6).masked_fill(~real[:, None, None], -torch.inf)
    assert torch.allclose(attention(x, memory, bias=added), wanted, atol=1e-5)


def test_without_padding_there_is_no_bias() -> None:
    assert padding_bias(torch.ones(2, 3, dtype=torch.bool)) is None


@pytest.mark.parametrize("capacity", [0, 2, 40])
def test_steps_with_a_cache_of_any_size_equal_the_whole(attention: Attention, capacity: int) -> None:
    x = torch.randn(2, 20, WIDTH)
    past = attention.empty(2, capacity, x)
    steps = [attention.step(x[:, t : t + 1], past, t) for t in range(20)]
    assert torch.allclose(torch.cat(steps, 1), attention(x, causal=True), atol=1e-5)


def test_selected_rows_are_copies() -> None:
    cache = KeyValues(torch.arange(6.0).reshape(3, 1, 2, 1), torch.zeros(3, 1, 2, 1))
    (chosen,) = select_all([cache], torch.tensor([2, 0, 2]))
    assert chosen.keys[:, 0, 0, 0].tolist() == [4.0, 0.0, 4.0]
    chosen.keys.zero_()
    assert cache.keys[2, 0, 0, 0] == 4.0


def test_a_width_that_the_heads_do_not_divide_is_refused() -> None:
    with pytest.raises(ValueError, match="width 10 is no multiple of 3 heads"):
        Attention(10, 3)


def test_dropout_acts_in_training_alone() -> None:
    attention, x = Attention(WIDTH, HEADS, 0.5), torch.randn(1, 6, WIDTH)
    assert not torch.equal(attention.train()(x), attention(x))
    assert torch.equal(attention.eval()(x), attention(x))
