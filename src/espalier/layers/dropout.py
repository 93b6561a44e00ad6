"""Dropout with masks that cost little on a CPU, and that do not depend on how many processes share a batch."""

import torch
import torch.nn.functional as F
from torch import Tensor

from espalier.datasets.part import Unit, present_part
from espalier.layers.device import on_host

#: A place's share of a random word, 16 bits: `rate` is rounded to a multiple of 1 / LEVELS.
LEVELS = 1 << 16


def dropout(x: Tensor, rate: float, training: bool = True, *, unit: Unit = "row") -> Tensor:
    """`F.dropout`; on a CPU one random 64-bit word serves four places. Masks depend on torch's seed.

    Args:
        x: a tensor of any shape; in training by several processes its first dimension counts `unit`.
        rate: the share of places that become 0; the others are divided by 1 - `rate`.
        training: if False, `x` is returned.
    """
    if not (training and round(rate * LEVELS)):
        return x
    part = present_part()
    if part is None:
        return _dropped(x, rate)
    own, count = part.places[unit]
    mask = _dropped(x.new_ones(count, *x.shape[1:]), rate)[own]
    if mask.shape != x.shape:
        raise ValueError(f"{len(x)} {unit}s where this process has {len(mask)}; name the unit of the first dimension")
    return x * mask


def _dropped(x: Tensor, rate: float) -> Tensor:
    dropped = round(rate * LEVELS)
    if not on_host(x) or dropped == LEVELS:
        return F.dropout(x, rate)
    words = torch.empty(-(-x.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
    kept = words.view(torch.int16)[: x.numel()].view(x.shape) >= dropped - LEVELS // 2
    return x * kept.to(x.dtype).mul_(LEVELS / (LEVELS - dropped))
