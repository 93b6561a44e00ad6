"""Paraphrases: the collections that stand in for ParaNMT (no public address gives its text), read as one corpus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from espalier.corpora.readers import mrpc, parasci, qcpg
from espalier.corpora.readers.lines import any_of
from espalier.corpora.records import Pair, Quarantined

_KINDS = {kind.MARK: kind.read for kind in (qcpg, parasci, mrpc)}


def read(folders: Mapping[str, Path]) -> Iterator[Pair | Quarantined]:
    """The rows of every folder, each read as what it holds: by `qcpg`, `parasci` or `mrpc`; `origin` is the stratum.

    Args:
        folders: source names and their folders.

    Raises:
        ConfigError: no folder.
        DataError: a folder of none of these kinds, or a malformed file.
    """
    for origin, folder, mark in any_of(folders, _KINDS, "paraphrases"):
        yield from _KINDS[mark]({origin: folder})
