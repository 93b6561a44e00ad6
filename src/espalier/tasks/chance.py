"""Random draws for rows without a trained model: of words, of training rows, and their seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from espalier.datasets.ragged import IntArray, Ragged
from espalier.datasets.verse.data import VerseData
from espalier.datasets.vocabulary import SPECIALS, UNK
from espalier.io.errors import DataError
from espalier.io.hashing import seed_from

if TYPE_CHECKING:
    import pandas as pd


def known_rows(targets: Ragged) -> IntArray:
    """The indices of the targets without unknown words. No model could write the others.

    Raises:
        DataError: there are no such targets.
    """
    known = np.ones(len(targets.lengths), dtype=bool)
    known[np.searchsorted(targets.offsets, np.flatnonzero(targets.flat == UNK), side="right") - 1] = False
    if not known.any():
        raise DataError("no target without unknown words", file="the training split", remedy="raise the vocabulary")
    return np.flatnonzero(known)


def chance_seeds(table: pd.DataFrame, seed: int, of: str = "id") -> list[int]:
    """The seed of the random draw for each output row, independent of other rows.

    Args:
        of: column that, with the number of the sample, identifies a draw.
    """
    keys = zip(table[of], table["sample"].tolist(), strict=True)
    return [seed_from("chance", seed, key, sample) for key, sample in keys]


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
