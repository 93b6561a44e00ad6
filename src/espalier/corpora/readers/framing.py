"""Rows of one's own files: CSV, TSV, JSON Lines and JSON differ in how they frame a row, and in nothing else."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypedDict, get_args

from espalier.corpora.readers.files import files_of, json_in
from espalier.io.errors import ConfigError, DataError
from espalier.io.text_files import each_line, text_of

Form = Literal["csv", "tsv", "json", "jsonl"]
#: Encodings of files that programs and old web pages write. GB18030 includes GBK and GB2312.
Encoding = Literal["utf-8", "utf-16", "gb18030", "big5", "cp1252"]
ENCODINGS: Final[tuple[Encoding, ...]] = get_args(Encoding)
#: The form of a file by the end of its name.
FORMS: Final[Mapping[str, Form]] = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".txt": "tsv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl",
}  # fmt: skip


UNREADABLE: Final = f"convert the file to UTF-8, or give its encoding: {', '.join(ENCODINGS)}"


class Framing(TypedDict, total=False):
    """How the rows of a file are framed. What is not given follows from the file's name."""

    form: Form
    #: Between the fields of csv (",") and of tsv (a tab).
    separator: str
    #: Whether a field that begins with a quotation mark ends with one: csv yes, tsv no.
    quotes: bool
    #: utf-8.
    encoding: Encoding
    #: Of json: the key of the list of rows, with dots for keys inside; "" if the file is the list, or maps ids to rows.
    within: str


class Row(NamedTuple):
    """A row of a file.

    Attributes:
        number: the line on which it begins, from 1; in JSON its place in the list.
        value: its fields, in the order of the file; in JSON whatever stands there.
        fault: why it cannot be read; "" if it can.
        text: the row as it stands in the file, or as JSON.
    """

    number: int
    value: Any
    fault: str
    text: str


class OwnRow(NamedTuple):
    """A row with the id of its record and the name of its source."""

    id: str
    origin: str
    row: Row


def own_rows(folders: Mapping[str, Path], reader: str, framing: Framing, *, header: bool = False) -> Iterator[OwnRow]:
    """Every row of every file, in the order of sources, paths and rows.

    Ids are `<source>/<file without its last suffix>/<row>`. For a split of kind `published`, a file `train.csv` is
    therefore the split `train`.

    Args:
        header: whether the first row of csv and tsv names the fields; the values of the others are then mappings.

    Raises:
        ConfigError: there is no source, or the separator is not one character.
        DataError: a source has no files, or a file is not in its encoding or form; the message names file and row.
    """
    if len(framing.get("separator", ",")) != 1 or framing.get("separator") in ("\n", "\r", '"', "\0"):
        what = f"separator {framing.get('separator', '')!r}"
        raise ConfigError(what, where=f"reader {reader}", remedy="one character between two fields")
    for origin, file, name in files_of(folders, reader):
        for row in rows_of(file, framing, header=header):
            yield OwnRow(f"{origin}/{name}/{row.number}", origin, row)


def rows_of(file: Path, framing: Framing, *, header: bool = False) -> Iterator[Row]:
    """Every row of a file, as in `own_rows`. Blank lines of csv and jsonl are no rows.

    Raises:
        DataError: as in `own_rows`.
    """
    form = framing.get("form") or FORMS.get(file.suffix.lower())
    if form is None:
        raise DataError("a file of no known form", file=file, remedy=f"give form: {', '.join(get_args(Form))}")
    encoding = framing.get("encoding", "utf-8")
    if form == "json":
        text = text_of(file, encoding, remedy=UNREADABLE)
        yield from listed(json_in(text, file), framing.get("within", ""), file)
        return
    lines = each_line(file, encoding, remedy=UNREADABLE)
    if form == "jsonl":
        yield from _json_lines(lines, file)
        return
    comma = form == "csv"
    separator, quotes = framing.get("separator", "," if comma else "\t"), framing.get("quotes", comma)
    rows = _quoted(lines, separator, file) if quotes else _split(lines, separator, blank=not comma)
    yield from _named(rows, file) if header else rows


def _split(lines: Iterator[str], separator: str, *, blank: bool) -> Iterator[Row]:
    for number, line in enumerate(lines, start=1):
        if line or blank:
            yield Row(number, line.split(separator), "", line)


def _quoted(lines: Iterator[str], separator: str, file: Path) -> Iterator[Row]:
    own = list[str]()  # the lines of a row

    def noted() -> Iterator[str]:
        for line in lines:
            own.append(line)
            yield f"{line}\n"

    rows = csv.reader(noted(), delimiter=separator, strict=True)
    start = 1
    try:
        for fields in rows:
            if fields:
                yield Row(start, fields, "", "\n".join(own))
            own.clear()
            start = rows.line_num + 1
    except csv.Error as error:
        remedy = "double a quotation mark inside quotation marks; or give quotes: false, if none encloses a field"
        raise DataError(f"not valid CSV ({error})", file=file, row=start, remedy=remedy) from error


def _named(rows: Iterator[Row], file: Path) -> Iterator[Row]:
    """The rows below a header, each as a mapping from the header's names."""
    head = next(rows, None)
    if head is None:
        raise DataError("no rows", file=file, remedy="its first row names the fields")
    names = [name.strip() for name in head.value]
    for row in rows:
        if len(row.value) == len(names):
            yield row._replace(value=dict(zip(names, row.value, strict=True)))
        else:
            yield row._replace(value={}, fault="wrong number of fields")


def _json_lines(lines: Iterator[str], file: Path) -> Iterator[Row]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield Row(number, json_in(line, file, number), "", line)
            except DataError:
                yield Row(number, None, "not valid JSON", line)


def listed(value: object, within: str, file: Path) -> Iterator[Row]:
    """Every row of a JSON file that is read already, as in `rows_of`."""
    if within and (value := value_at(value, within)) is None:
        raise DataError(f"no {within}", file=file, remedy="name the key of the list of rows: within")
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        raise DataError("no list of rows", file=file, remedy="name the key of the list of rows: within")
    for number, each in enumerate(value, start=1):
        yield Row(number, each, "", json.dumps(each, ensure_ascii=False))


def value_at(value: object, path: str) -> object:
    """What stands at a key of a mapping, or at keys inside with dots: "translation.en"; None if nothing does.

    Keys may have dots themselves.
    """
    if not isinstance(value, Mapping):
        return None
    if path in value:
        return value[path]
    dot = path.find(".")
    while dot >= 0:
        if (found := value_at(value.get(path[:dot]), path[dot + 1 :])) is not None:
            return found
        dot = path.find(".", dot + 1)
    return None


def lines_at(value: object, path: str) -> list[str] | None:
    """The lines of a text, or of a list of texts, at a key; None if there is neither. Numbers are texts."""
    found = value_at(value, path)
    parts: Sequence[object] = found if isinstance(found, list) else [found]
    if not all(isinstance(part, str | int | float) for part in parts):
        return None
    return [line for part in parts for line in str(part).split("\n")]


def number_in(text: str) -> float | None:
    """The number that a text is, such as a label; None if it is none, or "nan", which stands where one lacks."""
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isnan(number) else number
