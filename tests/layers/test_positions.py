"""Sinusoidal positions by hand."""

from __future__ import annotations

import math

import pytest
import torch

from espalier.layers.positions import sinusoids


def test_values_are_those_of_the_formula() -> None:
    found = sinusoids(3, 4)  # rates 1 and 1/100
    assert found[0].tolist() == [0, 1, 0, 1]
    assert found[1].tolist() == pytest.approx([0.841471, 0.540302, 0.0099998, 0.99995], abs=1e-6)
    assert found[2].tolist() == pytest.approx([0.909297, -0.416147, 0.0199987, 0.99980], abs=1e-6)


@pytest.mark.parametrize("width", [2, 7, 256])
def test_each_value_is_the_sine_or_cosine_of_its_place(width: int) -> None:
    found = sinusoids(513, width)
    assert found.shape == (513, width)
    for place in (1, 40, 512):
        for column in (0, 1, width // 2, width - 1):
            angle = place / 10_000 ** (column // 2 * 2 / width)
            wanted = math.cos(angle) if column % 2 else math.sin(angle)
            assert found[place, column].item() == pytest.approx(wanted, abs=1e-4)


def test_no_two_places_are_alike_and_none_are_none() -> None:
    found = sinusoids(512, 16)
    assert len(torch.unique(found, dim=0)) == 512
    assert sinusoids(0, 8).shape == (0, 8)
