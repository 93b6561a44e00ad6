"""The nearest training texts, by the cosine of TF-IDF vectors (Salton and Buckley 1988)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from espalier.datasets.ragged import IntArray, Ragged
from espalier.datasets.vocabulary import SPECIALS

#: Decimals of a cosine; equal texts must have equal cosines, whatever the order of summation.
DECIMALS = 12


class Nearest:
    """An index of texts by their words.

    The weight of a word in a text is its count times ln((1 + n) / (1 + df)) + 1, where df of the n texts contain the
    word. Unknown words and other specials are ignored.

    Args:
        texts: word ids of the texts; at least one text.
        ids: ids of the texts, used to break ties.
        size: the number of word ids.
    """

    def __init__(self, texts: Ragged, ids: list[str], size: int) -> None:
        self.count = len(ids)
        self._rank = np.empty(self.count, dtype=np.int64)
        self._rank[np.argsort(np.array(ids), kind="stable")] = np.arange(self.count)
        rows, words = np.repeat(np.arange(self.count), texts.lengths), texts.flat.astype(np.int64)
        real = words >= len(SPECIALS)
        # By word, and by text within a word.
        keys, counts = np.unique(words[real] * self.count + rows[real], return_counts=True)
        words, self._rows = np.divmod(keys, max(1, self.count))
        frequencies = np.bincount(words, minlength=size)
        self._ends = np.cumsum(frequencies)
        self._idf = np.log((1 + self.count) / (1 + frequencies)) + 1
        weights = counts * self._idf[words]
        self._weights = weights / np.sqrt(np.bincount(self._rows, weights**2, minlength=self.count))[self._rows]

    def cosines(self, words: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """(texts,) cosine of each text and a text with these word ids; 0 if they share no word."""
        words, counts = np.unique(words[words >= len(SPECIALS)], return_counts=True)
        weights = counts * self._idf[words]
        ends = self._ends[words]
        lengths = ends - np.where(words > 0, self._ends[words - 1], 0)
        entries = np.arange(lengths.sum()) + np.repeat(ends - np.cumsum(lengths), lengths)
        products = self._weights[entries] * np.repeat(weights, lengths)
        norm = np.sqrt((weights**2).sum())
        return np.bincount(self._rows[entries], products, minlength=self.count) / max(norm, 1.0)

    def nearest(self, words: npt.NDArray[Any], count: int) -> IntArray:
        """(count,) indices of the nearest texts, the nearest first; fewer if there are fewer texts."""
        cosines = self.cosines(words).round(DECIMALS)
        last = max(0, self.count - count)
        near = np.flatnonzero(cosines >= np.partition(cosines, last)[last])
        return near[np.lexsort((self._rank[near], -cosines[near]))][:count]
