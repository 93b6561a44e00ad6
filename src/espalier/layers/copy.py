"""Copying: a gated mixture of a vocabulary's distribution and of attention over what was read (See et al. 2017)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from espalier.layers.options import Mixture

#: What the released mixture takes for the copy probability of an id that is not there, whose logarithm is none.
FLOOR = 1e-12


def copied_mass(weights: Tensor, ids: Tensor, target: Tensor) -> Tensor:
    """How likely each target is to be copied: the attention on every place that holds it.

    Args:
        weights: (sources, time, length) attention.
        ids: (sources, length) what stands at each place.
        target: (sources, time) ids.

    Returns:
        (sources, time) probabilities.
    """
    return (weights * (ids[:, None] == target[..., None])).sum(-1)


def copied_all(weights: Tensor, ids: Tensor, size: int) -> Tensor:
    """The same for every id at once.

    Args:
        weights: (sources, n, length) attention.
        ids: (sources, length).
        size: how many ids there are.

    Returns:
        (sources, n, size) probabilities, which sum to 1 where the weights do.
    """
    places = ids[:, None].expand_as(weights)
    return weights.new_zeros(*weights.shape[:2], size).scatter_add(2, places, weights)


def mix(vocabulary: Tensor, copies: Sequence[Tensor], gates: Tensor, mixture: Mixture = "distribution") -> Tensor:
    """Scores of ids that may be chosen from the vocabulary or copied from one of several rows.

    "distribution": log(g_0 p_vocabulary + sum of g_k p_copy,k), equation 9 of See et al. for one row to copy from.
    "released", as SCPN's code mixes: g_0 log p_vocabulary + sum of g_k log p_copy,k. Its exponentials sum to 1 only by
    accident, and an id that cannot be copied pays g_k log(`FLOOR`).

    Args:
        vocabulary: (...) log-probabilities.
        copies: one (...) of probabilities for each row to copy from.
        gates: (..., 1 + rows) log-probabilities of the parts, the vocabulary's first.

    Returns:
        (...) scores, at most 0.
    """
    first, *others = gates.unbind(-1)
    if mixture == "released":
        logs = (gate.exp() * part.clamp(min=FLOOR).log() for gate, part in zip(others, copies, strict=True))
        return first.exp() * vocabulary + sum(logs)
    copied = sum(gate.exp() * part for gate, part in zip(others, copies, strict=True))
    # The smallest positive number instead of 0, whose logarithm has no gradient.
    small = torch.finfo(vocabulary.dtype).tiny
    return torch.logaddexp(first + vocabulary, torch.as_tensor(copied).clamp(min=small).log())
