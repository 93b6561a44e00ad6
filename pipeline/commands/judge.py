"""judge: what people have filled into the sheets of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from espalier.io.errors import ConfigError, DataError
from espalier.io.terminal import json_line, printable
from espalier.report.judgements import LEVELS, Judgement, judgement_of

#: The key that a report writes beside its sheet.
KEY = "nbest_key.csv"


def judge(sheets: Sequence[Path], key: Path | None, *, json: bool) -> None:
    """Print the share of each level by run, and Fleiss' kappa.

    Args:
        sheets: one filled-in sheet for each person.
        key: of the sheets; else `KEY` beside the first one.
    """
    if len(set(sheets)) < len(sheets):
        raise ConfigError("a sheet is named twice", where="judge", remedy="one file for each person")
    key = key or sheets[0].parent / KEY
    judgement = judgement_of({str(path): _read(path) for path in sheets}, _read(key), str(key))
    print(json_line(asdict(judgement)) if json else printable(_table(judgement)))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DataError("not UTF-8", file=path, remedy="save the sheet as CSV in UTF-8") from error
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", file=path) from error


def _table(judgement: Judgement) -> str:
    width = max(len("run"), *(len(run.run) for run in judgement.runs), len("all"))
    head = "".join(f"  level {level}" for level in LEVELS)
    lines = [f"{'run':{width}}  texts  empty{head}    kappa"]
    for run in judgement.runs:
        shares = "".join(f"  {share:6.2f}%" for share in run.shares) if run.shares else "        –" * len(LEVELS)
        lines.append(f"{run.run:{width}}  {run.texts:5}  {run.empty:5}{shares}  {_kappa(run.kappa):>7}")
    people = f"{judgement.people} {'person' if judgement.people == 1 else 'people'}, {judgement.items} items"
    return "\n".join([*lines, f"{people}, kappa over all items {_kappa(judgement.kappa)}"])


def _kappa(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
