"""The loop that answers requests and prints the results. It imports rich, which `espalier --help` does without."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from itertools import takewhile
from typing import Any

from rich.console import Console
from rich.text import Text

from espalier.cli.progress import progress_bar, say
from espalier.cli.streams import result_line, told
from espalier.inference.writer import Request, Result, Writer, parted
from espalier.io.terminal import printable, printable_line


def answer(
    writer: Writer[Request, Any, Result],
    lines: Sequence[Request | None],
    page: Callable[[Request, Result], str | Text],
    *,
    as_json: bool,
    spaced: bool = False,
    then: Callable[[Result], None] = lambda result: None,
) -> int:
    """Report requests that cannot be read, print the results of the others batch by batch, and count the former.

    A blank line of a file, None, gives a blank line, unless results are printed as JSON. As JSON, a result of a line of
    a file has its `line`. Else, if `spaced`, an empty line separates two requests. Several requests whose results go to
    a file have a progress bar. A pipe has none: its reader may write on the terminal itself, as `less` does.
    """
    jobs, errors = parted(writer.read([line for line in lines if line is not None]))
    for error in errors:
        say(f"espalier: {printable_line(told(error))}")
    last: Request | None = None
    unprinted = iter(lines)
    with progress_bar() if len(jobs) > 1 and stat.S_ISREG(os.fstat(1).st_mode) else nullcontext() as bar:
        task = bar.add_task("requests", total=len(jobs)) if bar else None
        for request, result in writer.write(jobs):
            follows = last is not None and request is not last
            if bar and task is not None and follows:
                bar.advance(task)
            if as_json:
                _print(result_line(result, getattr(request, "name", ""), writer.names))
            else:
                blanks = _print_blanks(_before(request, unprinted)) if request is not last else 0
                if spaced and follows and not blanks:
                    print()
                _print(page(request, result))
            last = request
            then(result)
    if not as_json:
        _print_blanks(unprinted)
    return len(errors)


def _before(request: object, lines: Iterator[object]) -> Iterator[object]:
    """The next lines before that of a request, which a writer may have changed, but not its name; that line too."""
    name = getattr(request, "name", "")
    return takewhile(lambda line: line is None or getattr(line, "name", "") != name, lines)


def _print_blanks(lines: Iterable[object]) -> int:
    """Print an empty line for each blank line among these, and count them."""
    blanks = sum(line is None for line in lines)
    print("\n" * blanks, end="")
    return blanks


def _print(page: str | Text) -> None:
    if isinstance(page, str):
        print(printable(page), flush=True)
    else:
        Console().print(page, soft_wrap=True)
        sys.stdout.flush()
