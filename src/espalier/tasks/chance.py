"""Random draws for rows without a trained model, and the training rows from which they draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from espalier.datasets.ragged import IntArray, Ragged
from espalier.datasets.vocabulary import UNK
from espalier.io.errors import DataError
from espalier.io.hashing import seed_from

if TYPE_CHECKING:
    import pandas as pd


def known_rows(targets: Ragged) -> IntArray:
    """The indices of the targets without unknown words. No model could write the others.

    Raises:
        DataError: there are no such targets.
    """
    rows = np.repeat(np.arange(len(targets.lengths)), targets.lengths)
    known = np.ones(len(targets.lengths), dtype=bool)
    known[rows[targets.flat == UNK]] = False
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
