"""An n-gram model with interpolated Kneser-Ney smoothing (Chen and Goodman 1999, section 3), over the chain contract.

    P(w | h) = max(c(h w) - D, 0) / c(h .) + D N1+(h .) / c(h .) P(w | h')

where h' is h without its first token, c counts occurrences for the highest order and distinct predecessors below it
("continuations"), N1+(h .) is how many different tokens follow h, and D = n1 / (n1 + 2 n2) from how many n-grams of the
order have a count of one and of two. Below the unigrams stands the uniform distribution over what can be written.

It reads no source: a baseline of a language model of the targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from espalier.datasets.vocabulary import BOS, PAD
from espalier.models.contract import Loss

IntArray = npt.NDArray[np.int64]
#: The number of places whose likelihood is computed at once.
PLACES_PER_SLICE = 65_536


@dataclass(frozen=True)
class NGramConfig:
    """Settings of the model; `view` is that of the batches that it reads."""

    view: Any
    order: int = 3
    width: int = 1
    positions: int = 2**31


@dataclass(frozen=True)
class _Order:
    """The n-grams of one order, sorted by history and token.

    Attributes:
        histories: (h,) packed, ascending.
        starts: (h + 1,) where the tokens of each history begin.
        tokens: (n,) the tokens that follow, ascending within a history.
        shares: (n,) max(c(h w) - D, 0) / c(h .).
        rests: (h,) the weight of the lower order: D N1+(h .) / c(h .), 1 minus the history's shares.
    """

    histories: IntArray
    starts: IntArray
    tokens: IntArray
    shares: npt.NDArray[np.float64]
    rests: npt.NDArray[np.float64]

    @classmethod
    def of(cls, keys: IntArray, counts: IntArray, size: int) -> Self:
        """From packed n-grams, ascending, and how often each was counted."""
        once, twice = int((counts == 1).sum()), int((counts == 2).sum())
        # With too few n-grams to estimate it, the discount is half a count.
        discount = once / (once + 2 * twice) if once and twice else 0.5
        histories, starts = np.unique(keys // size, return_index=True)
        starts = np.append(starts, len(keys))
        if not len(keys):
            return cls(histories, starts, keys, np.zeros(0), np.zeros(0))
        totals = np.add.reduceat(counts, starts[:-1]).astype(np.float64)
        shares = np.maximum(counts - discount, 0) / np.repeat(totals, np.diff(starts))
        rests = 1 - np.add.reduceat(shares, starts[:-1])
        return cls(histories, starts, keys % size, shares, rests)

    def places(self, histories: IntArray) -> tuple[IntArray, npt.NDArray[np.bool_]]:
        """(n,) the index of each history, and whether the order has it."""
        if not len(self.histories):
            return np.zeros(len(histories), np.int64), np.zeros(len(histories), bool)
        places = np.searchsorted(self.histories, histories).clip(max=len(self.histories) - 1)
        return places, self.histories[places] == histories


@dataclass
class NGramState:
    """(prefixes, order - 1) the last tokens of each prefix."""

    history: IntArray

    def select(self, index: Tensor) -> NGramState:
        """The rows `index`, in that order."""
        return NGramState(self.history[index.cpu().numpy()])


class NGram:
    """The model, fitted to rows of targets."""

    def __init__(self, config: NGramConfig, vocabulary: Any, orders: Sequence[_Order], size: int) -> None:
        self.config, self.vocabulary, self.size = config, vocabulary, size
        self._orders = orders
        uniform = np.full(size, 1 / (size - 2))
        uniform[[PAD, BOS]] = 0.0  # never written
        unigrams = orders[0]
        self._unigrams = unigrams.rests[0] * uniform if len(unigrams.rests) else uniform
        self._unigrams[unigrams.tokens] += unigrams.shares

    @classmethod
    def fit(cls, config: NGramConfig, vocabulary: Any, targets: Sequence[Tensor], size: int) -> Self:
        """Count the n-grams of targets, each after `order` - 1 times `BOS`.

        Args:
            targets: batches of (batch, time) ids with their end mark, padded with `PAD` on the right.
            size: the number of output ids; `size` ** `order` must fit 63 bits.
        """
        if size**config.order >= 2**63:
            raise ValueError(f"{size} ids to the power of {config.order} do not fit 63 bits")
        powers = size ** np.arange(config.order - 1, -1, -1, dtype=np.int64)
        packed = [np.zeros(0, np.int64)]
        for batch in targets:
            rows = batch.cpu().numpy()
            packed.append(_grams(rows, config.order)[rows != PAD] @ powers)
        keys, counts = np.unique(np.concatenate(packed), return_counts=True)
        orders = [_Order.of(keys, counts, size)]
        for length in range(config.order - 1, 0, -1):
            # A lower order counts each distinct longer n-gram once.
            keys, counts = np.unique(keys % size**length, return_counts=True)
            orders.append(_Order.of(keys, counts, size))
        return cls(config, vocabulary, orders[::-1], size)

    # --- The contract ------------------------------------------------------------------------------------------------

    def start(self, batch: Any) -> NGramState:
        """The state before the first token; `step` reads `BOS` first."""
        return NGramState(np.full((len(batch), self.config.order - 1), BOS))

    def step(self, tokens: Tensor, state: NGramState) -> tuple[Tensor, NGramState]:
        """Read `tokens`, (batch,); return log-probabilities of the next, (batch, ids)."""
        history = np.concatenate([state.history, tokens.cpu().numpy()[:, None]], axis=1)[:, 1:]
        with np.errstate(divide="ignore"):
            scores = np.log(self._distributions(history))
        return torch.from_numpy(scores).float().to(tokens.device), NGramState(history)

    def token_losses(self, batch: Any) -> Tensor:
        """(batch, time) nats of each target, 0 at padding."""
        target, losses = batch.target.cpu().numpy(), np.zeros(batch.target.shape)
        grams = _grams(target, self.config.order)
        rows, places = np.nonzero(target != PAD)
        for start in range(0, len(rows), PLACES_PER_SLICE):
            part = rows[start : start + PLACES_PER_SLICE], places[start : start + PLACES_PER_SLICE]
            losses[part] = -np.log(self._probabilities(grams[part][:, :-1], target[part]))
        return torch.from_numpy(losses).to(batch.device)

    def loss(self, batch: Any, smoothing: float = 0.0) -> Loss:
        """Summed negative log-likelihood of the batch's targets."""
        return Loss(self.token_losses(batch).sum(), batch.real.sum())

    # --- Its parts ---------------------------------------------------------------------------------------------------

    def _distributions(self, history: IntArray) -> npt.NDArray[np.float64]:
        """(n, order - 1) histories to (n, ids) probabilities."""
        probabilities = np.repeat(self._unigrams[None], len(history), axis=0)
        for length, order in enumerate(self._orders[1:], start=1):
            places, known = order.places(self._pack(history[:, -length:]))
            rows = np.flatnonzero(known)
            probabilities[rows] *= order.rests[places[rows], None]
            starts, counts = order.starts[places[rows]], np.diff(order.starts)[places[rows]]
            inside = np.arange(counts.sum()) + np.repeat(starts - (np.cumsum(counts) - counts), counts)
            probabilities[np.repeat(rows, counts), order.tokens[inside]] += order.shares[inside]
        return probabilities

    def _probabilities(self, history: IntArray, tokens: IntArray) -> npt.NDArray[np.float64]:
        """(n,) probabilities of `tokens` after (n, order - 1) histories."""
        probabilities = self._unigrams[tokens]
        for length, order in enumerate(self._orders[1:], start=1):
            packed = self._pack(history[:, -length:])
            places, known = order.places(packed)
            if not len(order.tokens):
                continue
            keys = np.repeat(order.histories, np.diff(order.starts)) * self.size + order.tokens
            ngrams = packed * self.size + tokens
            at = np.searchsorted(keys, ngrams).clip(max=len(keys) - 1)
            share = np.where(keys[at] == ngrams, order.shares[at], 0.0)
            probabilities = np.where(known, share + order.rests[places] * probabilities, probabilities)
        return probabilities

    def _pack(self, history: IntArray) -> IntArray:
        return history @ self.size ** np.arange(history.shape[1] - 1, -1, -1, dtype=np.int64)


def _grams(target: IntArray, order: int) -> IntArray:
    """(batch, time) to (batch, time, order): the tokens before each target, and the target."""
    padded = np.concatenate([np.full((len(target), order - 1), BOS), target], axis=1)
    return np.lib.stride_tricks.sliding_window_view(padded, order, axis=1)
