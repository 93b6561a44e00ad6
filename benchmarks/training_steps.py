"""Rounds of training steps, for the races of `train_decoder.py` and `train_transformer.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from itertools import cycle
from typing import Any

import torch
from measuring import timed
from torch import Tensor, nn

from espalier.datasets.batch import Batch
from espalier.training.optimization import Optimizer


def contestant(
    model: nn.Module,
    optimizer: torch.optim.Optimizer | Optimizer,
    loss: Callable[[nn.Module, Any], Tensor],
    batches: Sequence[Batch],
    bf16: bool,
    steps: int,
    tokens: Callable[[Any], Tensor],
) -> Callable[[], float]:
    """Tokens a second of the next few steps. All batches are met before, as kernels are compiled for their shapes.

    Args:
        tokens: how many tokens a batch has.
    """
    ahead: Iterator[Batch] = cycle(batches)

    def run(count: int = steps) -> int:
        seen = 0
        for _ in range(count):
            batch = next(ahead)
            with torch.autocast("cpu", torch.bfloat16) if bf16 else nullcontext():
                value = loss(model, batch)
            value.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            seen += int(tokens(batch))
        return seen

    run(len(batches))
    return timed(run)


def fused(model: nn.Module) -> torch.optim.Optimizer:
    """AdamW as PyTorch has it, fused."""
    return torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
