"""The JSON files of the chinese-poetry project: lists of poems, in files of a thousand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from espalier.corpora.readers.files import json_of
from espalier.io.errors import DataError


class RawPoem(NamedTuple):
    """A poem as published, with its paragraphs joined. `place` is `<file number>/<index from 0>`."""

    place: str
    title: str
    author: str
    text: str


def poems_in(folder: Path, collection: str, title: str) -> Iterator[RawPoem]:
    """Iterate over the poems of the files `<collection>.<number>.json`, in the order of numbers.

    Args:
        title: name of the field with the title.

    Raises:
        DataError: a file is missing or not JSON, or a poem lacks a field.
    """
    files = sorted(folder.glob(f"{collection}.*.json"), key=_number)
    if not files:
        raise DataError(
            f"no file {collection}.<number>.json", file=folder, remedy="run the download stage of its source"
        )
    for file in files:
        poems = json_of(file)
        if not isinstance(poems, list):
            raise DataError("not a list of poems", file=file)
        for index, poem in enumerate(poems):
            name, author, paragraphs = _fields(poem, title, file, index + 1)
            yield RawPoem(f"{file.name.split('.')[2]}/{index}", name, author, "".join(paragraphs).strip())


def _number(file: Path) -> tuple[int, str]:
    number = file.name.split(".")[2]
    return int(re.match(r"\d*", number)[0] or 0), number  # type: ignore[index]  # \d* always matches


def _fields(poem: Any, key: str, file: Path, row: int) -> tuple[str, str, list[str]]:
    try:
        title, author, paragraphs = poem[key], poem["author"], poem["paragraphs"]
    except (KeyError, TypeError) as error:
        raise DataError(f"not a poem with {key}, author and paragraphs", file=file, row=row) from error
    if not (isinstance(title, str) and isinstance(author, str) and isinstance(paragraphs, list)):
        raise DataError(f"{key} and author must be texts, paragraphs a list", file=file, row=row)
    if not all(isinstance(paragraph, str) for paragraph in paragraphs):
        raise DataError("a paragraph is not a text", file=file, row=row)
    return title, author, paragraphs
