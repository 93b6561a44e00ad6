"""Exemplars: training targets whose trees have the template of a given tree.

An exemplar is a sentence of another meaning that has the wanted syntax (Chen et al. 2019). Our corpora come without
exemplars, so one is chosen for each pair from the training split.
"""

from __future__ import annotations

import numpy as np

from espalier.datasets.pairs.data import PairData, top_levels
from espalier.datasets.ragged import IntArray, Ragged


def exemplars(wanted: Ragged, train: PairData, levels: int) -> IntArray:
    """(trees,) the place in `train` of the exemplar of each tree.

    Its tree has the same top `levels` levels; if no tree has, the same top levels - 1, and so on. Among such trees the
    one nearest in size is taken; of equals the smaller one, then the first by id.

    Args:
        wanted: the symbols of the trees, in the vocabulary of `train`.
    """
    trees = train.columns["target_tree"]
    order = np.lexsort((np.array(train.ids), trees.lengths))
    found = np.full(len(wanted.lengths), -1, dtype=np.int64)
    for level in range(levels, -1, -1):
        missing = np.flatnonzero(found < 0)
        if not len(missing):
            break
        tops = _rows(top_levels(trees, level, train.vocabulary))
        groups: dict[bytes, list[int]] = {}
        for place in order.tolist():
            groups.setdefault(tops[place], []).append(place)
        arrays = {top: np.array(places) for top, places in groups.items()}
        for row, top in zip(missing, _rows(top_levels(wanted.select(missing), level, train.vocabulary)), strict=True):
            if top in arrays:
                group = arrays[top]
                found[row] = group[np.abs(trees.lengths[group] - wanted.lengths[row]).argmin()]
    return found


def _rows(trees: Ragged) -> list[bytes]:
    """The symbols of each tree, as something that can be a key."""
    return [trees.flat[start:end].tobytes() for start, end in zip(trees.offsets[:-1], trees.offsets[1:], strict=True)]
