"""Texts published by others for the rows of a corpus, one per line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from espalier.io.errors import DataError
from espalier.io.text_files import lines_of


def plain_text(line: str) -> str:
    """The text of a line: its words, joined by single spaces."""
    return " ".join(line.split())


def published_texts(file: Path, ids: Sequence[str], text_of: Callable[[str], str] = plain_text) -> list[str]:
    """The texts of a published file with one line per row of a corpus.

    Args:
        file: UTF-8 text.
        ids: ids of records. Each ends with its line number, counted from 0.
        text_of: extracts the text from a line.

    Raises:
        ArtifactError: the file does not exist.
        DataError: the file is not UTF-8, a line is missing, or `text_of` raises this error.
    """
    lines = lines_of(file)
    places = [int(number) if (number := id_.rpartition("-")[2]).isdecimal() else -1 for id_ in ids]
    for id_, place in zip(ids, places, strict=True):
        if not 0 <= place < len(lines):
            raise DataError(f"{len(lines)} lines, and none for row {id_}", file=file, remedy="name the file's corpus")
    return [text_of(lines[place]) for place in places]
