"""The loop that answers requests and prints the results. It imports rich, which `espalier --help` does without."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from rich.console import Console
from rich.text import Text

from espalier.cli.progress import progress_bar, say
from espalier.cli.streams import result_line, told
from espalier.inference.writer import Request, Result, Writer, parted
from espalier.io.terminal import printable, printable_line


def answer(
    writer: Writer[Request, Any, Result],
    requests: Sequence[Request],
    page: Callable[[Request, Result], str | Text],
    *,
    as_json: bool,
    spaced: bool = False,
    then: Callable[[Result], None] = lambda result: None,
) -> int:
    """Report requests that cannot be read, print the results of the others batch by batch, and count the former.

    As JSON, a result of a line of a file has its `line`. Else, if `spaced`, an empty line separates two requests.
    Several requests whose results go to a file have a progress bar. A pipe has none: its reader may write on the
    terminal itself, as `less` does.
    """
    jobs, errors = parted(writer.read(requests))
    for error in errors:
        say(f"espalier: {printable_line(told(error))}")
    last: Request | None = None
    with progress_bar() if len(jobs) > 1 and stat.S_ISREG(os.fstat(1).st_mode) else nullcontext() as bar:
        task = bar.add_task("requests", total=len(jobs)) if bar else None
        for request, result in writer.write(jobs):
            follows = last is not None and request is not last
            if bar and task is not None and follows:
                bar.advance(task)
            if as_json:
                _print(result_line(result, getattr(request, "name", ""), writer.names))
            else:
                if spaced and follows:
                    print()
                _print(page(request, result))
            last = request
            then(result)
    return len(errors)


def _print(page: str | Text) -> None:
    if isinstance(page, str):
        print(printable(page), flush=True)
    else:
        Console().print(page, soft_wrap=True)
        sys.stdout.flush()
