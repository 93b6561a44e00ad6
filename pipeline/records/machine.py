"""The hardware of this machine: its device, its cores, and the number of processes that a stage may start."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from espalier.io.errors import ConfigError

if TYPE_CHECKING:
    import torch


#: Of pairs with trees, some 100 MB as objects.
CHUNK_ROWS: Final = 1 << 14


def device() -> torch.device:
    """The GPU if there is one, unless `ESPALIER_DEVICE` is "cpu"."""
    import torch

    gpu = torch.cuda.is_available() and os.environ.get("ESPALIER_DEVICE") != "cpu"
    return torch.device("cuda" if gpu else "cpu")


def workers(default: int) -> int:
    """The value of `ESPALIER_WORKERS`, else `default`.

    Raises:
        ConfigError: it is not a positive number.
    """
    return _number("ESPALIER_WORKERS", "workers", default)


def chunk_rows() -> int:
    """The rows of a corpus that a stage holds in memory at a time: `ESPALIER_CHUNK_ROWS`, else `CHUNK_ROWS`.

    It changes the memory that a stage takes, and nothing that it writes but by rounding what is decoded.

    Raises:
        ConfigError: it is not a positive number.
    """
    return _number("ESPALIER_CHUNK_ROWS", "rows", CHUNK_ROWS)


def compiles() -> bool:
    """Whether training steps are compiled: `ESPALIER_COMPILE` is 1, and not if it is 0 or unset.

    Raises:
        ConfigError: it is something else.
    """
    text = os.environ.get("ESPALIER_COMPILE") or "0"
    if text not in ("0", "1"):
        raise ConfigError(
            f"'{text[:80]}' is neither 0 nor 1", where="ESPALIER_COMPILE", remedy="1 compiles training steps"
        )
    return text == "1"


def _number(variable: str, of: str, default: int) -> int:
    text = os.environ.get(variable, "")
    if not text:
        return default
    if not (text.isdecimal() and len(text) < 10 and int(text) >= 1):
        raise ConfigError(f"'{text}' is not a number of {of}", where=variable, remedy="1 or more")
    return int(text)


def jobs() -> int:
    """The default number of stages at once: one per core, at most four."""
    return min(4, cores())


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
