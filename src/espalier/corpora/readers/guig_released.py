"""The 800 test pairs of GuiG's authors, parsed by AllenNLP.

The pairs are in the file test_syn_src.txt, in the form that the reader `paranmt` describes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from espalier.corpora.readers.files import lines_of, single_source
from espalier.corpora.readers.paranmt import parsed_pair
from espalier.corpora.records import Pair, Quarantined

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
