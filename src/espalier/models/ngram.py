"""An n-gram model with interpolated Kneser-Ney smoothing (Chen and Goodman 1999, section 3), over the chain contract.

    P(w | h) = max(c(h w) - D, 0) / c(h .) + r(h) P(w | h')

where h' is h without its farthest token, c counts occurrences for the longest histories and distinct predecessors below
("continuations"), and r(h) is what the discounts D take from h. D = n1 / (n1 + 2 n2) from how many n-grams of a length
have a count of one and of two, or, modified, one discount each for counts of one, of two, and of three and more. Below
the histories of no token stands the uniform distribution over what can be written.

It reads no source: a baseline of a language model of the targets. Where the batches have structures (SAT), the symbol
of the token that is predicted is known too: it is the part of the history nearest to it, so the last to be left out.
With one word of history, P(w | w_-1 s) rests on P(w | s), and that on P(w).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from espalier.datasets.vocabulary import BOS, PAD
from espalier.models.contract import Loss

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
#: The number of places whose likelihood is computed at once.
PLACES_PER_SLICE = 65_536


@dataclass(frozen=True)
class NGramConfig:
    """Settings of the model.

    Attributes:
        view: that of the batches that it reads.
        order: the length of its n-grams; a symbol of the predicted token is not counted.
        discounts: 1, or 3 for modified Kneser-Ney smoothing.
    """

    view: Any
    order: int = 3
    discounts: Literal[1, 3] = 1
    width: int = 1
    positions: int = 2**31


@dataclass(frozen=True)
class _Level:
    """The n-grams with histories of one length, sorted by history and token.

    A history is numbered by its place in `histories`. There it stands as the number of the history without its farthest
    part, times the model's radix, plus that part: so numbers of any length fit 63 bits.

    Attributes:
        histories: (h,) ascending.
        starts: (h + 1,) where the tokens of each history begin.
        grams: (n,) number of the history times the number of ids, plus the token; ascending.
        tokens: (n,) the tokens that follow, ascending within a history.
        shares: (n,) max(c(h w) - D, 0) / c(h .).
        rests: (h,) the weight of the shorter history: 1 minus the history's shares.
    """

    histories: IntArray
    starts: IntArray
    grams: IntArray
    tokens: IntArray
    shares: FloatArray
    rests: FloatArray

    @classmethod
    def of(cls, histories: IntArray, grams: IntArray, counts: IntArray, size: int, discounts: int) -> Self:
        """From the n-grams, ascending, and how often each was counted."""
        starts = np.searchsorted(grams, np.arange(len(histories) + 1) * size)
        if not len(grams):
            return cls(histories, starts, grams, grams, np.zeros(0), np.zeros(0))
        totals = np.add.reduceat(counts, starts[:-1]).astype(np.float64)
        shares = np.maximum(counts - _discounts(counts, discounts), 0) / np.repeat(totals, np.diff(starts))
        rests = 1 - np.add.reduceat(shares, starts[:-1])
        return cls(histories, starts, grams, grams % size, shares, rests)

    def extend(self, numbers: IntArray, known: npt.NDArray[np.bool_], parts: IntArray, radix: int) -> Any:
        """The numbers here of shorter histories with one more part, and which of them the level has."""
        if not len(self.histories):
            return numbers, np.zeros_like(known)
        wanted = numbers * radix + parts
        places = np.searchsorted(self.histories, wanted).clip(max=len(self.histories) - 1)
        return places, known & (self.histories[places] == wanted)


def _discounts(counts: IntArray, discounts: int) -> FloatArray:
    """The discount of each count (equation 26 of Chen and Goodman for three).

    Where too few n-grams were counted to estimate three, or one, it is one, or half a count.
    """
    n1, n2, n3, n4 = (int((counts == times).sum()) for times in range(1, 5))
    if not (n1 and n2):
        return np.full(len(counts), 0.5)
    one = n1 / (n1 + 2 * n2)
    if discounts == 3 and n3 and n4:
        three = np.array([1 - 2 * one * n2 / n1, 2 - 3 * one * n3 / n2, 3 - 4 * one * n4 / n3])
        if (three >= 0).all():
            return three[counts.clip(max=3) - 1]
    return np.full(len(counts), one)


@dataclass
class NGramState:
    """What is known of some prefixes.

    Attributes:
        history: (prefixes, order - 1) the last tokens of each, the last token last.
        contexts: (prefixes, time) the symbols of all tokens, those to come too; width 0 without structures.
        place: the number of tokens that were read, `BOS` included.
    """

    history: IntArray
    contexts: IntArray
    place: int = 0

    def select(self, index: Tensor) -> NGramState:
        """The rows `index`, in that order."""
        rows = index.cpu().numpy()
        return replace(self, history=self.history[rows], contexts=self.contexts[rows])


class NGram:
    """The model, fitted to rows of targets."""

    def __init__(self, config: NGramConfig, vocabulary: Any, levels: Sequence[_Level], size: int, radix: int) -> None:
        self.config, self.vocabulary, self.size = config, vocabulary, size
        self._levels, self._radix = levels, radix
        uniform = np.full(size, 1 / (size - 2))
        uniform[[PAD, BOS]] = 0.0  # never written
        words = levels[0]
        self._unigrams = words.rests[0] * uniform if len(words.rests) else uniform
        self._unigrams[words.tokens] += words.shares

    @classmethod
    def fit(cls, config: NGramConfig, vocabulary: Any, batches: Sequence[Any], size: int) -> Self:
        """Count the n-grams of targets, each after `order` - 1 times `BOS`.

        Args:
            batches: with targets that end with their end mark, padded with `PAD` on the right; and the symbols of the
                view's structures, if it has any.
            size: the number of output ids.
        """
        targets, histories, radix = list[IntArray](), list[IntArray](), size
        for batch in batches:
            rows = batch.target.cpu().numpy()
            contexts, kinds = _contexts(batch, vocabulary)
            radix = max(radix, kinds)
            targets.append(rows[rows != PAD])
            histories.append(_histories(rows, contexts, config.order)[rows != PAD])
        if not batches:
            none = np.zeros(0, np.int64)
            return cls(config, vocabulary, [_Level.of(none, none, none, size, 1)] * config.order, size, radix)
        history, target = np.concatenate(histories), np.concatenate(targets)
        numbers, tables = np.zeros(len(target), np.int64), [np.zeros(1, np.int64)]
        for part in history.T:
            table, numbers = np.unique(numbers * radix + part, return_inverse=True)
            tables.append(table)
        grams, counts = np.unique(numbers * size + target, return_counts=True)
        levels = [_Level.of(tables[-1], grams, counts, size, config.discounts)]
        for table, longer in zip(tables[-2::-1], tables[:0:-1], strict=True):
            # A shorter history counts each distinct longer one once.
            shorter = longer[grams // size] // radix
            grams, counts = np.unique(shorter * size + grams % size, return_counts=True)
            levels.append(_Level.of(table, grams, counts, size, config.discounts))
        return cls(config, vocabulary, levels[::-1], size, radix)

    # --- The contract ------------------------------------------------------------------------------------------------

    def start(self, batch: Any) -> NGramState:
        """The state before the first token; `step` reads `BOS` first."""
        contexts, _ = _contexts(batch, self.vocabulary)
        return NGramState(np.full((len(batch), self.config.order - 1), BOS), contexts)

    def step(self, tokens: Tensor, state: NGramState) -> tuple[Tensor, NGramState]:
        """Read `tokens`, (batch,); return log-probabilities of the next, (batch, ids)."""
        words = np.concatenate([state.history, tokens.cpu().numpy()[:, None]], axis=1)[:, 1:]
        # What comes after the last symbol has that of the end mark.
        symbols = state.contexts[:, state.place : state.place + 1]
        if state.contexts.shape[1] and not symbols.shape[1]:
            symbols = np.zeros((len(words), 1), np.int64)
        with np.errstate(divide="ignore"):
            scores = np.log(self._distributions(np.concatenate([symbols, words[:, ::-1]], axis=1)))
        read = NGramState(words, state.contexts, state.place + 1)
        return torch.from_numpy(scores).float().to(tokens.device), read

    def token_losses(self, batch: Any) -> Tensor:
        """(batch, time) nats of each target, 0 at padding."""
        target, losses = batch.target.cpu().numpy(), np.zeros(batch.target.shape)
        histories = _histories(target, _contexts(batch, self.vocabulary)[0], self.config.order)
        rows, places = np.nonzero(target != PAD)
        for start in range(0, len(rows), PLACES_PER_SLICE):
            part = rows[start : start + PLACES_PER_SLICE], places[start : start + PLACES_PER_SLICE]
            losses[part] = -np.log(self._probabilities(histories[part], target[part]))
        return torch.from_numpy(losses).to(batch.device)

    def forward(self, batch: Any, smoothing: float = 0.0) -> Loss:
        """Summed negative log-likelihood of the batch's targets."""
        return Loss(self.token_losses(batch).sum(), batch.real.sum())

    # --- Its parts ---------------------------------------------------------------------------------------------------

    def _distributions(self, histories: IntArray) -> FloatArray:
        """(n, parts) histories, the nearest part first, to (n, ids) probabilities."""
        probabilities = np.repeat(self._unigrams[None], len(histories), axis=0)
        for level, numbers, known in self._walk(histories):
            rows = np.flatnonzero(known)
            probabilities[rows] *= level.rests[numbers[rows], None]
            starts, counts = level.starts[numbers[rows]], np.diff(level.starts)[numbers[rows]]
            inside = np.arange(counts.sum()) + np.repeat(starts - (np.cumsum(counts) - counts), counts)
            probabilities[np.repeat(rows, counts), level.tokens[inside]] += level.shares[inside]
        return probabilities

    def _probabilities(self, histories: IntArray, tokens: IntArray) -> FloatArray:
        """(n,) probabilities of `tokens` after (n, parts) histories, the nearest part first."""
        probabilities = self._unigrams[tokens]
        for level, numbers, known in self._walk(histories):
            if not len(level.grams):
                continue
            wanted = numbers * self.size + tokens
            at = np.searchsorted(level.grams, wanted).clip(max=len(level.grams) - 1)
            share = np.where(level.grams[at] == wanted, level.shares[at], 0.0)
            probabilities = np.where(known, share + level.rests[numbers] * probabilities, probabilities)
        return probabilities

    def _walk(self, histories: IntArray) -> Iterator[tuple[_Level, IntArray, npt.NDArray[np.bool_]]]:
        """Each level of histories, from the shortest, with the numbers of the histories there, and which it has."""
        numbers, known = np.zeros(len(histories), np.int64), np.ones(len(histories), bool)
        for level, parts in zip(self._levels[1:], histories.T, strict=True):
            numbers, known = level.extend(numbers, known, parts, self._radix)
            yield level, numbers, known


def _contexts(batch: Any, vocabulary: Any) -> tuple[IntArray, int]:
    """(batch, time) one number for the symbols of each target, 0 for specials; and how many there are.

    The width is 0 if the batch has no structures.
    """
    contexts, kinds = np.zeros(batch.target.shape, np.int64), 1
    structures = getattr(batch, "structures", {})
    for name, symbols in structures.items():
        contexts = contexts * vocabulary.symbol_count(name) + symbols.cpu().numpy()
        kinds *= vocabulary.symbol_count(name)
    return (contexts if structures else contexts[:, :0]), kinds


def _histories(target: IntArray, contexts: IntArray, order: int) -> IntArray:
    """(batch, time) to (batch, time, parts): the symbol of each target, if any, and the tokens before it backwards."""
    padded = np.concatenate([np.full((len(target), order - 1), BOS), target], axis=1)
    before = np.lib.stride_tricks.sliding_window_view(padded, order, axis=1)[..., -2::-1]
    symbols = contexts.reshape(*target.shape, -1) if contexts.size else np.zeros((*target.shape, 0), np.int64)
    return np.concatenate([symbols, before], axis=2)
