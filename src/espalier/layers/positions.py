"""Sinusoidal positions (Vaswani et al. 2017, section 3.5)."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def sinusoids(places: int, width: int) -> Tensor:
    """(places, width): sin(t / 10000^(2i/width)) at 2i, the cosine of the same at 2i + 1."""
    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000.0) / width))
    angles = torch.arange(places)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :width]
