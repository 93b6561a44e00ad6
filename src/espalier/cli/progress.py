"""Messages and progress bars for people."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from espalier.cli.streams import QUIET
from espalier.io.terminal import printable

T = TypeVar("T")


class _PrintableColumn(TextColumn):
    """A progress column that shows a description, or a note if there is one, without markup or control characters."""

    def render(self, task: Task) -> Text:
        """The text of a task."""
        return Text(printable(self.text_format.format(**{"description": task.description, "note": ""} | task.fields)))


def progress_bar(*, silent: bool = False) -> Progress:
    """A progress bar on standard error. It is silent if that is not a terminal or if only results are wanted.

    What is printed on standard error meanwhile appears above the bar. Standard output is left alone, because it may
    lead elsewhere.
    """
    columns = (
        _PrintableColumn("{description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _PrintableColumn("{note}"),
        TimeRemainingColumn(),
    )
    return Progress(
        *columns,
        console=Console(stderr=True),
        disable=silent or not sys.stderr.isatty() or bool(os.environ.get(QUIET)),
        transient=True,
        redirect_stdout=False,
    )


def followed(items: Sequence[T], what: str) -> Iterator[T]:
    """Iterate over the items with a progress bar that counts them."""
    with progress_bar() as bar:
        task = bar.add_task(what, total=len(items))
        for item in items:
            yield item
            bar.advance(task)


def say(*lines: str) -> None:
    """Print a line for people on standard error; standard output is for results."""
    for line in lines:
        print(printable(line), file=sys.stderr)


def counted(parts: Sequence[tuple[str, int]]) -> str:
    """ "train 100, dev 27": counts in one line."""
    return ", ".join(f"{name} {count:,}" for name, count in parts)
