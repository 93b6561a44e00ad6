"""ParaSCI: paraphrases from the papers of the ACL (Dong et al. 2021), lower-cased and tokenised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from espalier.corpora.readers.files import aligned, recognized_sources
from espalier.corpora.readers.rows import pair_of
from espalier.corpora.records import Pair, Quarantined

#: A folder with this file is of this kind.
MARKER = "train/train.src"

_SPLITS = {"train": "train", "dev": "val", "test": "test"}


def read(folders: Mapping[str, Path]) -> Iterator[Pair | Quarantined]:
    """Every pair of the published splits, as printed. Ids are `<source's name>-<split>-<line>`, from 0.

    Args:
        folders: source names and their folders, which hold `train/train.src`, `train/train.tgt`, `val/val.src` ...

    Raises:
        ConfigError: no folder.
        ArtifactError: a file is missing.
        DataError: the two files of a split have different numbers of lines.
    """
    for origin, folder, _ in recognized_sources(folders, (MARKER,), "parasci"):
        for split, name in _SPLITS.items():
            files = (folder / name / f"{name}.{side}" for side in ("src", "tgt"))
            for number, (source, target) in enumerate(aligned(*files)):
                yield pair_of(f"{origin}-{split}-{number:06d}", source, target, origin=origin, language="en")
