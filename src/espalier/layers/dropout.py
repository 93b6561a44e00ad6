"""Dropout with masks that cost little on a CPU."""

import torch
import torch.nn.functional as F
from torch import Tensor

#: A place's share of a random word, 16 bits: `rate` is rounded to a multiple of 1 / LEVELS.
LEVELS = 1 << 16


def dropout(x: Tensor, rate: float, training: bool = True) -> Tensor:
    """`F.dropout`; on a CPU one random 64-bit word serves four places. Masks depend on torch's seed.

    Args:
        x: a tensor of any shape.
        rate: the share of places that become 0; the others are divided by 1 - `rate`.
        training: if False, `x` is returned.
    """
    dropped = round(rate * LEVELS)
    if not (training and dropped):
        return x
    if x.device.type != "cpu" or dropped == LEVELS:
        return F.dropout(x, rate)
    words = torch.empty(-(-x.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
    kept = words.view(torch.int16)[: x.numel()].view(x.shape) >= dropped - LEVELS // 2
    return x * kept.to(x.dtype).mul_(LEVELS / (LEVELS - dropped))
