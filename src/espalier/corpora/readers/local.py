"""Local files, a sentence in each line (`lines`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from espalier.corpora.readers.files import files_of
from espalier.corpora.readers.rows import sentence_of
from espalier.corpora.records import Quarantined, Sentence
from espalier.io.text_files import lines_of


def read_lines(folders: Mapping[str, Path], *, language: str) -> Iterator[Sentence | Quarantined]:
    """Every line of every file, in the order of sources, paths and lines.

    Ids are as in the reader `pairs`. White space becomes single spaces. Reasons for quarantine: "empty line", "damaged
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
