"""Exemplars: training targets whose trees share the template of a given tree.

An exemplar is a sentence with the wanted syntax and another meaning (Chen et al. 2019). Our corpora have no exemplars,
so one is chosen from the training split for each pair.
"""

from __future__ import annotations

import numpy as np

from espalier.datasets.pairs.data import PairData, top_levels
from espalier.datasets.ragged import IntArray, Ragged


def exemplars(wanted: Ragged, train: PairData, levels: int) -> IntArray:
    """(trees,) index in `train` of the exemplar of each tree.

    Its tree has the same top `levels` levels; if there is no such tree, the same top `levels` - 1 levels, and so on.
    Among such trees, the one closest in size is chosen; ties go to the smaller one, then to the first by id.

    Args:
        wanted: symbols of the trees, in the vocabulary of `train`.
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
    """The symbols of each tree in a hashable form."""
    return [trees.flat[start:end].tobytes() for start, end in zip(trees.offsets[:-1], trees.offsets[1:], strict=True)]
