"""What the commands `check` and `grammar` do with frames. It is imported when they run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from espalier.cli.models import models
from espalier.cli.progress import say
from espalier.frames.frame import frame_of
from espalier.frames.judge import Grammar
from espalier.verse.ci_books import CiBooks, open_books

__all__ = ["CiBooks", "Grammar", "books_of", "frame_of", "say"]


def books_of(values: Mapping[str, Path | None]) -> CiBooks | None:
    """The books of a command, those of --books or of the clone; None without any."""
    # Rhymes are those of single characters; without its dictionary of phrases pypinyin is imported 0.3 s sooner.
    os.environ.setdefault("PYPINYIN_NO_PHRASES", "1")
    folder = values["books"] or models().books()
    return open_books(folder) if folder else None
