"""Batches: which examples train together, drawn the same from the same seed on every machine."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]

#: Lengths are padded to multiples of `GRAIN`, counts cut to multiples of `CREW`: few shapes occur then. Matrix kernels
#: in bfloat16 are compiled for each shape, which on a CPU can cost three times what they compute.
GRAIN, CREW = 16, 4


def batch_plan(lengths: IntArray, *, budget: int, seed: int, epoch: int, pool: int = 100) -> list[IntArray]:
    """The batches of one epoch, each an array of indices into `lengths`.

    Examples are shuffled, sorted by length within pools of about `pool` batches, and cut so that a batch's padded size
    (its longest length, rounded up to a multiple of `GRAIN`, times its count) stays within `budget` tokens; then the
    batches are shuffled. So padding is small, shapes are few, neighbours change with every epoch, and the plan depends
    on nothing but its arguments.

    Args:
        lengths: (examples,) tokens of each.
        budget: tokens a batch, padding counted. An example longer than this is a batch of its own.
    """
    rng = np.random.default_rng([seed, epoch])
    order = rng.permutation(len(lengths))
    mean = max(1.0, float(lengths.mean())) if len(lengths) else 1.0
    size = max(1, int(pool * budget / mean))
    batches = []
    for start in range(0, len(order), size):
        part = order[start : start + size]
        batches += _cut(part[np.argsort(lengths[part], kind="stable")], lengths, budget)
    return [batches[index] for index in rng.permutation(len(batches))]


def length_batches(lengths: IntArray, *, budget: int) -> list[IntArray]:
    """All examples once, shortest first, for evaluation."""
    return _cut(np.argsort(lengths, kind="stable"), lengths, budget)


def _cut(order: IntArray, lengths: IntArray, budget: int) -> list[IntArray]:
    """Cut indices in ascending order of length into runs whose padded size is within `budget`."""
    padded = -(-lengths[order] // GRAIN) * GRAIN
    runs, start = [], 0
    while start < len(order):
        end = start + 1
        while end < len(order) and (end + 1 - start) * padded[end] <= budget:
            end += 1
        if end < len(order) and end - start > CREW:
            end -= (end - start) % CREW
        runs.append(order[start:end])
        start = end
    return runs
