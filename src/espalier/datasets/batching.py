"""Batch plans: which examples form each batch. The same seed gives the same plan on every machine."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]

#: Row lengths are padded to multiples of `GRAIN`, and batch sizes are cut to multiples of `SIZE_GRAIN`, so that few
#: shapes occur. bfloat16 kernels are compiled once per shape; on a CPU that can take longer than the products.
GRAIN, SIZE_GRAIN = 16, 4


def batch_plan(lengths: IntArray, *, budget: int, seed: int, epoch: int, pool: int = 100) -> list[IntArray]:
    """The batches of one epoch, as arrays of indices into `lengths`.

    Examples are shuffled, sorted by length within pools of about `pool` batches, and cut into batches, which are then
    shuffled. The padded size of a batch, at most `budget` tokens, is its number of examples times its longest length
    rounded up to a multiple of `GRAIN`. The plan depends only on the arguments.

    Args:
        lengths: (examples,) number of tokens of each example.
        budget: the largest padded size, in tokens. A longer example is a batch of its own.
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
    """Batches of all examples, the shortest first, for evaluation."""
    return _cut(np.argsort(lengths, kind="stable"), lengths, budget)


def _cut(order: IntArray, lengths: IntArray, budget: int) -> list[IntArray]:
    """Cut indices, sorted by increasing length, into runs whose padded size is at most `budget`."""
    padded = -(-lengths[order] // GRAIN) * GRAIN
    runs, start = [], 0
    while start < len(order):
        end = start + 1
        while end < len(order) and (end + 1 - start) * padded[end] <= budget:
            end += 1
        if end < len(order) and end - start > SIZE_GRAIN:
            end -= (end - start) % SIZE_GRAIN
        runs.append(order[start:end])
        start = end
    return runs
