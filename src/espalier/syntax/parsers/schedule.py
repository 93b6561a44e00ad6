"""The learning rate of parsers that are trained here."""

from __future__ import annotations


def linear_schedule(step: int, total: int, warmup: int) -> float:
    """The share of the learning rate at a step.

    It rises linearly to 1 in `warmup` steps, and falls linearly to nearly 0 at the last one.

    Args:
        step: from 1 to `total`.
    """
    return min(step / warmup, (total + 1 - step) / max(1, total + 1 - warmup))
