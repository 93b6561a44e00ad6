"""Local files, a sentence in each line (`lines`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from espalier.corpora.readers.files import files_of
from espalier.corpora.readers.framing import UNREADABLE, Encoding
from espalier.corpora.readers.rows import sentence_of
from espalier.corpora.records import Quarantined, Sentence
from espalier.io.text_files import each_line
from espalier.text.language import Language


def read_lines(
    folders: Mapping[str, Path], *, language: Language, encoding: Encoding = "utf-8"
) -> Iterator[Sentence | Quarantined]:
    """Every line of every file, in the order of sources, paths and lines.

    Ids are as in the reader `pairs`. White space becomes single spaces. Reasons for quarantine: "empty line", "damaged
    character".

    Args:
        folders: source names and their folders.
        language: language of the sentences.
        encoding: encoding of the files.

    Raises:
        ConfigError: there is no source.
        DataError: a source has no files, or a file is not in the encoding; the message names the file and the row.
    """
    for origin, file, name in files_of(folders, "lines"):
        for row, line in enumerate(each_line(file, encoding, remedy=UNREADABLE), start=1):
            yield sentence_of(f"{origin}/{name}/{row}", line, origin=origin, language=language)
