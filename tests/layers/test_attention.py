"""The attention core against loops over places and heads."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from espalier.layers.attention import Attention, Factors, dot_product_attention, padding_bias

WIDTH, HEADS = 12, 3


@pytest.fixture
def attention() -> Attention:
    torch.manual_seed(1)
    return Attention(WIDTH, HEADS).eval()


def slow(attention: Attention, x: Tensor, memory: Tensor, seen: Tensor, factors: Factors | None = None) -> Tensor:
    """softmax(q k / sqrt(d)) v, place by place; `seen` is (batch, time, memory time) bool.

    With factors each weight is multiplied; renormalised, divided by the sum of the products.
    """
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
                mass = [math.exp(query @ (wk[part] @ memory[row, m] + bk[part]) / math.sqrt(d)) for m in places]
                weights = [one / sum(mass) for one in mass]
                if factors is not None:
                    given = [float(factors.values[row, 0, t, m]) for m in places]
                    weights = [one * other for one, other in zip(weights, given, strict=True)]
                    if factors.renormalised:
                        weights = [product / sum(weights) for product in weights]
                for one, m in zip(weights, places, strict=True):
                    found[row, t, part] += one * (wv[part] @ memory[row, m] + bv[part])
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


def test_a_width_that_the_heads_do_not_divide_is_refused() -> None:
    with pytest.raises(ValueError, match="width 10 is no multiple of 3 heads"):
        Attention(10, 3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    ("kind", "causal"), [("none", False), ("none", True), ("hidden", False), ("added", False)]
)  # torch's own function takes a bias or a causal mask
def test_attention_with_dropout_is_that_without_where_nothing_is_dropped(
    kind: str, causal: bool, dtype: torch.dtype
) -> None:
    torch.manual_seed(7)
    query, key, value = (torch.randn(2, 3, 5, 4, dtype=dtype) for _ in range(3))
    hidden = torch.rand(2, 1, 5, 5) < 0.7
    hidden[..., 0] = True
    bias = {"none": None, "hidden": hidden, "added": torch.randn(2, 3, 5, 5)}[kind]
    without = dot_product_attention(query, key, value, bias, 0.0, causal)
    least = dot_product_attention(query, key, value, bias, 1e-9, causal)  # no place in 65,536 is dropped
    assert least.dtype == without.dtype == dtype
    assert torch.allclose(least.float(), without.float(), atol=1e-6 if dtype == torch.float32 else 1e-2)


def test_the_mean_over_dropout_masks_is_attention_without_dropout() -> None:
    torch.manual_seed(8)
    query, key, value = torch.randn(1, 1, 3, 4), torch.randn(1, 1, 6, 4), torch.randn(1, 1, 6, 4)
    copies = dot_product_attention(*(part.expand(20_000, 1, -1, -1) for part in (query, key, value)), None, 0.3)
    assert torch.allclose(copies.mean(0), dot_product_attention(query, key, value)[0], atol=0.05)


def test_dropout_acts_in_training_alone() -> None:
    attention, x = Attention(WIDTH, HEADS, 0.5), torch.randn(1, 6, WIDTH)
    assert not torch.equal(attention.train()(x), attention(x))
    assert torch.equal(attention.eval()(x), attention(x))


# --- Factors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("renormalised", [False, True])
def test_factors_multiply_the_weights(attention: Attention, renormalised: bool) -> None:
    x, memory = torch.randn(2, 5, WIDTH), torch.randn(2, 4, WIDTH)
    over_x, over_memory = (Factors(torch.rand(2, 1, 5, n), renormalised) for n in (5, 4))
    before = torch.ones(5, 5, dtype=torch.bool).tril().expand(2, 5, 5)
    wanted = slow(attention, x, x, before, over_x)
    assert torch.allclose(attention(x, causal=True, factors=over_x), wanted, atol=1e-5)
    real = torch.tensor([[True] * 4, [True] * 2 + [False] * 2])
    wanted = slow(attention, x, memory, real[:, None].expand(2, 5, 4), over_memory)
    for bias in (padding_bias(real), torch.zeros(2, 1, 1, 4).masked_fill(~real[:, None, None], -torch.inf)):
        assert torch.allclose(attention(x, memory, bias=bias, factors=over_memory), wanted, atol=1e-5)


@pytest.mark.parametrize("renormalised", [False, True])
def test_factors_of_1_change_nothing_and_factors_of_0_leave_nothing_or_all(
    attention: Attention, renormalised: bool
) -> None:
    x = torch.randn(2, 5, WIDTH)
    ones, zeros = (Factors(torch.full((2, 1, 5, 5), value), renormalised) for value in (1.0, 0.0))
    plain = attention(x, causal=True)
    assert torch.allclose(attention(x, causal=True, factors=ones), plain, atol=1e-6)
    # Renormalised, equal factors cancel, as in the released code; as written nothing but the output's bias is left.
    left = plain if renormalised else attention.out.bias.expand_as(plain)
    assert torch.allclose(attention(x, causal=True, factors=zeros), left, atol=1e-5)


@pytest.mark.parametrize("renormalised", [False, True])
def test_steps_with_factors_equal_the_whole(attention: Attention, renormalised: bool) -> None:
    x, values = torch.randn(2, 9, WIDTH), torch.rand(2, 1, 9, 9)
    past, found = attention.empty(2, 4, x), []
    for t in range(9):
        factors = Factors(values[:, :, t : t + 1, : t + 1], renormalised)
        found.append(attention.step(x[:, t : t + 1], past, t, factors=factors))
    assert torch.allclose(
        torch.cat(found, 1), attention(x, causal=True, factors=Factors(values, renormalised)), atol=1e-5
    )


@pytest.mark.parametrize("renormalised", [False, True])
def test_a_row_whose_places_are_all_hidden_gives_numbers_and_gradients(
    attention: Attention, renormalised: bool
) -> None:
    x, values = torch.randn(2, 3, WIDTH, requires_grad=True), torch.rand(2, 1, 3, 3, requires_grad=True)
    bias = padding_bias(torch.tensor([[True] * 3, [False] * 3]))
    found = attention(x, bias=bias, factors=Factors(values, renormalised))
    found.sum().backward()
    assert found.isfinite().all() and x.grad is not None and x.grad.isfinite().all() and values.grad is not None


@pytest.mark.parametrize("renormalised", [False, True])
def test_factors_under_bfloat16_are_those_of_float32(attention: Attention, renormalised: bool) -> None:
    x, factors = torch.randn(2, 6, WIDTH), Factors(torch.rand(2, 1, 6, 6), renormalised)
    wanted = attention(x, causal=True, factors=factors)
    with torch.autocast("cpu", torch.bfloat16):
        found = attention(x, causal=True, factors=factors)
    assert torch.allclose(found.float(), wanted, atol=0.05)


def test_dropout_of_factored_weights_acts_in_training_alone() -> None:
    attention, x = Attention(WIDTH, HEADS, 0.5), torch.randn(1, 6, WIDTH)
    for renormalised in (False, True):
        factors = Factors(torch.rand(1, 1, 6, 6), renormalised)
        attention.train()
        assert not torch.equal(attention(x, factors=factors), attention(x, factors=factors))
        attention.eval()
        assert torch.equal(attention(x, factors=factors), attention(x, factors=factors))


def test_weights_mix_the_values_to_what_forward_gives(attention: Attention) -> None:
    x, memory = torch.randn(2, 3, WIDTH), torch.randn(2, 5, WIDTH)
    for bias in (None, torch.tensor([True, True, False, True, True])[None, None, None], torch.randn(1, HEADS, 3, 5)):
        weights = attention.weights(x, memory, bias=bias)
        assert torch.allclose(weights.sum(-1), torch.ones(2, HEADS, 3))
        mixed = (weights @ attention.project_memory(memory).values).transpose(1, 2).flatten(2)
        found = mixed @ attention.out.weight.T + attention.out.bias
        assert torch.allclose(found, attention(x, memory, bias=bias), atol=1e-6)


def test_a_step_does_not_see_the_places_that_its_bias_hides(attention: Attention) -> None:
    x = torch.randn(2, 4, WIDTH)
    shown = torch.tensor([[True, False, True, True], [True, True, False, True]])
    past = attention.empty(2, 4, x)
    for t in range(4):
        found = attention.step(x[:, t : t + 1], past, t, bias=shown[:, None, None, : t + 1])
    wanted = slow(attention, x, x, shown[:, None].expand(2, 4, 4))[:, 3:]
    assert torch.allclose(found, wanted, atol=1e-5)
