"""MRPC: the paraphrases of the Microsoft Research Paraphrase Corpus (Dolan and Brockett 2005)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from espalier.corpora.readers.files import fields_of, recognized_sources
from espalier.corpora.readers.rows import pair_of, quarantined
from espalier.corpora.records import Pair, Quarantined
from espalier.io.errors import DataError
from espalier.io.text_files import lines_of

#: A folder with this file is of this kind.
MARKER = "msr_paraphrase_train.txt"

_SPLITS = ("train", "test")


def read(folders: Mapping[str, Path]) -> Iterator[Pair | Quarantined]:
    """Every pair of quality 1. Pairs of quality 0 are quarantined as "no paraphrase".

    Ids are `<source's name>-<split>-<row>`, counted from 0 below the header. Quotation marks are read as text.

    Args:
        folders: source names and their folders, which hold `msr_paraphrase_train.txt` and `msr_paraphrase_test.txt`.

    Raises:
        ConfigError: no folder.
        ArtifactError: a file is missing.
        DataError: a row does not have five fields, or has an unknown quality.
    """
    for origin, folder, _ in recognized_sources(folders, (MARKER,), "mrpc"):
        for split in _SPLITS:
            file = folder / f"msr_paraphrase_{split}.txt"
            for number, line in enumerate(lines_of(file)[1:]):
                quality, _, _, source, target = fields_of(line, "\t", 5, file, number + 2)
                id = f"{origin}-{split}-{number:06d}"
                if quality not in ("0", "1"):
                    raise DataError(f"quality '{quality[:20]}'", file=file, row=number + 2, remedy="expected 0 or 1")
                if quality == "0":
                    yield quarantined(id, "no paraphrase", f"{source}\t{target}")
                else:
                    yield pair_of(id, source, target, origin=origin, language="en")
