"""The learning-rate schedule of parsers trained here."""

from __future__ import annotations


def linear_schedule(step: int, total: int, warmup: int) -> float:
    """The factor of the learning rate at a step.

    It rises linearly to 1 over `warmup` steps, and then falls linearly to almost 0 at the last step.

    Args:
        step: number of the step, from 1 to `total`.
    """
    return min(step / warmup, (total + 1 - step) / max(1, total + 1 - warmup))
