"""Raters' files, checked against their sample and merged: each mistake is one line with its file and row.

A file is the JSON that a page writes, or the CSV beside it, filled in. Rows of CSV count as in a spreadsheet, from the
header, which is 1; those of JSON are the entries of `answers`, from 1.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Final, NamedTuple

from espalier.io.errors import DataError
from espalier.io.files import no_number
from espalier.judging.protocol import REFERENCE
from espalier.judging.sample import Sample
from espalier.judging.sheets import COLUMNS

#: Columns by which a file would tell its rater the systems.
_TELLING: Final = re.compile(r"runs?|systems?|models?|sources?|keys?|authors?", re.I)


class Row(NamedTuple):
    """One answer of a file, as it is written."""

    number: int
    sample: str
    rater: str
    item: str
    question: str
    answer: str


class _At(NamedTuple):
    """A row of a file; None for the file as a whole."""

    file: str
    row: int | None = None

    def error(self, what: str, remedy: str | None = None) -> DataError:
        return DataError(what, file=self.file, row=self.row, remedy=remedy)


@dataclass(frozen=True, slots=True)
class Answers:
    """The checked answers of one rater, by item and question.

    Attributes:
        simulated: whether a program answered. Such answers test the kit and say nothing of the texts.
    """

    rater: str
    file: str
    answers: Mapping[tuple[int, str], str]
    simulated: bool = False


def merged(files: Mapping[str, str], sample: Sample, *, incomplete: bool = False) -> list[Answers]:
    """Check and merge raters' files.

    Args:
        files: text of each file, by its name.
        incomplete: allow files in which questions have no answer.

    Raises:
        DataError: a file is none of this sample, names a system, or is a second one of its rater; or an answer is
            missing, given twice, impossible, or to a question that its rater was not asked.
    """
    read: dict[str, Answers] = {}
    for name, text in files.items():
        answers = _checked(name, text, sample, incomplete=incomplete)
        if answers.rater in read:
            raise DataError(
                f"a second file of {answers.rater}, after {read[answers.rater].file}",
                file=name,
                remedy="keep one file of each rater",
            )
        read[answers.rater] = answers
    return [read[rater] for rater in sample.orders if rater in read]


def _checked(name: str, text: str, sample: Sample, *, incomplete: bool) -> Answers:
    rows, simulated = _rows_of(name, text)
    rater = ""
    given: dict[tuple[int, str], str] = {}
    row_of: dict[tuple[int, str], int] = {}
    for row in rows:
        at = _At(name, row.number)
        if row.sample != sample.hash:
            raise at.error(f"of sample '{row.sample[:40]}', not {sample.hash}", "give the key of its own sample")
        _blinded(row, sample, at)
        if row.rater not in sample.orders:
            raise at.error(f"unknown rater '{row.rater[:40]}'", f"one of {', '.join(sample.orders)}")
        if rater and row.rater != rater:
            raise at.error(f"an answer of {row.rater} in a file of {rater}", "one file for each rater")
        rater = row.rater
        place = _place(row, sample, at)
        if place in given:
            raise at.error(f"a second answer to {place[1]} of item {place[0]}, after row {row_of[place]}", "keep one")
        answers = sample.protocol.answers(place[1], len(sample.item(place[0]).texts))
        answer = row.answer.strip()
        if not answer:
            if incomplete:
                continue
            raise _missing(place, at, answers)
        if answer not in answers:
            raise at.error(
                f"the answer '{answer[:40]}' to {place[1]} of item {place[0]}", f"one of {', '.join(answers)}"
            )
        given[place], row_of[place] = answer, row.number
    if not rater:
        raise DataError("no answers", file=name, remedy="answer the questions, and save the file again")
    _sets(given, row_of, sample, name)
    asked = sample.asked(rater)
    if not incomplete and (missing := [place for place in asked if place not in given]):
        more = f", and {len(missing) - 1} more answers are missing" if len(missing) > 1 else ""
        raise _missing(missing[0], _At(name), asked[missing[0]], more)
    return Answers(rater, name, given, simulated)


def _missing(place: tuple[int, str], at: _At, answers: Sequence[str], more: str = "") -> DataError:
    return at.error(
        f"no answer to {place[1]} of item {place[0]}{more}",
        f"give one of {', '.join(answers)}, or allow --incomplete files",
    )


def _blinded(row: Row, sample: Sample, at: _At) -> None:
    """Refuse an answer that names a system: whoever gave it knew whose text it is."""
    for value in (row.answer, row.question, row.rater):
        if value.strip() in sample.protocol.systems and value.strip() != REFERENCE:
            raise at.error(f"unblinded: it names the run {value.strip()}", "raters must not know the systems; ask anew")


def _place(row: Row, sample: Sample, at: _At) -> tuple[int, str]:
    """The item and question of a row, both of which its rater was asked."""
    if not re.fullmatch(r"[0-9]{1,7}", row.item.strip()):
        raise at.error(f"the item '{row.item[:40]}' is no number")
    number, question = int(row.item), row.question.strip()
    if number not in sample.orders[row.rater]:
        raise at.error(f"item {number} is not one of {row.rater}'s", "give the rater's own file")
    if question not in sample.protocol.questions:
        known = ", ".join(sample.protocol.questions)
        raise at.error(f"unknown question '{question[:40]}'", f"one of {known}")
    return number, question


def _sets(
    given: Mapping[tuple[int, str], str], row_of: Mapping[tuple[int, str], int], sample: Sample, name: str
) -> None:
    """Refuse a text that is both the best and the worst of its set."""
    for (number, question), answer in given.items():
        criterion, end = sample.protocol.questions[question]
        if end == "worst" and given.get((number, f"{criterion}_best")) == answer:
            raise DataError(
                f"text {answer} of item {number} is both best and worst in {criterion}",
                file=name,
                row=row_of[number, question],
                remedy="name two texts",
            )


def _rows_of(name: str, text: str) -> tuple[list[Row], bool]:
    """The rows of a file, and whether they are simulated."""
    text = text.removeprefix("\ufeff")
    if text.lstrip().startswith("{"):
        return _json_rows(name, text)
    if text.lstrip().startswith("<"):
        what = "the page and not its answers, which are in the rater's browser"
        raise DataError(what, file=name, remedy="press 'Save the answers to a file' there")
    return list(_csv_rows(name, text)), False


def _json_rows(name: str, text: str) -> tuple[list[Row], bool]:
    try:
        value = json.loads(text, parse_constant=no_number)
    except (ValueError, RecursionError) as error:
        raise DataError(f"no JSON ({error})", file=name, remedy="save it again from the page") from error
    if not isinstance(value, dict) or not isinstance(value.get("answers"), list):
        what = "the key of a sample" if isinstance(value, dict) and "orders" in value else "no file of a rater"
        raise DataError(what, file=name, remedy="give what a page saved, or a filled-in CSV")
    _untelling(name, None, value)
    rows = []
    for number, answer in enumerate(value["answers"], start=1):
        if not isinstance(answer, dict) or not {"item", "question", "answer"} <= answer.keys():
            raise DataError("no item, question and answer", file=name, row=number, remedy="save it again from the page")
        _untelling(name, number, answer)
        item, question, given = (answer[key] for key in ("item", "question", "answer"))
        written = "" if given is None else str(given)
        rows.append(Row(number, str(value.get("sample")), str(value.get("rater")), str(item), str(question), written))
    return rows, value.get("simulated") is True


def _csv_rows(name: str, text: str) -> Iterator[Row]:
    try:
        # Spreadsheets separate columns by what their country does.
        delimiter = max(",;\t", key=text.partition("\n")[0].count)
        rows = list(csv.reader(StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise DataError(f"no CSV ({error})", file=name, remedy="look for a quote that is not closed") from error
    header = [cell.strip() for cell in rows[0]] if rows else []
    _untelling(name, 1, header)
    if header != list(COLUMNS):
        raise DataError("not the columns of a rater's file", file=name, row=1, remedy=f"expected {','.join(COLUMNS)}")
    for number, cells in enumerate(rows[1:], start=2):
        if not any(cells):
            continue
        if len(cells) != len(COLUMNS):
            raise DataError(f"{len(cells)} columns", file=name, row=number, remedy=f"expected {len(COLUMNS)}")
        row = dict(zip(COLUMNS, (cell.strip() for cell in cells), strict=True))
        yield Row(number, row["sample"], row["rater"], row["item"], row["question"], row["answer"])


def _untelling(name: str, row: int | None, keys: Collection[str]) -> None:
    """Refuse a file that says whose the texts are."""
    if telling := [key for key in keys if _TELLING.fullmatch(key)]:
        raise DataError(
            f"unblinded: it has '{telling[0]}'", file=name, row=row, remedy="raters must not know the systems; ask anew"
        )
