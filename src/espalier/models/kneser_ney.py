"""Interpolated Kneser-Ney smoothing of counts (Chen and Goodman 1999, section 3).

    P(w | h) = max(c(h w) - D, 0) / c(h .) + r(h) P(w | h')

where h' is h without its farthest part, and r(h) is the probability mass that the discounts D remove from h. For the
longest histories, c counts occurrences; for shorter ones, distinct predecessors ("continuations"). D = n1 / (n1 + 2
n2), where n1 and n2 are the numbers of n-grams of a length with count one and two. The modified form has separate
discounts for counts of one, two, and three or more. The empty history backs off to the uniform distribution over all
output ids.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from espalier.datasets.vocabulary import BOS, PAD

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
#: The number of probabilities that are computed at once.
PLACES_PER_SLICE = 65_536
#: Occurrences of n-grams that wait, at least, before they are counted.
OCCURRENCES = 1 << 22


@dataclass(frozen=True)
class _Level:
    """The n-grams whose histories have one length, sorted by history and token.

    A history is identified by its index in `histories`. Its entry there is (index of the history without the farthest
    part) x radix + (farthest part), so entries fit 63 bits at any length.

    Attributes:
        histories: (h,) entries, ascending.
        starts: (h + 1,) index at which the tokens of each history begin.
        grams: (n,) (index of the history) x (number of ids) + token, ascending.
        tokens: (n,) next tokens, ascending within a history.
        shares: (n,) max(c(h w) - D, 0) / c(h .).
        rests: (h,) the weight of the shorter history: 1 minus the sum of the history's shares.
    """

    histories: IntArray
    starts: IntArray
    grams: IntArray
    tokens: IntArray
    shares: FloatArray
    rests: FloatArray

    @classmethod
    def of(cls, histories: IntArray, grams: IntArray, counts: IntArray, size: int, discounts: int) -> Self:
        """Build a level from ascending n-grams and their counts."""
        starts = np.searchsorted(grams, np.arange(len(histories) + 1) * size)
        if not len(grams):
            return cls(histories, starts, grams, grams, np.zeros(0), np.zeros(0))
        totals = np.add.reduceat(counts, starts[:-1]).astype(np.float64)
        shares = np.maximum(counts - _discounts(counts, discounts), 0) / np.repeat(totals, np.diff(starts))
        rests = 1 - np.add.reduceat(shares, starts[:-1])
        return cls(histories, starts, grams, grams % size, shares, rests)

    def extend(
        self, numbers: IntArray, known: npt.NDArray[np.bool_], parts: IntArray, radix: int
    ) -> tuple[IntArray, npt.NDArray[np.bool_]]:
        """Index of each extended history in this level, and whether the level has it."""
        if not len(self.histories):
            return numbers, np.zeros_like(known)
        wanted = numbers * radix + parts
        places = np.searchsorted(self.histories, wanted).clip(max=len(self.histories) - 1)
        return places, known & (self.histories[places] == wanted)


def _discounts(counts: IntArray, discounts: int) -> FloatArray:
    """The discount of each count (equation 26 of Chen and Goodman for three).

    If there are too few n-grams to estimate three discounts, one is used; if there are too few for one, it is 1/2.
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


class _Distinct:
    """Distinct n-grams and how often each occurs, from occurrences that are added some at a time.

    An n-gram is one number where 63 bits have room; else all occurrences are kept.
    """

    def __init__(self, parts: int, size: int, radix: int) -> None:
        self._parts, self._size, self._radix = parts, size, radix
        self._numbered = size * radix**parts < 2**63
        self._grams, self._times = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._waiting = list[IntArray]()
        self._count = 0

    def add(self, histories: IntArray, tokens: IntArray) -> None:
        if not self._numbered:
            self._waiting.append(np.concatenate([histories, tokens[:, None]], axis=1))
            return
        grams = np.zeros(len(tokens), np.int64)
        for part in histories.T:
            grams = grams * self._radix + part
        self._waiting.append(grams * self._size + tokens)
        self._count += len(tokens)
        if self._count > max(OCCURRENCES, len(self._grams)):
            self._merge()

    def counted(self) -> tuple[IntArray, IntArray, IntArray]:
        """(n, parts) histories, (n,) tokens, and (n,) how often they occur."""
        if not self._numbered:
            rows = np.concatenate([np.zeros((0, self._parts + 1), np.int64), *self._waiting])
            return rows[:, :-1], rows[:, -1], np.ones(len(rows), np.int64)
        self._merge()
        histories, left = np.zeros((len(self._grams), self._parts), np.int64), self._grams // self._size
        for part in reversed(range(self._parts)):
            histories[:, part], left = left % self._radix, left // self._radix
        return histories, self._grams % self._size, self._times

    def _merge(self) -> None:
        more, times = np.unique(np.concatenate([np.zeros(0, np.int64), *self._waiting]), return_counts=True)
        self._waiting, self._count = [], 0
        both = np.concatenate([self._grams, more]), np.concatenate([self._times, times])
        self._grams, self._times = _summed(*both)


def _summed(numbers: IntArray, times: IntArray) -> tuple[IntArray, IntArray]:
    """Distinct numbers, ascending, and the sums of their times."""
    order = np.argsort(numbers, kind="stable")
    numbers = numbers[order]
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    return numbers[starts], np.add.reduceat(times[order], starts) if len(starts) else times


class KneserNey:
    """Probabilities of tokens after histories, estimated from counts.

    Args:
        levels: one level per length of history, from 0.
        size: the number of ids.
        radix: an integer above every part of a history.
    """

    def __init__(self, levels: Sequence[_Level], size: int, radix: int) -> None:
        self.size = size
        self._levels, self._radix = levels, radix
        uniform = np.full(size, 1 / (size - 2))
        uniform[[PAD, BOS]] = 0.0  # never written
        words = levels[0]
        self._unigrams = words.rests[0] * uniform if len(words.rests) else uniform
        self._unigrams[words.tokens] += words.shares

    @classmethod
    def fit(cls, occurrences: Iterable[tuple[IntArray, IntArray]], parts: int, size: int, radix: int,
            discounts: Literal[1, 3] = 1) -> Self:  # fmt: skip
        """Count tokens after their histories.

        Args:
            occurrences: some at a time, (n, parts) histories, parts below `radix` and the nearest first, and (n,)
                tokens, ids below `size`. For 2 parts about 150 bytes for each distinct n-gram are in memory.
            discounts: 1, or 3 for modified smoothing.
        """
        distinct = _Distinct(parts, size, radix)
        for histories, tokens in occurrences:
            distinct.add(histories, tokens)
        histories, tokens, times = distinct.counted()
        del distinct
        if not len(tokens):
            none = np.zeros(0, np.int64)
            return cls([_Level.of(none, none, none, size, 1)] * (parts + 1), size, radix)
        numbers, tables = np.zeros(len(tokens), np.int64), [np.zeros(1, np.int64)]
        for part in histories.T:
            table, numbers = np.unique(numbers * radix + part, return_inverse=True)
            tables.append(table)
        grams, counts = _summed(numbers * size + tokens, times)
        levels = [_Level.of(tables[-1], grams, counts, size, discounts)]
        for table, longer in zip(tables[-2::-1], tables[:0:-1], strict=True):
            # A shorter history counts each distinct longer one once.
            shorter = longer[grams // size] // radix
            grams, counts = np.unique(shorter * size + grams % size, return_counts=True)
            levels.append(_Level.of(table, grams, counts, size, discounts))
        return cls(levels[::-1], size, radix)

    def log_probabilities(self, histories: IntArray) -> Tensor:
        """(n, parts) histories, the nearest part first, to (n, ids) log-probabilities of all tokens."""
        probabilities = np.repeat(self._unigrams[None], len(histories), axis=0)
        for level, numbers, known in self._walk(histories):
            rows = np.flatnonzero(known)
            probabilities[rows] *= level.rests[numbers[rows], None]
            starts, counts = level.starts[numbers[rows]], np.diff(level.starts)[numbers[rows]]
            inside = np.arange(counts.sum()) + np.repeat(starts - (np.cumsum(counts) - counts), counts)
            probabilities[np.repeat(rows, counts), level.tokens[inside]] += level.shares[inside]
        with np.errstate(divide="ignore"):
            return torch.from_numpy(np.log(probabilities)).float()

    def nats(self, histories: IntArray, tokens: IntArray) -> FloatArray:
        """(n,) -log p of `tokens` after (n, parts) histories, the nearest part first."""
        nats = np.zeros(len(tokens))
        for start in range(0, len(tokens), PLACES_PER_SLICE):
            rows = slice(start, start + PLACES_PER_SLICE)
            nats[rows] = -np.log(self._probabilities(histories[rows], tokens[rows]))
        return nats

    def _probabilities(self, histories: IntArray, tokens: IntArray) -> FloatArray:
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
        """For each length of history, from the shortest: the level, the indices of the histories, and which it has."""
        numbers, known = np.zeros(len(histories), np.int64), np.ones(len(histories), bool)
        for level, parts in zip(self._levels[1:], histories.T, strict=True):
            numbers, known = level.extend(numbers, known, parts, self._radix)
            yield level, numbers, known
