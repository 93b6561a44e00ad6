import math

import pytest
import torch
from torch import nn

from espalier.layers.initial import initialise
from espalier.layers.options import Initial


@pytest.mark.parametrize(("initial", "size"), [("normal", 0.02), ("xavier", math.sqrt(2 / (64 + 192)))])
def test_matrices_have_the_deviation_of_their_rule_and_biases_are_zero(initial: Initial, size: float) -> None:
    torch.manual_seed(1)
    module = nn.Linear(64, 192)
    initialise(module, initial)
    assert float(module.weight.std()) == pytest.approx(size, rel=0.03)
    assert not module.bias.any()


@pytest.mark.parametrize("initial", ["normal", "xavier"])
def test_embeddings_are_small_under_both_rules_and_padding_is_zero(initial: Initial) -> None:
    torch.manual_seed(1)
    table = nn.Embedding(500, 64, padding_idx=3)
    initialise(table, initial)
    assert float(table.weight.std()) == pytest.approx(0.02, rel=0.03)
    assert not table.weight[3].any() and table.weight[2].all()


def test_other_modules_and_missing_biases_are_left_alone() -> None:
    norm, plain = nn.LayerNorm(4), nn.Linear(2, 2, bias=False)
    for module in (norm, plain):
        initialise(module)
    assert norm.weight.eq(1).all()
