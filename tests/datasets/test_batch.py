"""Which examples train together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from espalier.datasets.batch import Batch, batch_plan, length_batches
from espalier.io.errors import ConfigError

LENGTHS = st.lists(st.integers(1, 60), max_size=60).map(lambda found: np.array(found, dtype=np.int64))


def check(batches: list[np.ndarray], lengths: np.ndarray, budget: int) -> None:
    """Every example once; no batch over budget but one long example alone."""
    assert sorted(index for batch in batches for index in batch.tolist()) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or lengths[batch].max() * len(batch) <= budget


@given(LENGTHS, st.integers(1, 200), st.integers(0, 3), st.integers(1, 3))
def test_a_plan_has_every_example_once_within_its_budget(
    lengths: np.ndarray, budget: int, epoch: int, pool: int
) -> None:
    plan = batch_plan(lengths, budget=budget, seed=1, epoch=epoch, pool=pool)
    check(plan, lengths, budget)
    again = batch_plan(lengths, budget=budget, seed=1, epoch=epoch, pool=pool)
    assert all(np.array_equal(a, b) for a, b in zip(plan, again, strict=True))


@given(LENGTHS, st.integers(1, 200))
def test_evaluation_goes_from_short_to_long(lengths: np.ndarray, budget: int) -> None:
    batches = length_batches(lengths, budget=budget)
    check(batches, lengths, budget)
    order = [int(lengths[index]) for batch in batches for index in batch]
    assert order == sorted(order)


def test_runs_are_as_full_as_the_budget_lets_them() -> None:
    # Padded to 16, 16, 16, 16, 32: four fill 64, the fifth would make 5 x 32.
    assert [batch.tolist() for batch in length_batches(np.array([9, 2, 4, 4, 30]), budget=64)] == [[1, 2, 3, 0], [4]]


def test_epochs_and_seeds_draw_other_batches() -> None:
    lengths = np.arange(1, 200)
    plans = [batch_plan(lengths, budget=300, seed=seed, epoch=epoch) for seed, epoch in ((1, 0), (1, 1), (2, 0))]
    firsts = {tuple(plan[0].tolist()) for plan in plans}
    assert len(firsts) == 3


def test_padding_is_small() -> None:
    lengths = np.random.default_rng(0).integers(20, 200, 2000)
    plan = batch_plan(lengths, budget=2000, seed=1, epoch=0)
    shapes = [(len(batch), -(-int(lengths[batch].max()) // 16) * 16) for batch in plan]
    assert sum(count * width for count, width in shapes) < 1.12 * lengths.sum()
    assert len(set(shapes)) < len(plan) / 4  # few shapes, so that kernels are compiled for few


@dataclass(frozen=True)
class Named(Batch):
    """Targets, and other rows by name."""

    target: Tensor
    others: dict[str, Tensor]


def test_a_part_has_its_rows_of_every_tensor_and_says_which_targets_are_its_own() -> None:
    target = torch.tensor([[5, 6, 7], [5, 0, 0], [5, 6, 0]])
    batch, part = Named(target, {"x": target * 10}).part(slice(1, 3))
    assert batch.target.tolist() == [[5, 0, 0], [5, 6, 0]] and batch.others["x"].tolist() == [[50, 0, 0], [50, 60, 0]]
    assert part.places == {"row": (slice(1, 3), 3), "target": (slice(3, 6), 6)}


def test_a_batch_whose_tensors_count_something_else_cannot_be_shared() -> None:
    batch = Named(torch.ones(3, 2), {"nodes": torch.ones(7)})
    with pytest.raises(ConfigError, match=r"a tensor of Named has no first dimension of rows; override Batch.part"):
        batch.part(slice(0, 1))
