"""The 800 test pairs of GuiG's authors, parsed by AllenNLP.

The file test_syn_src.txt holds the pairs in the format of the reader `paranmt`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from espalier.corpora.readers.files import lines_of_test
from espalier.corpora.readers.paranmt import parsed_pair
from espalier.corpora.records import Pair, Quarantined

FILE = "test_syn_src.txt"


def read(folders: Mapping[str, Path], *, labels: Mapping[str, str] | None = None) -> Iterator[Pair | Quarantined]:
    """Every line as a pair with trees without words.

    Ids are those of `lines_of_test`. Lines are quarantined as in `parsed_pair`.

    Args:
        folders: one source's name and folder.
        labels: {label: replacement} for the trees. It lets a model read trees with labels that it was not trained on,
            such as OntoNotes' HYPH.

    Raises:
        ConfigError: not exactly one source.
        ArtifactError, DataError: the file is missing or is not UTF-8.
    """
    for id_, origin, line in lines_of_test(folders, "guig_released", FILE):
        yield parsed_pair(id_, origin, line, labels)
