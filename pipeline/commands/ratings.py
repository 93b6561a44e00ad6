"""The command `ratings`: human ratings of the texts of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from espalier.io.errors import ConfigError, DataError
from espalier.io.terminal import json_line, printable
from espalier.report.ratings import LEVELS, Ratings, RunLevels, ratings_of

#: The key that a report writes beside its sheet.
KEY = "nbest_key.csv"


def ratings(sheets: Sequence[Path], key: Path | None, *, json: bool) -> None:
    """Print the share of each level by run, and Fleiss' kappa with its interval.

    Args:
        sheets: filled-in sheets, one per rater.
        key: file with the run of each text; by default `KEY` beside the first sheet.
    """
    if len(set(sheets)) < len(sheets):
        raise ConfigError("a sheet is named twice", where="ratings", remedy="give one file for each rater")
    key = key or sheets[0].parent / KEY
    found = ratings_of({str(path): _read(path) for path in sheets}, _read(key), str(key))
    print(json_line(asdict(found)) if json else printable(_table(found)))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DataError("not UTF-8", file=path, remedy="save the sheet as CSV in UTF-8") from error
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", file=path) from error


def _table(ratings: Ratings) -> str:
    width = max(len("run"), *(len(run.run) for run in ratings.runs), len("all"))
    head = "".join(f"  level {level}" for level in LEVELS)
    lines = [f"{'run':{width}}  texts  empty{head}  kappa (95 % interval)"]
    for run in ratings.runs:
        shares = "".join(f"  {share:6.2f}%" for share in run.shares) if run.shares else "        –" * len(LEVELS)
        lines.append(f"{run.run:{width}}  {run.texts:5}  {run.empty:5}{shares}  {_kappa(run)}")
    raters = f"{ratings.raters} {'rater' if ratings.raters == 1 else 'raters'}, {ratings.items} items"
    return "\n".join([*lines, f"{raters}, kappa over all items {_kappa(ratings)}"])


def _kappa(rated: RunLevels | Ratings) -> str:
    value = "–" if rated.kappa is None else f"{rated.kappa:.4f}"
    return f"{value} ({rated.interval[0]:.4f} to {rated.interval[1]:.4f})" if rated.interval else value
