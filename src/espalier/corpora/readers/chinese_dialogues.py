"""Weibo and XDailyDialog together: Chinese dialogues of several collections in one corpus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from espalier.corpora.readers import weibo, xdailydialog
from espalier.corpora.readers.files import require_sources
from espalier.corpora.records import Pair, Quarantined


def read(folders: Mapping[str, Path]) -> Iterator[Pair | Quarantined]:
    """The pairs of each source in turn, by the reader `xdailydialog` if it has the files of that, or by `weibo`.

    Args:
        folders: source names and their folders.

    Raises:
        ConfigError: there is no source, or there are two of one collection of Weibo.
        ArtifactError: a file of XDailyDialog is missing.
        DataError: a folder is of neither, or a file is malformed.
    """
    require_sources(folders, "chinese_dialogues")
    daily = {origin: folder for origin, folder in folders.items() if (folder / xdailydialog.TRAIN).is_file()}
    if others := {origin: folder for origin, folder in folders.items() if origin not in daily}:
        yield from weibo.read(others)
    for origin, folder in daily.items():
        yield from xdailydialog.read({origin: folder})
