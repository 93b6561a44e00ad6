"""The best texts of a run for each input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from espalier.io.errors import ConfigError

#: A row of outputs as text, by column.
Row = Mapping[str, str]


def column_of(row: Row, name: str, where: str) -> str:
    """The value of an output row in a column that a setting names.

    Args:
        where: the file or key of the setting.

    Raises:
        ConfigError: the outputs lack the column.
    """
    if name not in row:
        raise ConfigError.unknown("column of the outputs", name, row, where=where)
    return row[name]


def best_of(rows: Iterable[Row], one: str, count: int, where: str) -> dict[str, list[Row]]:
    """For each value of the column `one`, the first `count` rows (best samples) of its first id and seed."""
    best: dict[str, list[Row]] = {}
    for row in rows:
        mine = best.setdefault(column_of(row, one, where), [])
        if len(mine) < count and (not mine or all(row.get(name) == mine[0].get(name) for name in ("id", "seed"))):
            mine.append(row)
    return best
