"""Random words with the frequencies of training verse, as a chance baseline."""

from __future__ import annotations

import numpy as np

from espalier.datasets.verse.data import VerseData
from espalier.datasets.vocabulary import SPECIALS
from espalier.io.errors import DataError


class RandomWords:
    """The known words of training verse, without marks.

    Raises:
        DataError: there are no such words.
    """

    def __init__(self, train: VerseData) -> None:
        self.vocabulary = train.vocabulary
        counts = np.bincount(train.columns["target"].flat, minlength=train.vocabulary.text_size)
        counts[: len(SPECIALS)] = 0
        counts[train.vocabulary.mark_ids] = 0
        self._ends = np.cumsum(counts)
        if not self._ends[-1]:
            raise DataError("no known word", file="the training split", remedy="lower the dataset's min_count")

    def draw(self, count: int, seed: int) -> list[str]:
        """`count` words, drawn independently."""
        places = np.random.default_rng(seed).integers(self._ends[-1], size=count)
        return [self.vocabulary.token(word) for word in np.searchsorted(self._ends, places, side="right").tolist()]
