"""Sinusoidal positions (Vaswani et al. 2017, section 3.5)."""

import math

import torch
from torch import Tensor


def sinusoids(places: int, width: int) -> Tensor:
    """(places, width): the encodings of positions 0, 1, 2 ..."""
    return sinusoids_at(torch.arange(places), width)


def sinusoids_at(positions: Tensor, width: int) -> Tensor:
    """Positions t, (...), to encodings (..., width): sin(t / 10000^(2i/width)) at 2i, and its cosine at 2i + 1."""
    rates = torch.exp(torch.arange(0, width, 2, device=positions.device) * (-math.log(10_000.0) / width))
    angles = positions[..., None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[..., :width]
