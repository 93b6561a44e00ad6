"""A model that threads and processes share; a spawned process imports this module by its name."""

from __future__ import annotations

from pathlib import Path

import espalier
from espalier.inference.system import System

FORMATS = ["2。", "3，2。", "灯_。", "1，1，2。"]
_shared: System


def load(folder: Path | None) -> None:
    """Load the model of this process; None leaves that of its parent."""
    global _shared
    if folder is not None:
        _shared = espalier.load(folder, device="cpu")


def answers(place: int) -> list[str]:
    """The texts of a call that differs by its place."""
    return [poem.text for poem in _shared.generate([FORMATS[place % 4]], n=2, seed=place)]
