"""The 800 test pairs of GuiG's authors, parsed by AllenNLP; and texts that others published for the rows of a corpus.

The pairs are in the file test_syn_src.txt, in the form that the reader `paranmt` describes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from espalier.corpora.readers.files import lines_of, single_source
from espalier.corpora.readers.paranmt import parsed_pair
from espalier.corpora.records import Pair, Quarantined
from espalier.io.errors import DataError

FILE = "test_syn_src.txt"


def read(folders: Mapping[str, Path]) -> Iterator[Pair | Quarantined]:
    """Every line as a pair with its trees, which have no words.

    Ids are `<source>-test-<line>`, from 0, for a split of the kind `published`. Lines are quarantined as
    `parsed_pair` says.

    Args:
        folders: one source's name and folder.

    Raises:
        ConfigError: not exactly one source.
        ArtifactError, DataError: the file is missing or is not UTF-8.
    """
    origin, folder = single_source(folders, "guig_released")
    for number, line in enumerate(lines_of(folder / FILE)):
        yield parsed_pair(f"{origin}-test-{number:06d}", origin, line)


def published_texts(file: Path, ids: Sequence[str]) -> list[str]:
    """The texts of a published file that has one line for each row of a corpus, without white space at their ends.

    Args:
        file: of UTF-8 text.
        ids: of records; each ends with the number of its line, from 0.

    Raises:
        ArtifactError: there is no such file.
        DataError: it is not UTF-8, or has no line of that number.
    """
    lines = lines_of(file)
    places = [int(number) if (number := id_.rpartition("-")[2]).isdecimal() else -1 for id_ in ids]
    for id_, place in zip(ids, places, strict=True):
        if not 0 <= place < len(lines):
            raise DataError(f"{len(lines)} lines, and none for row {id_}", file=file, remedy="name the file's corpus")
    return [" ".join(lines[place].split()) for place in places]
