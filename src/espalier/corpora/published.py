"""Texts published by others for the rows of a corpus, one per line."""

from collections.abc import Callable, Sequence
from pathlib import Path

from espalier.io.errors import DataError
from espalier.io.text_files import lines_of


def plain_text(line: str) -> str:
    """The text of a line: its words, joined by single spaces."""
    return " ".join(line.split())


def published_texts(
    file: Path, ids: Sequence[str], text_of: Callable[[str], str] = plain_text, *, numbered: bool = True
) -> list[str]:
    """The texts of a published file for some rows of a corpus.

    The line of a row is the one that begins with the row's id and a tab. If no line begins so, it is the line whose
    number, from 0, is the end of the id (`ci-000012`); if no id ends with a number, the file has one line per row, in
    their order.

    Args:
        file: UTF-8 text.
        ids: ids of records; an id may occur several times.
        text_of: extracts the text from a line, without its id.
        numbered: whether numbers at the ends of ids are numbers of lines; else a line with a tab begins with an id.

    Raises:
        ArtifactError: the file does not exist.
        DataError: the file is not UTF-8, the line of a row is missing, two lines have the same id, or `text_of` raises
            this error.
    """
    lines = lines_of(file)
    places = _places_by_id(file, lines, set(ids))
    if not numbered and not places and (row := next((row for row, line in enumerate(lines, 1) if "\t" in line), 0)):
        id_ = lines[row - 1].partition("\t")[0]
        remedy = f"write ID<TAB>TEXT with ids such as {ids[0]}, or one text a line"
        raise DataError(f"no record {id_[:40]!r}", file=file, row=row, remedy=remedy)
    if places:
        lines = [line.partition("\t")[2] for line in lines]
    elif numbered and all(id_.rpartition("-")[2].isdecimal() for id_ in ids):
        places = {id_: int(id_.rpartition("-")[2]) for id_ in ids}
    else:
        places = {id_: place for place, id_ in enumerate(dict.fromkeys(ids))}
        if len(places) != len(lines):
            raise DataError(
                f"{len(lines):,} lines for {len(places):,} rows, of ids such as {ids[0]}",
                file=file,
                remedy="write one line per row, or ID<TAB>TEXT",
            )
    for id_ in ids:
        if not 0 <= places.get(id_, -1) < len(lines):
            raise DataError(
                f"{len(lines):,} lines, and none for row {id_}",
                file=file,
                remedy="write a line ID<TAB>TEXT for each row",
            )
    return [text_of(lines[places[id_]]) for id_ in ids]


def _places_by_id(file: Path, lines: Sequence[str], ids: set[str]) -> dict[str, int]:
    """The lines that begin with an id and a tab: {id: number of the line, from 0}."""
    places: dict[str, int] = {}
    for place, line in enumerate(lines):
        id_, tab, _ = line.partition("\t")
        if tab and id_ in ids and places.setdefault(id_, place) != place:
            raise DataError(f"a second line of {id_}", file=file, row=place + 1, remedy="keep one")
    return places
