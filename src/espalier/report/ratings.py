"""Human ratings: sheets of outputs for raters, the share of each level by run from filled-in ones, and their agreement.

For each input a sheet has the texts of all runs, shuffled, without the names of the runs. The sheet is for the raters;
the key names the run of each text. X2Tree was rated in this way by three labelers ("Evaluation Methods").
"""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from io import StringIO
from typing import Final

import numpy as np
import numpy.typing as npt

from espalier.io.errors import DataError
from espalier.metrics.bootstrap import percentile_interval, resampled_sums, sums_by_group
from espalier.report.comparisons import RESAMPLES, SEED
from espalier.report.examples import best_of, column_of
from espalier.report.printed import PrintedSheet
from espalier.report.results import RunResult
from espalier.text.words import join_words

#: Spreadsheets read a cell that begins with one of these as a formula.
_FORMULAS = ("=", "+", "-", "@")


@dataclass(frozen=True, slots=True)
class Item:
    """A text to rate, and its input. Items count from 1. The rater fills in `level`."""

    item: int
    given: str
    text: str
    level: str = ""


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A row of the key: the item is the `rank`-th best text of `run` for the input `one`. An empty text has item 0."""

    item: int
    one: str
    run: str
    rank: int


@dataclass(frozen=True, slots=True)
class Sheet:
    """The items in order of inputs, and their runs. A text shared by several runs is one item."""

    note: str
    items: tuple[Item, ...]
    key: tuple[KeyRow, ...]
    missing: tuple[str, ...]

    def files(self) -> dict[str, str]:
        """The sheet and its key, by file name."""
        return {"nbest.csv": _csv(self.items, Item), "nbest_key.csv": _csv(self.key, KeyRow)}


def sheet_of(printed: PrintedSheet, runs: Sequence[RunResult]) -> Sheet:
    """A sheet of all inputs for which every run has outputs. The same seed gives the same order."""
    by_key = {run.key: run for key in printed.runs for run in runs if run.key == key and run.rows}
    best_by_run = {key: best_of(run.rows, printed.one, printed.best) for key, run in by_key.items()}
    missing = tuple(key for key in printed.runs if key not in by_key)
    if not best_by_run:
        return Sheet(printed.note, (), (), missing)
    language = next(iter(by_key.values())).language
    items, key_rows = list[Item](), list[KeyRow]()
    for one, first in next(iter(best_by_run.values())).items():
        if not all(one in lists for lists in best_by_run.values()):
            continue
        whose: dict[str, list[tuple[str, int]]] = {}
        for key, lists in best_by_run.items():
            for rank, row in enumerate(lists[one], start=1):
                whose.setdefault(join_words(row["text"].split(), language), []).append((key, rank))
        texts = sorted(text for text in whose if text)
        random.Random(f"{printed.seed} {one}").shuffle(texts)
        given = join_words(column_of(first[0], printed.given).split(), language)
        numbers = {"": 0} | {text: len(items) + place for place, text in enumerate(texts, start=1)}
        items += [Item(numbers[text], _plain(given), _plain(text)) for text in texts]
        key_rows += [KeyRow(numbers[text], one, key, rank) for text, written in whose.items() for key, rank in written]
    return Sheet(printed.note, tuple(items), tuple(key_rows), missing)


def _csv(rows: Sequence[Item] | Sequence[KeyRow], row_type: type[Item] | type[KeyRow]) -> str:
    names = column_names(row_type)
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([getattr(row, name) for name in names] for row in rows)
    return out.getvalue()


def column_names(row_type: type[Item] | type[KeyRow]) -> list[str]:
    """The column names of a sheet's file."""
    return [field.name for field in fields(row_type)]


def _plain(text: str) -> str:
    """The text, with a space before a character that spreadsheets take for a formula ("= =" is a face on Weibo)."""
    return f" {text}" if text.startswith(_FORMULAS) else text


#: X2Tree's: 1 ungrammatical, 2 basically grammatical but irrelevant to the post, 3 grammatical and relevant.
LEVELS: Final = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class RunLevels:
    """The ratings of the texts of one run.

    Attributes:
        texts: number of rated texts; a text shared by several inputs or ranks counts once for each.
        empty: number of texts without words, which are not rated.
        shares: percentage of each of `LEVELS` over all raters; None without texts.
        kappa: Fleiss' kappa over the texts; None if undefined.
        interval: 95 % interval of kappa, over inputs; None if undefined.
    """

    run: str
    texts: int
    empty: int
    shares: tuple[float, ...] | None
    kappa: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Ratings:
    """The ratings of all runs, in the order of the key. `kappa` and `interval` are over all distinct items."""

    raters: int
    items: int
    runs: tuple[RunLevels, ...]
    kappa: float | None
    interval: tuple[float, float] | None


def ratings_of(sheets: Mapping[str, str], key: str, key_name: str) -> Ratings:
    """Compute the ratings of each run.

    Args:
        sheets: text of each rater's filled-in sheet, by file name.
        key: text of the key, which names the run of each item.
        key_name: file name of the key.

    Raises:
        DataError: a file has other columns than those of `sheet_of`, a level is missing or unknown, or an item occurs
            twice or in only one file.
    """
    key_rows = [_key_row(row, key_name, number) for number, row in _rows(key, key_name, KeyRow)]
    asked = {row.item for row in key_rows if row.item}
    levels = [_levels(text, name, asked, key_name) for name, text in sheets.items()]
    counts = {item: [sum(own[item] == level for own in levels) for level in LEVELS] for item in sorted(asked)}
    inputs = {row.item: row.one for row in key_rows}
    runs = []
    for run, total in Counter(row.run for row in key_rows).items():
        rated = [row.item for row in key_rows if row.run == run and row.item]
        own = np.array([counts[item] for item in rated], dtype=np.int64).reshape(-1, len(LEVELS))
        shares = tuple((100 * own.sum(0) / own.sum()).tolist()) if len(own) else None
        agreement = fleiss_kappa(own, [inputs[item] for item in rated])
        runs.append(RunLevels(run, len(own), total - len(own), shares, *agreement))
    every = np.array(list(counts.values()), dtype=np.int64).reshape(-1, len(LEVELS))
    agreement = fleiss_kappa(every, [inputs[item] for item in counts])
    return Ratings(len(sheets), len(counts), tuple(runs), *agreement)


def fleiss_kappa(
    counts: npt.NDArray[np.int64], inputs: Sequence[str]
) -> tuple[float | None, tuple[float, float] | None]:
    """Fleiss' kappa (Fleiss 1971), the agreement beyond chance (1 for perfect agreement), and its 95 % interval.

    The interval comes from a bootstrap over inputs: texts for one input are resampled together.

    Args:
        counts: (items, levels) number of raters who gave each level; every item has the same number of raters.
        inputs: (items) input of each item.

    Returns:
        kappa: None with fewer than two raters, without items, or if all levels are equal.
        interval: None if kappa is None or there is only one input.
    """
    raters = int(counts[0].sum()) if len(counts) else 0
    if raters < 2:
        return None, None
    # For each item: the number of ordered pairs of raters who agree, and the counts of levels.
    statistics = np.column_stack([(counts**2).sum(1) - raters, counts]).astype(np.float64)
    kappa = float(_kappa(statistics.sum(0), raters))
    by_input = sums_by_group(statistics, inputs)
    if not np.isfinite(kappa):
        return None, None
    if len(by_input) < 2:
        return kappa, None
    return kappa, percentile_interval(_kappa(resampled_sums(by_input, seed=SEED, resamples=RESAMPLES), raters), 0.95)


def _kappa(sums: npt.NDArray[np.float64], raters: int) -> npt.NDArray[np.float64]:
    """Kappa of summed statistics, (..., 1 + levels) -> (...); NaN if all levels are equal."""
    agree, levels = sums[..., 0], sums[..., 1:]
    total = levels.sum(-1)
    observed = agree / (total * (raters - 1))
    chance = ((levels / total[..., None]) ** 2).sum(-1)
    with np.errstate(invalid="ignore"):
        return np.asarray((observed - chance) / (1 - chance))


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
    """The rows of a CSV file by column, numbered as in a spreadsheet: the header is row 1."""
    try:
        rows = list(csv.reader(StringIO(text.removeprefix("\ufeff"))))
    except csv.Error as error:
        raise DataError(f"no CSV ({error})", file=name, remedy="look for a quote that is not closed") from error
    names = column_names(row_type)
    if not rows or rows[0] != names:
        raise DataError("not the columns of the sheet", file=name, row=1, remedy=f"expected {','.join(names)}")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(names):
            raise DataError(f"{len(row)} columns", file=name, row=number, remedy=f"expected {len(names)}")
    return [(number, dict(zip(names, row, strict=True))) for number, row in enumerate(rows[1:], start=2)]


def _whole(text: str, column: str, name: str, number: int) -> int:
    if not (text.strip().isdecimal() and len(text.strip()) < 10):
        raise DataError(f"the {column} '{text[:80]}' is no number", file=name, row=number)
    return int(text)
