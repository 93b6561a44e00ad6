"""Learned positions, and sinusoidal ones (Vaswani et al. 2017, section 3.5)."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor


def learned(table: Tensor, places: int, padding: int) -> Tensor:
    """(places, width): the first rows of a table of positions, (positions, width), and zeros beyond its end.

    Args:
        padding: the largest number of places beyond the table. A batch has only padding there, whose values are never
            read.

    Raises:
        ValueError: there are more places.
    """
    beyond = places - len(table)
    if beyond > padding:
        raise ValueError(f"a text of {places} tokens for {len(table)} positions")
    return F.pad(table, (0, 0, 0, beyond)) if beyond > 0 else table[:places]


def sinusoids(places: int, width: int) -> Tensor:
    """(places, width): the encodings of positions 0, 1, 2 ..."""
    return sinusoids_at(torch.arange(places), width)


def sinusoids_at(positions: Tensor, width: int) -> Tensor:
    """Positions t, (...), to encodings (..., width): sin(t / 10000^(2i/width)) at 2i, and its cosine at 2i + 1."""
    rates = torch.exp(torch.arange(0, width, 2, device=positions.device) * (-math.log(10_000.0) / width))
    angles = positions[..., None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[..., :width]
