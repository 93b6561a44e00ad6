"""Trainings for test_seeds.py, in a module that new processes can import."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from espalier.io.errors import EspalierError
from pipeline.graph.seeds import Show


def write_seed(key: str, seed: int, show: Show) -> None:
    show(seed, 1, 10.0, 0.5)
    show(seed, 2, 20.0, 0.25)
    time.sleep(1)
    Path(key, str(seed)).write_text(str(os.getpid()), encoding="utf-8")


def refuse(key: str, seed: int, show: Show) -> None:
    if seed == 2:
        raise EspalierError("the loss is no longer a number", remedy="lower the rate")
    go_on(key, seed, show)


def die(key: str, seed: int, show: Show) -> None:
    if seed == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    go_on(key, seed, show)


def go_on(key: str, seed: int, show: Show) -> None:
    """Train for ever; the file holds the number of the process."""
    Path(key, str(seed)).write_text(str(os.getpid()), encoding="utf-8")
    while True:
        show(seed, 1, 0.0, 0.0)
        time.sleep(0.01)
