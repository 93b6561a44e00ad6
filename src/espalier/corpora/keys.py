"""Texts as numbers that can be compared: eight bytes a text, so that all texts of a large corpus fit into memory.

A key is a 64-bit hash. Among n different texts two have equal keys with probability n² / 2⁶⁵: 1e-5 for 20 million.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.uint64]
#: The key of what is not compared.
NO_KEY: Final = 0
#: Rows that are lists at a time.
_BLOCK: Final = 1 << 16


def key_of(*values: str | bytes) -> int:
    """The key of a text or other bytes, or of several. It is never `NO_KEY`."""
    return int.from_bytes(hashlib.blake2b(repr(values).encode(), digest_size=8).digest(), "little") or 1


def key_array(keys: Iterable[int]) -> Keys:
    """Keys as an array."""
    return np.fromiter(keys, dtype=np.uint64)


def repeated(keys: Sequence[Keys], rows: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """(n,) whether one of a row's keys is a key of an earlier row that is not repeated itself.

    Args:
        keys: arrays of n keys; a key has the same meaning in all.
        rows: (n,) the rows that are looked at; the others are not repeated, and repeat nothing.
    """
    found = np.zeros(len(rows), dtype=bool)
    if len(keys) == 1:
        places = np.flatnonzero(rows)
        first = np.unique(keys[0][places], return_index=True)[1]
        found[places] = True
        found[places[first]] = False
        return found
    numbers = np.unique(np.concatenate(keys), return_inverse=True)[1].reshape(len(keys), -1)
    known = bytearray(int(numbers.max(initial=-1)) + 1)
    for start in range(0, len(rows), _BLOCK):  # as lists, which are faster one by one but large
        block = slice(start, start + _BLOCK)
        for row, (looked_at, *own) in enumerate(zip(rows[block].tolist(), *numbers[:, block].tolist(), strict=True)):
            if looked_at and any(known[number] for number in own):
                found[start + row] = True
            elif looked_at:
                for number in own:
                    known[number] = True
    return found


def linked_by(keys: Sequence[Keys], count: int) -> npt.NDArray[np.int32]:
    """(count,) number of the component of each row, as in `espalier.corpora.linked`.

    Args:
        keys: arrays with one key per row; a key has the same meaning in all, and `NO_KEY` links nothing.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows = np.concatenate([np.flatnonzero(column).astype(np.int32) for column in keys] or [np.zeros(0, np.int32)])
    used = np.concatenate([column[column != NO_KEY] for column in keys] or [np.zeros(0, np.uint64)])
    distinct, numbers = np.unique(used, return_inverse=True)
    size = count + len(distinct)  # a graph of rows and keys
    edges = coo_array((np.ones(len(rows), np.int8), (rows, (numbers + count).astype(np.int32))), shape=(size, size))
    components: npt.NDArray[np.int32] = connected_components(edges, directed=False)[1]
    return components[:count]
