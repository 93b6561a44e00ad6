"""Granularity of tokens, and the attention factors that follow from it (C-DNPG, Gu et al. 2022, section 3.1).

A granularity z is 0 for a word of the template (sentence level) and 1 for a detail (phrase level).
"""

import torch
from torch import Tensor, nn

from espalier.layers.attention import Factors
from espalier.layers.linear import linear
from espalier.layers.options import GranularityMask


def resonance(queries: Tensor, keys: Tensor) -> Tensor:
    """C_ij = (1 - z_i) max(0, 1 - (z_i + z_j)) + z_i min(1, 1 - z_i + z_j), equation 6.

    It is not symmetric. C_ii is at least 1/2.

    Args:
        queries, keys: z_i, (..., time), and z_j, (..., memory time).

    Returns:
        (..., time, memory time), from 0 to 1.
    """
    one, other = queries[..., None], keys[..., None, :]
    template = 1 - one
    # min(1, 1 - z_i + z_j) = 1 - max(0, z_i - z_j)
    return template * (template - other).relu() + one * (1 - (one - other).relu())


def scope(queries: Tensor, distances: Tensor, length: Tensor, epsilon: float) -> Tensor:
    """S_ij = max(0, min(1, (N - e)^(1 - z_i) + e - |i - j|)), equation 8.

    If N - e < 1, every distance in a row is below e + 1 and S is 1. The code then uses 1 in place of N - e, whose power
    might be undefined.

    Args:
        queries: z_i, (..., time).
        distances: |i - j|, (time, memory time).
        length: N, broadcastable to (..., time).
        epsilon: e, the distance up to which S is 1 for every z_i.

    Returns:
        (..., time, memory time), from 0 to 1.
    """
    reach = (length - epsilon).clamp(min=1.0).log() * (1 - queries)
    return (reach.exp()[..., None] + (epsilon - distances)).clamp(0.0, 1.0)


class Granularity(nn.Module):
    """The granularity head of one attention layer and the mask that it computes. All heads of the layer share the mask.

    Args:
        mask: "resonance" C, "scope" S, "product" C * S (equation 9), or "average" (C + S) / 2 (table 2).
        epsilon: e of the scope.
        renormalised: as in `Factors`.
    """

    def __init__(self, width: int, mask: GranularityMask, epsilon: float = 2.0, *, renormalised: bool = False) -> None:
        super().__init__()
        self.head = nn.Linear(width, 1)  # W^G
        self.mask, self.epsilon, self.renormalised = mask, epsilon, renormalised

    def forward(self, x: Tensor) -> Tensor:
        """z = sigmoid(W^G H), equation 4: (..., width) to (...), float32."""
        return linear(x, self.head.weight, self.head.bias)[..., 0].float().sigmoid()

    def factors(self, queries: Tensor, keys: Tensor, places: Tensor, length: Tensor) -> Factors:
        """The mask from the places `places` to all places of `keys`.

        Args:
            queries, keys: (batch, time) and (batch, memory time) granularities.
            places: (time,) positions of the queries in the row.
            length: N, broadcastable to (batch, time).
        """
        values: Tensor
        if self.mask == "resonance":
            values = resonance(queries, keys)
        else:
            distances = (places[:, None] - torch.arange(keys.shape[-1], device=keys.device)).abs()
            values = scope(queries, distances, length, self.epsilon)
            if self.mask == "product":
                values = values * resonance(queries, keys)
            elif self.mask == "average":
                values = (values + resonance(queries, keys)) / 2
        return Factors(values[:, None], self.renormalised)
