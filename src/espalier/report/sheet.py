"""Outputs for human raters: for each input the texts of all runs, shuffled, without the names of the runs.

X2Tree was rated in this way by three labelers ("Evaluation Methods"). The sheet is for the raters; the key names the
run of each text. `ratings.py` reads filled-in sheets.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from dataclasses import dataclass, fields
from io import StringIO

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
