"""Hypotheses that share what was computed of their source: a beam never copies its memory."""

from __future__ import annotations

import torch
from torch import Tensor


def memory_rows(index: Tensor, prefixes: int, sources: int) -> Tensor | None:
    """Whose memories a selection of prefixes needs; None where it needs all of them, as they are.

    A memory has a row a source, which equally many prefixes, one after the other, share. While a selection leaves it
    so, it still has a row a source; else a row for each prefix.

    Args:
        index: (selected,) of the prefixes.
        prefixes, sources: how many there are before the selection.

    Returns:
        (rows,) of the memory, in the order needed.
    """
    owner = index // max(1, prefixes // max(1, sources))
    owners, counts = torch.unique_consecutive(owner, return_counts=True)
    if len(counts) and not bool((counts == counts[0]).all()):
        owners = owner
    same = len(owners) == sources and torch.equal(owners, torch.arange(sources, device=index.device))
    return None if same else owners
