"""Requests of commands that write texts, as they are read from the command line, a file or standard input."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from espalier.inference.writer import MAX_TEXTS, ArgumentError, Request
from espalier.io.errors import ConfigError, DataError

MAX_CHARACTERS = 16_000_000  # of a file of requests


def read_requests(
    file: Path | None, given: Sequence[Request], of: Callable[[list[str], str], Request], example: str
) -> list[Request | None]:
    """Requests of the command line, and one from each line of a file; None for a blank line.

    Args:
        file: "-" is standard input, which is also read if nothing else is given.
        of: makes a request of the tab-separated fields of a line and of its name: "posts.txt, row 3".
        example: an example of a line.

    Raises:
        ConfigError: there is no request.
        DataError: the file cannot be read or is too long.
    """
    if file is None and given:
        return [*given]
    if file is None and (sys.stdin is None or sys.stdin.isatty()):
        raise ConfigError("nothing is asked for", remedy=f"give an argument, or --file, or standard input: {example}")
    read = file is not None and str(file) != "-"
    name = str(file) if read else "standard input"
    lines = list(io.StringIO(_text(name, Path(name) if read else None)))
    asked = sum(bool(line.strip()) for line in lines)
    if not asked:
        raise DataError("no requests", file=name, remedy=example)
    if asked > MAX_TEXTS:
        raise DataError("too many requests", file=name, remedy=f"at most {MAX_TEXTS:,}")
    found = (
        of([part.strip() for part in line.split("\t")], f"{name}, row {row}") if line.strip() else None
        for row, line in enumerate(lines, start=1)
    )
    return [*given, *found]


def _text(name: str, file: Path | None) -> str:
    """The text of a file or of standard input, without byte order mark; a DataError if it cannot be read."""
    try:
        if file is None:
            text = sys.stdin.read(MAX_CHARACTERS + 1) if sys.stdin is not None else ""
        else:
            with file.open(encoding="utf-8") as opened:
                text = opened.read(MAX_CHARACTERS + 1)
    except FileNotFoundError as error:
        raise DataError("no such file", file=name) from error
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 ({error.reason})", file=name) from error
    except (OSError, ValueError) as error:  # such as a folder, or a name that cannot be one
        raise DataError(f"cannot be read ({getattr(error, 'strerror', None) or error})", file=name) from error
    if len(text) > MAX_CHARACTERS:
        raise DataError(f"over {MAX_CHARACTERS:,} characters", file=name, remedy="give it in parts")
    return text.removeprefix("\ufeff")


@contextmanager
def as_options(names: Mapping[str, str]) -> Iterator[None]:
    """Let errors name options instead of arguments. `names` has those that differ, and may grow meanwhile."""
    try:
        yield
    except ArgumentError as error:
        argument = str(error.where)
        option = names.get(argument, f"--{argument.replace('_', '-')}")
        raise ConfigError(error.what, where=option, remedy=error.remedy) from error
