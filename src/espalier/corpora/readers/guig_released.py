"""The 800 test pairs of GuiG's authors, parsed by AllenNLP.

The pairs are in the file test_syn_src.txt, in the form that the reader `paranmt` describes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from espalier.corpora.readers.files import lines_of_test
from espalier.corpora.readers.paranmt import parsed_pair
from espalier.corpora.records import Pair, Quarantined

FILE = "test_syn_src.txt"


def read(folders: Mapping[str, Path], *, labels: Mapping[str, str] | None = None) -> Iterator[Pair | Quarantined]:
    """Every line as a pair with its trees, which have no words.

    Ids are those of `lines_of_test`. Lines are quarantined as `parsed_pair` says.

    Args:
        folders: one source's name and folder.
        labels: the label that takes the place of another in the trees, by the other's name; a model that has never read
            a label, such as OntoNotes' HYPH, can read these trees then.

    Raises:
        ConfigError: not exactly one source.
        ArtifactError, DataError: the file is missing or is not UTF-8.
    """
    for id_, origin, line in lines_of_test(folders, "guig_released", FILE):
        yield parsed_pair(id_, origin, line, labels)
