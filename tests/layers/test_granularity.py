"""Granularity and its masks: worked examples, equations in loops, and what holds for every z."""

from __future__ import annotations

import math
from typing import Any, get_args

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from espalier.layers.granularity import Granularity, resonance, scope
from espalier.layers.options import GranularityMask

#: The worked example: six tokens, epsilon 2.
Z = torch.tensor([0, 0.25, 0.5, 1, 0, 1])
PLACES = torch.arange(6)
DISTANCES = (PLACES[:, None] - PLACES).abs()
levels = st.lists(st.floats(0, 1), min_size=1, max_size=9).map(torch.tensor)


def scope_of(z: Tensor, epsilon: float = 2.0, length: int | None = None) -> Tensor:
    count = len(z)
    places = torch.arange(count)
    return scope(z, (places[:, None] - places).abs(), torch.tensor(length or count), epsilon)


def c(one: float, other: float) -> float:
    """Equation 6."""
    return (1 - one) * max(0, 1 - (one + other)) + one * min(1, 1 - one + other)


def s(one: float, distance: int, length: int, epsilon: float) -> float:
    """Equation 8."""
    return max(0, min(1, (length - epsilon) ** (1 - one) + epsilon - distance))


# --- Worked out by hand -----------------------------------------------------------------------------------------------


def test_resonance_is_that_of_the_worked_example() -> None:
    rows = resonance(Z, Z)
    assert rows[0].tolist() == [1, 0.75, 0.5, 0, 1, 0]
    assert rows[1].tolist() == [0.75, 0.625, 0.4375, 0.25, 0.75, 0.25]
    assert rows[2].tolist() == [0.5] * 6
    assert rows[3].tolist() == rows[5].tolist() == [0, 0.25, 0.5, 1, 0, 1]


def test_resonance_of_two_levels_is_equation_5_and_is_not_symmetric_between_them() -> None:
    two = torch.tensor([0.0, 1.0])
    assert resonance(two, two).tolist() == [[1, 0], [0, 1]]
    assert resonance(two[1:], torch.tensor([0.5])).item() == 0.5
    # z_i = 1/4 to z_j = 1 is 1/4; back it is 1 - 1 + 1/4 = 1/4; but 1/2 to 1/4 is 1/2, and 1/4 to 1/2 is 0.4375.
    assert resonance(Z, Z)[2, 1] == 0.5 and resonance(Z, Z)[1, 2] == 0.4375


def test_scope_is_that_of_the_worked_example() -> None:
    rows = scope_of(Z)
    assert all(rows[place].tolist() == [1] * 6 for place in (0, 2, 4))
    assert rows[1].tolist() == pytest.approx([1, 1, 1, 1, 1, 4**0.75 + 2 - 4])  # .828427
    assert rows[3].tolist() == [0, 1, 1, 1, 1, 1]
    assert rows[5].tolist() == [0, 0, 0, 1, 1, 1]


def test_a_detail_reaches_two_places_by_equation_7_and_one_by_the_text() -> None:
    detail = torch.ones(9)
    assert scope_of(detail)[4].tolist() == [0, 0, 1, 1, 1, 1, 1, 0, 0]
    assert scope_of(detail, epsilon=1.0)[4].tolist() == [0, 0, 0, 1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize("length", [1, 2, 3])
def test_rows_of_up_to_three_tokens_are_all_in_scope(length: int) -> None:
    for z in (0.0, 0.3, 1.0):
        assert scope_of(torch.full((length,), z)).eq(1).all()


def test_z_has_a_gradient_where_n_is_as_small_as_epsilon() -> None:
    z = torch.tensor([0.2, 0.9], requires_grad=True)
    scope(z, torch.tensor([[0, 1], [1, 0]]), torch.tensor([1, 2]), 2.0).sum().backward()
    assert z.grad is not None and z.grad.isfinite().all()


# --- For every z ------------------------------------------------------------------------------------------------------


@given(levels)
def test_resonance_is_equation_6_between_0_and_1_and_at_least_a_half_with_itself(z: Tensor) -> None:
    rows = resonance(z, z)
    wanted = [[c(one, other) for other in z.tolist()] for one in z.tolist()]
    assert torch.allclose(rows, torch.tensor(wanted), atol=1e-6)
    assert rows.min() >= 0 and rows.max() <= 1 and rows.diagonal().min() >= 0.5 - 1e-6


@given(levels, st.sampled_from([0.0, 1.0, 2.0, 2.5]), st.integers(0, 20))
def test_scope_is_equation_8_between_0_and_1_and_1_with_itself(z: Tensor, epsilon: float, more: int) -> None:
    length = len(z) + more
    rows = scope_of(z, epsilon, length)
    assert rows.min() >= 0 and rows.max() <= 1 and rows.diagonal().eq(1).all()
    for i, one in enumerate(z.tolist()):
        for j in range(len(z)):
            wanted = s(one, abs(i - j), length, epsilon) if length > epsilon else 1
            if length - epsilon < 1 and abs(i - j) <= epsilon:
                wanted = 1
            assert rows[i, j].item() == pytest.approx(wanted, abs=1e-4)


@given(levels, st.floats(0, 1), st.floats(0, 1))
def test_a_token_of_the_template_reaches_no_less_than_one_of_the_details(z: Tensor, one: float, other: float) -> None:
    low, high = sorted((one, other))
    distances = torch.arange(20)[None]
    reach = [scope(torch.tensor([level]), distances, torch.tensor(20), 2.0) for level in (low, high)]
    assert (reach[0] >= reach[1] - 1e-6).all()
    assert (scope(torch.zeros(1), distances, torch.tensor(20), 2.0) == 1).all()


# --- The head ---------------------------------------------------------------------------------------------------------


def test_granularity_is_a_sigmoid_of_one_linear_map() -> None:
    layer = Granularity(3, "product")
    with torch.no_grad():
        layer.head.weight.copy_(torch.tensor([[1.0, -2.0, 0.5]]))
        layer.head.bias.fill_(0.25)
    z = layer(torch.tensor([[[1.0, 0.5, 2.0], [0.0, 0.0, 0.0]]]))
    assert z.tolist() == [[pytest.approx(1 / (1 + math.exp(-1.25))), pytest.approx(1 / (1 + math.exp(-0.25)))]]
    assert layer(torch.randn(1, 2, 3, dtype=torch.bfloat16).float()).dtype == torch.float32


@pytest.mark.parametrize("mask", get_args(GranularityMask))
def test_masks_are_combined_element_by_element(mask: Any) -> None:
    found = Granularity(3, mask, 2.0, renormalised=True).factors(Z[None], Z[None], PLACES, torch.tensor([[6]]))
    wanted = {
        "resonance": resonance(Z, Z),
        "scope": scope_of(Z),
        "product": resonance(Z, Z) * scope_of(Z),
        "average": 0.5 * resonance(Z, Z) + 0.5 * scope_of(Z),
    }[mask]
    assert found.values.shape == (1, 1, 6, 6) and found.renormalised
    assert torch.equal(found.values[0, 0], wanted)


def test_the_mask_of_some_places_is_their_part_of_the_whole() -> None:
    layer = Granularity(3, "product")
    whole = layer.factors(Z[None], Z[None], PLACES, torch.tensor([6])).values
    part = layer.factors(Z[None, 4:], Z[None], PLACES[4:], torch.tensor([6])).values
    assert torch.equal(part, whole[:, :, 4:])
