"""Residual connections and the feed-forward network."""

from __future__ import annotations

import math
from functools import partial

import pytest
import torch

from espalier.layers.attention import Attention
from espalier.layers.residual import FeedForward, Residual


def normed(x: torch.Tensor, epsilon: float) -> torch.Tensor:
    mean = x.mean(-1, keepdim=True)
    return (x - mean) / ((x - mean).pow(2).mean(-1, keepdim=True) + epsilon).sqrt()


def test_post_norm_comes_after_the_sum_and_pre_norm_before_the_sublayer() -> None:
    x = torch.randn(2, 3, 8)
    post, pre = (Residual(8, norm, 0.0, 1e-12) for norm in ("post", "pre"))
    assert torch.allclose(post(x, torch.tanh), normed(x + x.tanh(), 1e-12), atol=1e-5)
    assert torch.allclose(pre(x, torch.tanh), x + normed(x, 1e-12).tanh(), atol=1e-5)


def test_the_released_form_norms_queries_alone() -> None:
    x, attention = torch.randn(2, 3, 8), Attention(8, 2)
    block = Residual(8, "released", 0.0)
    y = block(x, partial(attention, memory=block.memory(x)))
    assert torch.allclose(y, x + attention(normed(x, 1e-5), x), atol=1e-5)
    assert all(Residual(8, norm, 0.0).memory(x) is None for norm in ("post", "pre"))


def test_a_residual_connection_inside_the_sublayer_is_not_added_twice() -> None:
    x = torch.randn(2, 3, 8)
    post, released = (Residual(8, norm, 0.5).train() for norm in ("post", "released"))
    assert torch.allclose(post(x, torch.tanh, inside=True), normed(x.tanh(), 1e-5), atol=1e-5)
    assert torch.allclose(released(x, torch.tanh, inside=True), normed(x, 1e-5).tanh(), atol=1e-5)


def test_dropout_spares_the_residual_and_evaluation() -> None:
    torch.manual_seed(3)
    x, layer = torch.ones(1, 1, 1000), Residual(1000, "pre", 0.25, 1e-5)
    found = layer.train()(x, torch.ones_like)
    assert found.unique().tolist() == pytest.approx([1.0, 1 + 1 / 0.75])
    assert torch.equal(layer.eval()(x, torch.ones_like), x + 1)


@pytest.mark.parametrize("activation", ["gelu", "gelu_tanh"])
def test_the_activation_is_the_gelu_asked_for(activation: str) -> None:
    layer = FeedForward(1, 1, activation)  # type: ignore[arg-type]
    with torch.no_grad():
        for linear in (layer.into, layer.out):
            linear.weight.fill_(1.0)
            linear.bias.zero_()
    value = 0.7
    exact = value * 0.5 * (1 + math.erf(value / math.sqrt(2)))
    near = 0.5 * value * (1 + math.tanh(math.sqrt(2 / math.pi) * (value + 0.044715 * value**3)))
    wanted = exact if activation == "gelu" else near
    assert layer(torch.tensor([[value]])).item() == pytest.approx(wanted, abs=1e-6)
    assert abs(exact - near) > 1e-5
