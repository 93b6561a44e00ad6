"""Copying: a gated mixture of a vocabulary distribution and attention over input ids (See et al. 2017)."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from espalier.layers.linear import linear
from espalier.layers.options import Mixture
from espalier.layers.recurrent import AttentionMemory, BilinearAttention

#: The copy probability of an absent id in the released mixture, whose logarithm would be -inf.
FLOOR = 1e-12


class CopyGate(nn.Linear):
    """Probabilities of writing from the vocabulary and of copying from each row (equation 8 of See et al.).

    The features are the decoder's state, attention contexts and input, (sources, n, width), in any order. With one
    score, p_gen is its sigmoid and there is one row to copy from. With 1 + rows scores, the probabilities are their
    softmax.
    """

    def __init__(self, width: int, scores: int = 1) -> None:
        super().__init__(width, scores)

    def log_probabilities(self, features: Tensor, empty: Tensor) -> Tensor:
        """(sources, n, 1 + rows) log-probabilities in float32, the vocabulary's first; -inf for an empty row.

        Args:
            features: (sources, n, width).
            empty: (sources, rows) bool, True for a row without ids.
        """
        logits = linear(features, self.weight, self.bias).float()
        if self.out_features == 1:
            logit = logits[..., 0].masked_fill(empty, torch.inf)
            return torch.stack([F.logsigmoid(logit), F.logsigmoid(-logit)], dim=-1)
        return logits.masked_fill(F.pad(empty, (1, 0))[:, None], -torch.inf).log_softmax(-1)


class Pointer(nn.Module):
    """Copying for a Transformer: attention over the source's ids, and the gate between writing and copying.

    The last states of the decoder attend to those of the source's encoder by one bilinear score. The gate is that of
    See et al. (2017), equation 8.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.attention = BilinearAttention(width, width)
        self.gate = CopyGate(3 * width, 2)

    def forward(self, hidden: Tensor, embedded: Tensor, memory: AttentionMemory) -> tuple[Tensor, Tensor]:
        """Weights over the source, (sources, n, length), and log-probabilities of the gate, (sources, n, 2).

        Args:
            hidden, embedded: (sources, n, width) last states of the decoder, and its inputs.
        """
        weights, contexts = self.attention(hidden, memory)
        empty = memory.empty[:, None]
        return weights, self.gate.log_probabilities(torch.cat([hidden, contexts, embedded], dim=-1), empty)

    def step(self, scores: Tensor, hidden: Tensor, embedded: Tensor, memory: AttentionMemory) -> Tensor:
        """The (prefixes, size) log-probabilities `scores`, mixed with copying.

        Args:
            hidden, embedded: (prefixes, 1, width). Consecutive prefixes share a source of `memory`.
        """
        sources = len(memory.ids)
        scores, hidden, embedded = (
            part.view(sources, len(part) // max(1, sources), part.shape[-1]) for part in (scores, hidden, embedded)
        )
        weights, gates = self(hidden, embedded, memory)
        return mix_all(scores, [weights], [memory.ids], gates).flatten(0, 1)


def copied_mass(weights: Tensor, ids: Tensor, target: Tensor) -> Tensor:
    """The copy probability of each target: the sum of attention over the places that hold its id.

    Args:
        weights: (sources, time, length) attention.
        ids: (sources, length) the id of each place.
        target: (sources, time) ids.

    Returns:
        (sources, time) probabilities.
    """
    return (weights * (ids[:, None] == target[..., None])).sum(-1)


def copied_all(weights: Tensor, ids: Tensor, size: int) -> Tensor:
    """The copy probability of every id.

    Args:
        weights: (sources, n, length) attention.
        ids: (sources, length).
        size: the number of ids.

    Returns:
        (sources, n, size) probabilities, which sum to 1 if the weights do.
    """
    places = ids[:, None].expand_as(weights)
    return weights.new_zeros(*weights.shape[:2], size).scatter_add(2, places, weights)


def mix(vocabulary: Tensor, copies: Sequence[Tensor], gates: Tensor, mixture: Mixture = "distribution") -> Tensor:
    """Scores of ids that are chosen from the vocabulary or copied from one of several rows.

    "distribution": log(g_0 p_vocabulary + sum of g_k p_copy,k), equation 9 of See et al. for one row to copy from.
    "released" (SCPN's code): g_0 log p_vocabulary + sum of g_k log p_copy,k. Its exponentials do not sum to 1, and the
    term of an id that cannot be copied is g_k log(`FLOOR`).

    Args:
        vocabulary: (...) log-probabilities.
        copies: one (...) of probabilities for each row to copy from; there may be none.
        gates: (..., 1 + rows) log-probabilities of the parts, the vocabulary's first.

    Returns:
        (...) scores, at most 0.
    """
    first, *others = gates.unbind(-1)
    if not others:
        return first + vocabulary
    if mixture == "released":
        logs = (gate.exp() * part.clamp(min=FLOOR).log() for gate, part in zip(others, copies, strict=True))
        return first.exp() * vocabulary + sum(logs)
    copied = sum(gate.exp() * part for gate, part in zip(others, copies, strict=True))
    # The smallest positive number instead of 0, whose logarithm has no gradient.
    small = torch.finfo(vocabulary.dtype).tiny
    return torch.logaddexp(first + vocabulary, torch.as_tensor(copied).clamp(min=small).log())


def mix_all(
    vocabulary: Tensor,
    weights: Sequence[Tensor],
    ids: Sequence[Tensor],
    gates: Tensor,
    mixture: Mixture = "distribution",
) -> Tensor:
    """`mix` for every id of the vocabulary.

    Args:
        vocabulary: (sources, n, size) log-probabilities.
        weights: (sources, n, length) attention over each row to copy from.
        ids: (sources, length) the ids of each row.
        gates: (sources, n, 1 + rows) log-probabilities of the parts, the vocabulary's first.

    Returns:
        (sources, n, size) scores, at most 0.
    """
    first, *others = gates.unbind(-1)
    if mixture == "released" or not others:
        copies = [copied_all(part, row, vocabulary.shape[-1]) for part, row in zip(weights, ids, strict=True)]
        return mix(vocabulary, copies, gates[:, :, None], mixture)
    shares = [gate.exp()[..., None] * part for gate, part in zip(others, weights, strict=True)]
    return add_copies(first[..., None] + vocabulary, torch.cat(shares, dim=-1), torch.cat([*ids], dim=1))


def add_copies(scores: Tensor, shares: Tensor, ids: Tensor) -> Tensor:
    """log(exp(scores) + probability of copying). Only the ids that can be copied change.

    Args:
        scores: (sources, n, size) log-probabilities.
        shares: (sources, n, length) probability of copying from each place.
        ids: (sources, length) id at each place.
    """
    same = (ids[:, :, None] == ids[:, None]).to(shares.dtype)
    copied = (shares @ same).clamp(min=torch.finfo(shares.dtype).tiny).log()
    places = ids[:, None].expand_as(shares)
    return scores.scatter(2, places, torch.logaddexp(scores.gather(2, places), copied))


def smoothed_sum(losses: Tensor, even: Tensor, smoothing: float) -> Tensor:
    """The summed loss of a mixture in which only the vocabulary distribution has label smoothing.

    Args:
        losses: (targets,) nats of each target under the mixture.
        even: (targets,) mean nats over the vocabulary at each target's place.
        smoothing: the weight of `even`.
    """
    return losses.sum() if smoothing == 0 else ((1 - smoothing) * losses + smoothing * even).sum()
