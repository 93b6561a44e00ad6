"""Which rows belong together: connected components of rows that share a key."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence


def linked(count: int, columns: Iterable[Sequence[Hashable | None]]) -> list[int]:
    """For each row the number of its component: the place of one of the component's rows.

    Two rows are in one component if they share a key, in whatever columns, or if both are in one with a third row.

    Args:
        count: how many rows.
        columns: each with a key of every row; None for no key.
    """
    parents = list(range(count))

    def root(row: int) -> int:
        while parents[row] != row:
            parents[row] = row = parents[parents[row]]
        return row

    first: dict[Hashable, int] = {}
    for column in columns:
        for row, key in enumerate(column):
            if key is not None:
                parents[root(row)] = root(first.setdefault(key, row))
    return [root(row) for row in range(count)]
