"""Random choices that are the same in all versions of Python.

They only use `random.Random.random`, whose sequence Python guarantees, unlike `choice`, `sample` and `shuffle`.
"""

import random
from collections.abc import Sequence
from typing import Final, TypeVar

from espalier.io.errors import ConfigError

Item = TypeVar("Item")

#: The most rows that are grown.
MAX_COUNT: Final = 1_000_000


def seeded(seed: int, count: int, rows: str, nursery: str) -> random.Random:
    """A generator of random numbers, after checking the requested number of rows.

    Args:
        rows, nursery: names of the rows and of the grammar, for messages.

    Raises:
        ConfigError: the count is negative or too large.
    """
    where = f"nursery {nursery}"
    if not 0 <= count <= MAX_COUNT:
        remedy = f"give a count of 0 or more, {MAX_COUNT:,} at most"
        raise ConfigError(f"cannot grow {count} {rows}", where=where, remedy=remedy)
    return random.Random(seed)


def exhausted(done: int, count: int, rows: str, nursery: str) -> ConfigError:
    """The error for a grammar that generates fewer rows than requested. Arguments are as in `seeded`."""
    what = f"the grammar generates only {done} of {count} {rows}"
    return ConfigError(what, where=f"nursery {nursery}", remedy="ask for fewer")


def pick(rng: random.Random, items: Sequence[Item]) -> Item:
    """One of the items, chosen uniformly."""
    return items[int(rng.random() * len(items))]


def weighted(rng: random.Random, items: Sequence[tuple[Item, int]]) -> Item:
    """One item of (item, weight) pairs, chosen in proportion to its weight.

    Weights are integers: sums of floats differ between versions of Python.
    """
    left = int(rng.random() * sum(weight for _, weight in items))
    for item, weight in items:
        left -= weight
        if left < 0:
            return item
    raise ValueError("no item has a weight")


def chance(rng: random.Random, probability: float) -> bool:
    """True with the given probability."""
    return rng.random() < probability
