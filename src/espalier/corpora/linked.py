"""Connected components of rows that share a key."""

from collections.abc import Hashable, Iterable, Sequence


def linked(count: int, columns: Iterable[Sequence[Hashable | None]]) -> list[int]:
    """The component of each row, given as the index of one of its rows.

    Two rows are in one component if they share a key in any columns, or if each is in one component with a third row.

    Args:
        columns: columns with one key per row; None for no key.
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
