"""Learned positions of a batch."""

import torch.nn.functional as F
from torch import Tensor


def learned_positions(table: Tensor, places: int, padding: int) -> Tensor:
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
