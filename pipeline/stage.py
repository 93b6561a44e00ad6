"""What every stage does around its work: progress for people, and proof that its code stood still."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from espalier.io.errors import EspalierError
from espalier.io.hashing import file_sha256
from pipeline.layout import ROOT

if TYPE_CHECKING:
    import torch

T = TypeVar("T")


@contextmanager
def unchanged_code() -> Iterator[None]:
    """Fail if a module that the stage uses, or a data file beside it, is edited while it runs.

    DVC hashes when a command ends, so the lock would vouch for code that the artifact was not made with.

    Raises:
        EspalierError: naming the first file that changed.
    """
    before = {path: file_sha256(path) for path in _code()}
    yield
    used = {Path(file) for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))}
    folders = {path.parent for path in used}
    for path, sha256 in before.items():
        concerned = path in used or (path.suffix == ".yaml" and path.parent in folders)
        if concerned and not (path.exists() and file_sha256(path) == sha256):
            raise EspalierError(
                "this stage's code changed while it ran",
                where=path.relative_to(ROOT),
                remedy="its artifact is not to be trusted: run it again, long runs from a second git worktree",
            )


def _code() -> list[Path]:
    """Our modules, and the data files beside them."""
    folders = (ROOT / "src" / "espalier", ROOT / "pipeline")
    return sorted(path for folder in folders for kind in ("*.py", "*.yaml") for path in folder.rglob(kind))


def progress_bar() -> Progress:
    """A progress bar on standard error; silent where that is no terminal."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, disable=not console.is_terminal, transient=True)


def followed(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    """The items, with a progress bar that counts them."""
    with progress_bar() as bar:
        task = bar.add_task(what, total=total, note="")
        for item in items:
            yield item
            bar.advance(task)


def of_form(form: str, stage: str) -> Any:
    """What a stage does for one form of data: `pipeline/<form>/<stage>.py`, whose `run` is given the entry."""
    return importlib.import_module(f"pipeline.{form}.{stage}")


def device() -> torch.device:
    """The GPU where there is one; `ESPALIER_DEVICE=cpu` keeps away from it."""
    import torch

    gpu = torch.cuda.is_available() and os.environ.get("ESPALIER_DEVICE") != "cpu"
    return torch.device("cuda" if gpu else "cpu")


def say(*lines: str) -> None:
    """A line for people, on standard error: standard output is for results."""
    for line in lines:
        print(line, file=sys.stderr)


def counted(parts: Sequence[tuple[str, int]]) -> str:
    """ "train 100, dev 27": counts in one line."""
    return ", ".join(f"{name} {count:,}" for name, count in parts)
