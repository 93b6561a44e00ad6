"""Local files, a row in each line: sentences (`lines`), or pairs separated by tabs, without a header (`tsv`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from espalier.corpora.readers.files import files_of
from espalier.corpora.readers.rows import pair_of, quarantined, sentence_of
from espalier.corpora.records import Pair, Quarantined, Sentence
from espalier.io.errors import ConfigError
from espalier.io.text_files import lines_of

#: The kinds of columns. Any number of columns may be skipped; the others occur once.
COLUMNS: Final = ("source", "target", "group", "skip")


def read_tsv(
    folders: Mapping[str, Path], *, language: str, columns: Sequence[str] = ("source", "target")
) -> Iterator[Pair | Quarantined]:
    """Every line of every file, in the order of sources, paths and lines.

    Ids are `<source>/<file without its last suffix>/<row>`, with rows from 1. For a split of kind `published`, a file
    `train.tsv` is therefore the split `train`. White space becomes single spaces. Reasons for quarantine: "wrong number
    of fields", "empty side", "damaged character".

    Args:
        folders: source names and their folders.
        language: language of both sides.
        columns: names of the fields of a line; see `COLUMNS`. A split of kind `group` keeps rows of one `group`
            together.

    Raises:
        ConfigError: there is no source, or the columns are invalid.
        DataError: a source has no files, or a file is not UTF-8; the message names the file and the row.
    """
    _check(columns)
    for origin, file, name in files_of(folders, "tsv"):
        for row, line in enumerate(lines_of(file), start=1):
            id, fields = f"{origin}/{name}/{row}", line.split("\t")
            if len(fields) != len(columns):
                yield quarantined(id, "wrong number of fields", line)
                continue
            values = dict(zip(columns, fields, strict=True))
            group = " ".join(values.get("group", "").split())
            yield pair_of(id, values["source"], values["target"], origin=origin, language=language, group=group)


def _check(columns: Sequence[str]) -> None:
    for column in columns:
        if column not in COLUMNS:
            raise ConfigError.unknown("column", column, COLUMNS, where="reader tsv")
    for column in COLUMNS[:3]:
        if columns.count(column) > 1 or (column != "group" and column not in columns):
            raise ConfigError(
                f"columns {', '.join(columns)}: {columns.count(column)} times {column}",
                where="reader tsv",
                remedy="source and target once, group at most once",
            )


def read_lines(folders: Mapping[str, Path], *, language: str) -> Iterator[Sentence | Quarantined]:
    """Every line of every file, in the order of sources, paths and lines.

    Ids are as in the reader `tsv`. White space becomes single spaces. Reasons for quarantine: "empty line", "damaged
    character".

    Args:
        folders: source names and their folders.
        language: language of the sentences.

    Raises:
        ConfigError: there is no source.
        DataError: a source has no files, or a file is not UTF-8; the message names the file and the row.
    """
    for origin, file, name in files_of(folders, "lines"):
        for row, line in enumerate(lines_of(file), start=1):
            yield sentence_of(f"{origin}/{name}/{row}", line, origin=origin, language=language)
