"""Requests of commands that write texts, as they are read from the command line, a file or standard input."""

from __future__ import annotations

import stat
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import chain, count
from pathlib import Path
from typing import Final, TextIO

from espalier.inference.writer import ArgumentError, Request
from espalier.io.errors import ConfigError, DataError

MAX_LINE: Final = 1_000_000  # characters of a line; fewer are too many for a request
#: So many requests are read before the first is answered: what one of them needs, such as books, all get.
LOOKED_AT: Final = 1_000


def read_requests(
    file: Path | None, given: Sequence[Request], of: Callable[[list[str], str], Request], example: str
) -> Iterator[Request | None]:
    """Requests of the command line, and one from each line of a file; None for a blank line.

    Lines are read as they are asked for. A file on a disk is read through before, so that one that is no text is
    refused before anything is printed.

    Args:
        file: "-" is standard input, which is also read if nothing else is given.
        of: makes a request of the tab-separated fields of a line and of its name: "posts.txt, row 3".
        example: an example of a line.

    Raises:
        ConfigError: there is no request.
        DataError: the file cannot be read, or a line is too long; of a pipe, when its line is asked for.
    """
    if file is None and given:
        return iter(given)
    if file is None and (sys.stdin is None or sys.stdin.isatty()):
        raise ConfigError("nothing is asked for", remedy=f"give an argument, or --file, or standard input: {example}")
    path = file if file is not None and str(file) != "-" else None
    name = "standard input" if path is None else str(path)

    def requests() -> Iterator[Request | None]:
        for row, line in enumerate(_lines(path, name, example), start=1):
            yield of([part.strip() for part in line.split("\t")], f"{name}, row {row}") if line.strip() else None

    if path is not None and _is_regular(path):
        deque(_lines(path, name, example), maxlen=0)
    return chain(given, requests())


def looked_at(lines: Iterator[Request | None]) -> tuple[list[Request], Iterator[Request | None]]:
    """The first `LOOKED_AT` requests, and all lines."""
    head, count = list[Request | None](), 0
    for line in lines:
        head.append(line)
        count += line is not None
        if count == LOOKED_AT:
            break
    return [line for line in head if line is not None], chain(head, lines)


def are_all(requests: Sequence[Request]) -> bool:
    """Whether no request comes after those that were looked at."""
    return len(requests) < LOOKED_AT


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):  # which opening it says better
        return False


def _lines(file: Path | None, name: str, example: str) -> Iterator[str]:
    """The lines of a file or of standard input, without byte order mark; a DataError if one cannot be read."""
    found = False
    opened: AbstractContextManager[TextIO | None] = nullcontext(sys.stdin)
    try:
        if file is not None:
            opened = file.open(encoding="utf-8")
        with opened as text:
            for row in count(1):
                line = text.readline(MAX_LINE + 1) if text is not None else ""
                if len(line) > MAX_LINE:
                    remedy = "give one request a line"
                    raise DataError(f"over {MAX_LINE:,} characters", file=name, row=row, remedy=remedy)
                if not line:
                    break
                line = line.removeprefix("\ufeff") if row == 1 else line
                found = found or bool(line.strip())
                yield line
    except FileNotFoundError as error:
        raise DataError("no such file", file=name) from error
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 ({error.reason})", file=name) from error
    except (OSError, ValueError) as error:  # such as a folder, or a name that cannot be one
        raise DataError(f"cannot be read ({getattr(error, 'strerror', None) or error})", file=name) from error
    if not found:
        raise DataError("no requests", file=name, remedy=example)


@contextmanager
def as_options(names: Mapping[str, str]) -> Iterator[None]:
    """Let errors name options instead of arguments. `names` has those that differ, and may grow meanwhile."""
    try:
        yield
    except ArgumentError as error:
        raise ConfigError(error.what, where=option_of(names, str(error.where)), remedy=error.remedy) from error


def option_of(names: Mapping[str, str], argument: str) -> str:
    """The option that gives an argument. `names` has those that differ."""
    return names.get(argument, f"--{argument.replace('_', '-')}")
