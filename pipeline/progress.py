"""What stages and commands tell people while they work."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

T = TypeVar("T")


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


def say(*lines: str) -> None:
    """A line for people, on standard error: standard output is for results."""
    for line in lines:
        print(line, file=sys.stderr)


def counted(parts: Sequence[tuple[str, int]]) -> str:
    """ "train 100, dev 27": counts in one line."""
    return ", ".join(f"{name} {count:,}" for name, count in parts)
