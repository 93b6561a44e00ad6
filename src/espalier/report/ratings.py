"""Ratings by people, read from filled-in sheets: the share of each level by run, and the agreement of raters."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Final

import numpy as np
import numpy.typing as npt

from espalier.io.errors import DataError
from espalier.report.sheet import Item, KeyRow, column_names

#: X2Tree's: 1 ungrammatical, 2 basically grammatical but irrelevant to the post, 3 grammatical and relevant.
LEVELS: Final = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class RunLevels:
    """The ratings of the texts of one run.

    Attributes:
        texts: how many were rated; a text that several inputs or ranks share counts as often.
        empty: its texts without words, which are not rated.
        shares: the percentage of each of `LEVELS` among the levels of all raters; None without texts.
        kappa: Fleiss' kappa over its texts; None where it is not defined.
    """

    run: str
    texts: int
    empty: int
    shares: tuple[float, ...] | None
    kappa: float | None


@dataclass(frozen=True, slots=True)
class Ratings:
    """The ratings of all runs, in the order of the key; `kappa` is over all items, each once."""

    raters: int
    items: int
    runs: tuple[RunLevels, ...]
    kappa: float | None


def ratings_of(sheets: Mapping[str, str], key: str, key_name: str) -> Ratings:
    """The levels of each run.

    Args:
        sheets: the text of each rater's filled-in sheet, by the name of its file.
        key: the text of the key, which has the run of each item.
        key_name: the name of the key's file.

    Raises:
        DataError: a file has other columns than `sheet_of` gives it; a level is missing or is none; an item stands
            twice, or is in one file only.
    """
    key_rows = [_key_row(row, key_name, number) for number, row in _rows(key, key_name, KeyRow)]
    asked = {row.item for row in key_rows if row.item}
    levels = [_levels(text, name, asked, key_name) for name, text in sheets.items()]
    counts = {item: [sum(own[item] == level for own in levels) for level in LEVELS] for item in sorted(asked)}
    runs = []
    for run, total in Counter(row.run for row in key_rows).items():
        own = np.array([counts[row.item] for row in key_rows if row.run == run and row.item])
        own = own.reshape(-1, len(LEVELS))
        shares = tuple((100 * own.sum(0) / own.sum()).tolist()) if len(own) else None
        runs.append(RunLevels(run, len(own), total - len(own), shares, fleiss_kappa(own)))
    every = np.array(list(counts.values())).reshape(-1, len(LEVELS))
    return Ratings(len(sheets), len(counts), tuple(runs), fleiss_kappa(every))


def fleiss_kappa(counts: npt.NDArray[np.int64]) -> float | None:
    """Fleiss' kappa (Fleiss 1971): agreement beyond chance, 1 where all agree.

    Args:
        counts: (items, levels) how many raters gave each level; as many raters for each item.

    Returns:
        None with fewer than two raters, without items, and where all levels are the same one.
    """
    raters = int(counts[0].sum()) if len(counts) else 0
    if raters < 2:
        return None
    observed = ((counts**2).sum(1) - raters).mean() / (raters * (raters - 1))
    chance = ((counts.sum(0) / counts.sum()) ** 2).sum()
    return float((observed - chance) / (1 - chance)) if chance < 1 else None


def _levels(text: str, name: str, asked: set[int], key_name: str) -> dict[int, int]:
    """The level of each item of one sheet."""
    found: dict[int, int] = {}
    for number, row in _rows(text, name, Item):
        item, level = _whole(row["item"], "item", name, number), row["level"].strip()
        if item not in asked:
            raise DataError(
                f"item {item} is not in {key_name}", file=name, row=number, remedy="use the sheet's own key"
            )
        if item in found:
            raise DataError(f"item {item} a second time", file=name, row=number, remedy="keep one")
        if not level:
            raise DataError(f"no level for item {item}", file=name, row=number, remedy="give 1, 2 or 3")
        if level not in map(str, LEVELS):
            raise DataError(f"the level '{level}' of item {item}", file=name, row=number, remedy="give 1, 2 or 3")
        found[item] = int(level)
    if missing := sorted(asked - found.keys()):
        some = ", ".join(map(str, missing[:5])) + (" ..." if len(missing) > 5 else "")
        raise DataError(f"no row for item {some}", file=name, remedy="fill in the whole sheet")
    return found


def _key_row(row: Mapping[str, str], name: str, number: int) -> KeyRow:
    item, rank = (_whole(row[column], column, name, number) for column in ("item", "rank"))
    return KeyRow(item, row["one"], row["run"], rank)


def _rows(text: str, name: str, row_type: type[Item] | type[KeyRow]) -> Sequence[tuple[int, dict[str, str]]]:
    """The rows of a CSV file by its columns, numbered as a spreadsheet numbers them: the header is row 1."""
    rows = list(csv.reader(StringIO(text.removeprefix("\ufeff"))))
    names = column_names(row_type)
    if not rows or rows[0] != names:
        raise DataError("not the columns of the sheet", file=name, row=1, remedy=f"expected {','.join(names)}")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(names):
            raise DataError(f"{len(row)} columns", file=name, row=number, remedy=f"expected {len(names)}")
    return [(number, dict(zip(names, row, strict=True))) for number, row in enumerate(rows[1:], start=2)]


def _whole(text: str, column: str, name: str, number: int) -> int:
    if not text.strip().isdecimal():
        raise DataError(f"the {column} '{text}' is no number", file=name, row=number)
    return int(text)
