"""Dropout against what defines it: shares, scale, independence, gradients."""

from __future__ import annotations

import math

import pytest
import torch

from espalier.datasets.part import Part, computing
from espalier.layers.dropout import dropout


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_share_of_zeros_is_the_rate_and_the_others_keep_the_mean(rate: float, dtype: torch.dtype) -> None:
    torch.manual_seed(3)
    count = 200_003  # no multiple of the four places of a word
    y = dropout(torch.ones(count, dtype=dtype), rate)
    assert y.dtype == dtype
    assert abs(float((y == 0).float().mean()) - rate) < 5 * math.sqrt(rate * (1 - rate) / count)
    kept = y[y != 0]
    assert torch.allclose(kept.float(), torch.full_like(kept, 1 / (1 - rate)).float(), rtol=1e-2)
    if dtype == torch.float32:
        assert torch.allclose(kept, torch.full_like(kept, 1 / (1 - rate)), rtol=1e-4)


def test_the_four_places_of_a_word_are_independent() -> None:
    torch.manual_seed(4)
    zero = (dropout(torch.ones(100_000, 4), 0.4) == 0).double()
    error = 5 * 0.24 / math.sqrt(100_000)
    assert torch.allclose(torch.cov(zero.T), torch.eye(4, dtype=torch.float64) * 0.24, atol=error)
    both = zero[:-1, :].T @ zero[1:, :] / len(zero)  # nor on those of the next word
    assert torch.allclose(both, torch.full_like(both, 0.16), atol=error)


def test_the_gradient_passes_where_the_input_was_kept() -> None:
    torch.manual_seed(5)
    x = torch.randn(5, 7, 3, requires_grad=True)
    y = dropout(x, 0.5)
    y.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad, torch.where(y == 0, 0.0, 2.0))


def test_masks_follow_from_the_seed_and_differ_from_call_to_call() -> None:
    x = torch.ones(64)
    torch.manual_seed(6)
    first, second = dropout(x, 0.5), dropout(x, 0.5)
    torch.manual_seed(6)
    assert torch.equal(dropout(x, 0.5), first)
    assert not torch.equal(first, second)


def test_nothing_is_dropped_at_rate_0_or_outside_training_and_all_at_rate_1() -> None:
    x = torch.randn(9)
    assert dropout(x, 0.0) is x
    assert dropout(x, 1e-9) is x
    assert dropout(x, 0.5, training=False) is x
    assert torch.equal(dropout(x, 1.0), torch.zeros(9))


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 0, 2)])
def test_any_shape_is_kept(shape: tuple[int, ...]) -> None:
    assert dropout(torch.ones(shape), 0.5).shape == shape


def test_the_parts_of_a_batch_have_the_masks_of_the_whole() -> None:
    x, nodes = torch.randn(5, 3), torch.tensor([0, 3])
    torch.manual_seed(8)
    whole, after = dropout(x, 0.5), torch.rand(1)
    for unit, own in (("row", slice(1, 4)), ("node", nodes)):
        torch.manual_seed(8)
        with computing(Part({unit: (own, 5)})):  # type: ignore[dict-item]
            assert torch.equal(dropout(x[own], 0.5, unit=unit), whole[own])  # type: ignore[arg-type]
        assert torch.equal(torch.rand(1), after)


def test_a_tensor_of_another_unit_is_refused() -> None:
    with (
        computing(Part({"row": (slice(0, 2), 4), "target": (slice(0, 7), 9)})),
        pytest.raises(ValueError, match="7 rows where this process has 2; name the unit"),
    ):
        dropout(torch.ones(7, 3), 0.5)
