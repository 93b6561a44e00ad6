"""Random choices that are the same in every version of Python.

They use `random.Random.random` alone, whose sequence Python guarantees; `choice`, `sample` and `shuffle` have changed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final, TypeVar

from espalier.io.errors import ConfigError

Item = TypeVar("Item")

#: The most rows that are grown.
MAX_COUNT: Final = 1_000_000


def seeded(seed: int, count: int, rows: str, nursery: str) -> random.Random:
    """A generator of random numbers, if so many rows can be asked for.

    Args:
        rows, nursery: what is grown, and by which grammar, for messages.

    Raises:
        ConfigError: the count is negative or too large.
    """
    where = f"nursery {nursery}"
    if not 0 <= count <= MAX_COUNT:
        remedy = f"give a count of 0 or more, {MAX_COUNT:,} at most"
        raise ConfigError(f"cannot grow {count} {rows}", where=where, remedy=remedy)
    return random.Random(seed)


def exhausted(done: int, count: int, rows: str, nursery: str) -> ConfigError:
    """The error of a grammar that generates fewer rows than were asked for; the arguments are those of `seeded`."""
    what = f"the grammar generates only {done} of {count} {rows}"
    return ConfigError(what, where=f"nursery {nursery}", remedy="ask for fewer")


def pick(rng: random.Random, items: Sequence[Item]) -> Item:
    """One of the items, all equally likely."""
    return items[int(rng.random() * len(items))]


def weighted(rng: random.Random, items: Sequence[tuple[Item, int]]) -> Item:
    """One of the items of (item, weight) pairs, with a probability proportional to its weight.

    Weights are integers: sums of floats differ between versions of Python.
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
