"""The loop that answers requests and prints the results. It imports rich, which `espalier --help` does without."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from itertools import islice, takewhile
from typing import Any, Final, TypeVar

from rich.console import Console
from rich.text import Text

from espalier.cli.progress import progress_bar, say
from espalier.cli.streams import result_line, told
from espalier.inference.writer import Request, Result, Writer, parted
from espalier.io.errors import EspalierError
from espalier.io.terminal import printable, printable_line

T = TypeVar("T")

#: The lines that are answered together at first, and the most; fewer if each has several texts.
FIRST: Final = 16
LARGEST: Final = 512


def answer(
    writer: Writer[Request, Any, Result],
    lines: Iterable[Request | EspalierError | None],
    page: Callable[[Request, Result], str | Text],
    *,
    as_json: bool,
    spaced: bool = False,
    total: int | None = None,
    then: Callable[[Result], None] = lambda result: None,
) -> int:
    """Report requests that cannot be read, print the results of the others batch by batch, and count the former.

    Lines are read and answered in parts, so that the first results come soon and any number fits into memory.

    A blank line of a file, None, gives a blank line, unless results are printed as JSON. As JSON, a result of a line of
    a file has its `line`. Else, if `spaced`, an empty line separates two requests. Several requests whose results go to
    a file have a progress bar. A pipe has none: its reader may write on the terminal itself, as `less` does.

    Args:
        total: the number of requests; None if it is not known.
        then: is called with each result that was printed.
    """
    read, unread, last, blanks = 0, 0, None, 0
    with progress_bar() if total != 1 and stat.S_ISREG(os.fstat(1).st_mode) else nullcontext() as bar:
        task = bar.add_task("requests", total=total) if bar else None
        for part in _parts(lines, max(1, LARGEST // getattr(writer, "n", 1))):
            requests, wrong = parted(line for line in part if line is not None)
            jobs, unreadable = parted(writer.read_after(read, requests))
            for error in (errors := [*wrong, *unreadable]):
                say(f"espalier: {printable_line(told(error))}")
            unprinted = iter(part)
            for request, result in writer.write(jobs):
                follows = last is not None and request is not last
                if bar and task is not None and follows:
                    bar.advance(task)
                if as_json:
                    _print(result_line(result, getattr(request, "name", ""), writer.names))
                else:
                    blanks = blanks + _print_blanks(_before(request, unprinted)) if request is not last else 0
                    if spaced and follows and not blanks:
                        print()
                    _print(page(request, result))
                last, blanks = request, 0
                then(result)
            if not as_json:
                blanks += _print_blanks(unprinted)
            read, unread = read + len(requests), unread + len(errors)
    return unread


def _parts(lines: Iterable[T], largest: int) -> Iterator[list[T]]:
    """Parts of lines, small ones first. If a line cannot be read, those before it come first."""
    errors = list[EspalierError]()

    def readable() -> Iterator[T]:
        try:
            yield from lines
        except EspalierError as error:
            errors.append(error)

    rest, size = readable(), min(FIRST, largest)
    while part := list(islice(rest, size)):
        yield part
        size = min(2 * size, largest)
    if errors:
        raise errors[0]


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
