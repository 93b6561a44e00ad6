"""Correction of p-values for the number of claims that are tested together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate


def holm(probabilities: Sequence[float]) -> list[float]:
    """Adjusted p-values, in the given order (Holm 1979).

    The i-th smallest of m, from 1, is multiplied by m - i + 1; adjusted values are made monotone and at most 1.
    Rejecting if the adjusted p is below alpha keeps the probability of any false rejection below alpha, even for
    dependent tests.
    """
    count = len(probabilities)
    order = sorted(range(count), key=probabilities.__getitem__)
    scaled = (min(1.0, probabilities[index] * (count - rank)) for rank, index in enumerate(order))
    adjusted = dict(zip(order, accumulate(scaled, max), strict=True))
    return [adjusted[index] for index in range(count)]
