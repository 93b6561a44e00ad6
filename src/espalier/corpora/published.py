"""Texts that others published for the rows of a corpus, one a line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from espalier.io.errors import DataError
from espalier.io.text_files import lines_of


def plain_text(line: str) -> str:
    """The text of a line that holds nothing else: its words, with single spaces between them."""
    return " ".join(line.split())


def published_texts(file: Path, ids: Sequence[str], text_of: Callable[[str], str] = plain_text) -> list[str]:
    """The texts of a published file that has one line for each row of a corpus.

    Args:
        file: of UTF-8 text.
        ids: of records; each ends with the number of its line, from 0.
        text_of: the text of a line.

    Raises:
        ArtifactError: there is no such file.
        DataError: it is not UTF-8, or has no line of that number, or `text_of` raises one.
    """
    lines = lines_of(file)
    places = [int(number) if (number := id_.rpartition("-")[2]).isdecimal() else -1 for id_ in ids]
    for id_, place in zip(ids, places, strict=True):
        if not 0 <= place < len(lines):
            raise DataError(f"{len(lines)} lines, and none for row {id_}", file=file, remedy="name the file's corpus")
    return [text_of(lines[place]) for place in places]
