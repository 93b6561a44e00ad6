"""Memories shared by the hypotheses of a source, so that a beam does not copy them."""

import torch
from torch import Tensor


def memory_rows(index: Tensor, prefixes: int, sources: int) -> Tensor | None:
    """The rows of memory for a selection of prefixes; None if all rows stay in their order.

    A memory has one row for each source, shared by equally many consecutive prefixes. If the selection preserves this,
    the new memory has one row per source, else one per prefix.

    Args:
        index: (selected,) the selected prefixes.
        prefixes, sources: their numbers before the selection.

    Returns:
        (rows,) indices of the memory's rows.
    """
    owner = index // max(1, prefixes // max(1, sources))
    owners, counts = torch.unique_consecutive(owner, return_counts=True)
    if len(counts) and not bool((counts == counts[0]).all()):
        owners = owner
    same = len(owners) == sources and torch.equal(owners, torch.arange(sources, device=index.device))
    return None if same else owners
