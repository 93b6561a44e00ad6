"""Batches that a thread makes while the device computes the ones before."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

T = TypeVar("T")

#: The batches that are made ahead for a GPU. On a CPU the thread would take time from the computation.
AHEAD = 2


def made_ahead(make: Callable[[int], T], places: Iterable[int], ahead: int) -> Iterator[tuple[int, T]]:
    """Each place with what `make` makes of it, in order; a thread makes the next `ahead` of them, or none.

    An error of `make` is raised in the turn of its place.
    """
    if not ahead:
        yield from ((place, make(place)) for place in places)
        return
    left, waiting = iter(places), deque[tuple[int, Future[T]]]()
    pool = ThreadPoolExecutor(1, "batches")
    try:
        while True:
            waiting.extend((place, pool.submit(make, place)) for place in islice(left, ahead + 1 - len(waiting)))
            if not waiting:
                return
            place, made = waiting.popleft()
            yield place, made.result()
    finally:
        pool.shutdown(cancel_futures=True)
