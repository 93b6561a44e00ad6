"""Draws that never change: everything comes from `random.Random.random`, whose sequence Python promises to keep.

`choice`, `sample` and `shuffle` have changed between versions of Python, and a corpus that grows from a seed must not.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def pick(rng: random.Random, items: Sequence[Item]) -> Item:
    """One of the items, all equally likely."""
    return items[int(rng.random() * len(items))]


def weighted(rng: random.Random, items: Sequence[tuple[Item, int]]) -> Item:
    """One of the items of (item, weight) pairs, in proportion to its weight.

    Weights are whole numbers, because a sum of floats is another in another Python.
    """
    left = int(rng.random() * sum(weight for _, weight in items))
    for item, weight in items:
        left -= weight
        if left < 0:
            return item
    raise ValueError("no item has a weight")


def chance(rng: random.Random, probability: float) -> bool:
    """True with that probability."""
    return rng.random() < probability
