"""What all commands that write share: where requests come from, their bounds, and the loop that answers and prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from espalier.inference.writer import ArgumentError, Request, Result, Writer, parted
from espalier.io.errors import ConfigError, DataError
from pipeline.progress import say

#: The most texts of one call.
MAX_TEXTS = 10_000


def read_requests(
    file: Path | None, given: Sequence[Request], of: Callable[[list[str], str], Request], example: str
) -> list[Request]:
    """The requests of the command line, then one for each line of a file that is not blank.

    Args:
        file: "-" is standard input, which is also read where neither a file nor anything else is given.
        given: on the command line.
        of: a request from the line's fields, which tabs separate, and from the name that errors call it:
            "posts.txt, row 3".
        example: what a line holds.

    Raises:
        ConfigError: nothing is asked for.
        DataError: the file is missing, is not UTF-8, or has no line.
    """
    if file is None and given:
        return [*given]
    if file is None and sys.stdin.isatty():
        raise ConfigError("nothing is asked for", remedy=f"give an argument, or --file, or standard input: {example}")
    read = file is not None and str(file) != "-"
    name = str(file) if read else "standard input"
    try:
        text = Path(name).read_text(encoding="utf-8-sig") if read else sys.stdin.read()
    except FileNotFoundError as error:
        raise DataError("no such file", file=name) from error
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 ({error.reason})", file=name) from error
    lines = [(f"{name}, row {row}", line) for row, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not lines:
        raise DataError("no requests", file=name, remedy=example)
    return [*given, *(of([part.strip() for part in line.split("\t")], place) for place, line in lines)]


def require_count(texts: int) -> None:
    """Raise a ConfigError if one call asks for too many texts."""
    if texts > MAX_TEXTS:
        raise ConfigError(f"{texts:,} texts at once", where="--n", remedy=f"at most {MAX_TEXTS:,}")


@contextmanager
def as_options(**names: str) -> Iterator[None]:
    """Errors name the command line's options instead of a function's arguments.

    Args:
        names: options that are not called as their arguments are.
    """
    try:
        yield
    except ArgumentError as error:
        argument = str(error.where)
        option = names.get(argument, f"--{argument.replace('_', '-')}")
        raise ConfigError(error.what, where=option, remedy=error.remedy) from error


def answer(
    writer: Writer[Request, Any, Result],
    requests: Sequence[Request],
    show: Callable[[Request, Result], str],
    *,
    as_json: bool,
) -> int:
    """Print the results of the requests that can be read, batch by batch; name the others on standard error first.

    Args:
        show: a result for people.
        as_json: print one object for each result instead.

    Returns:
        How many requests could not be read.
    """
    jobs, errors = parted(writer.read(requests))
    for error in errors:
        say(f"espalier: {error}")
    for request, result in writer.write(jobs):
        line = json.dumps(_object(result) | writer.names, ensure_ascii=False) if as_json else show(request, result)
        print(line, flush=True)
    return len(errors)


def answer_all(
    writer: Writer[Request, Any, Result],
    requests: Sequence[Request],
    show: Callable[[Request, Result], str],
    *,
    as_json: bool,
) -> None:
    """As `answer`; the exit status is 1 where a request could not be read."""
    if answer(writer, requests, show, as_json=as_json):
        raise SystemExit(1)


def _object(result: Any) -> dict[str, Any]:
    """The fields of a result, scores to 4 digits after the point."""
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in asdict(result).items()}
