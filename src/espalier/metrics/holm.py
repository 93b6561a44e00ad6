"""Holm's step-down correction of p-values (Holm 1979)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate


def holm(probabilities: Sequence[float]) -> list[float]:
    """Adjusted p, in the order given (Holm 1979).

    The i-th smallest of m, from 1, is multiplied by m - i + 1; none is below a smaller one's, and none is above 1. To
    reject where the adjusted p is below alpha keeps the chance of any false rejection below alpha, however the tests
    depend on each other.
    """
    count = len(probabilities)
    order = sorted(range(count), key=probabilities.__getitem__)
    scaled = (min(1.0, probabilities[index] * (count - rank)) for rank, index in enumerate(order))
    adjusted = dict(zip(order, accumulate(scaled, max), strict=True))
    return [adjusted[index] for index in range(count)]
