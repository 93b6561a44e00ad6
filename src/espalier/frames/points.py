"""Sets of characters as arrays of code points."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from espalier.frames.automaton import OPEN, Characters

#: Code points in order.
Points = npt.NDArray[np.int64]


@lru_cache(maxsize=256)
def points_of(characters: Characters) -> Points:
    """The code points of a set of characters, in order."""
    some = _sorted(characters.some)
    if not characters.open:
        return some
    whole, less = _of_class(characters.open), _sorted(characters.without - characters.some)
    rest = np.delete(whole, whole.searchsorted(less[within(whole, less)]))
    more = some[~within(rest, some)]
    return np.sort(np.concatenate([rest, more])) if len(more) else rest


@lru_cache
def _of_class(name: str) -> Points:
    return _sorted(filter(OPEN[name].fullmatch, map(chr, range(0x110000))))


def _sorted(characters: Iterable[str]) -> Points:
    text = "".join(characters).encode("utf-32-le", "surrogatepass")
    return np.sort(np.frombuffer(text, np.uint32).astype(np.int64))


def any_within(points: Points, first: int, last: int) -> bool:
    """Whether a point is in a range."""
    at = points.searchsorted(first)
    return bool(at < len(points) and points[at] < last)


def within(points: Points, first: Points, last: Points | None = None) -> npt.NDArray[np.bool_]:
    """For each range, whether a point is in it; a range without a last is of one point."""
    return points.searchsorted(first) < points.searchsorted(first + 1 if last is None else last)
