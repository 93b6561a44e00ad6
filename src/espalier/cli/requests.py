"""Shared parts of all commands that write texts: reading requests, limits, and the loop that answers and prints."""

from __future__ import annotations

import io
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from espalier.cli.progress import progress_bar, say
from espalier.cli.streams import told
from espalier.inference.writer import MAX_TEXTS, ArgumentError, Request, Result, Writer, parted
from espalier.io.errors import ConfigError, DataError
from espalier.io.files import atomic_file
from espalier.io.terminal import json_line, printable, printable_line

if TYPE_CHECKING:
    from rich.text import Text

#: The longest file of requests, in characters.
MAX_CHARACTERS = 16_000_000
#: The most texts of one drawing.
DRAWN: Final = 10
#: The columns of a line that no terminal shows.
WIDTH: Final = 100


class Place(str):
    """The place of a request in a file, for error messages.

    Attributes:
        line: counted from 1.
    """

    line: int

    def __new__(cls, text: str, line: int) -> Place:
        """The text with its line."""
        place = super().__new__(cls, text)
        place.line = line
        return place


def read_requests(
    file: Path | None,
    given: Sequence[Request],
    of: Callable[[list[str], str], Request],
    example: str,
    *,
    fields: int | None = None,
) -> list[Request]:
    """Read requests from the command line, then one from each non-blank line of a file.

    Args:
        file: the path; "-" is standard input, which is also read if nothing else is given.
        given: requests of the command line.
        of: makes a request from the tab-separated fields of a line and from its name in errors:
            "posts.txt, row 3".
        example: an example of a line.
        fields: the largest number of fields of a line; None means any number.

    Raises:
        ConfigError: there is no request.
        DataError: the file is missing, is not UTF-8, has no line, or has too many; or a line has too many fields.
    """
    if file is None and given:
        return [*given]
    if file is None and (sys.stdin is None or sys.stdin.isatty()):
        raise ConfigError("nothing is asked for", remedy=f"give an argument, or --file, or standard input: {example}")
    read = file is not None and str(file) != "-"
    name = str(file) if read else "standard input"
    text = _text(name, Path(name) if read else None)
    numbered = enumerate(io.StringIO(text), start=1)
    filled = ((Place(f"{name}, row {row}", row), line) for row, line in numbered if line.strip())
    lines = list(islice(filled, MAX_TEXTS + 1))
    if not lines:
        raise DataError("no requests", file=name, remedy=example)
    if len(lines) > MAX_TEXTS:
        raise DataError("too many requests", file=name, remedy=f"at most {MAX_TEXTS:,}")
    split_lines = [(place, [part.strip() for part in line.split("\t")]) for place, line in lines]
    for place, parts in split_lines:
        if fields is not None and any(parts[fields:]):
            raise DataError(f"{len(parts)} fields", file=name, row=place.line, remedy=f"at most {fields}: {example}")
    return [*given, *(of(parts, place) for place, parts in split_lines)]


def _text(name: str, file: Path | None) -> str:
    """The text of a file or of standard input, without byte order mark.

    Raises:
        DataError: it cannot be read, is not UTF-8, or is too long.
    """
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


def require_count(texts: int) -> None:
    """Raise a ConfigError if one call requests too many texts."""
    if texts > MAX_TEXTS:
        raise ConfigError(f"{texts:,} texts at once", where="--n", remedy=f"at most {MAX_TEXTS:,}")


def require_drawing(out: Path | None, texts: int, endings: Sequence[str]) -> None:
    """Raise a ConfigError if `out` has another ending or if there are too many texts for one drawing."""
    if out is not None and out.suffix not in endings:
        remedy = f"give a name that ends in {' or '.join(endings)}"
        raise ConfigError(f"{out.name} is no name of a drawing", where="--out", remedy=remedy)
    if out is not None and texts > DRAWN:
        raise ConfigError(f"{texts:,} texts in one drawing", where="--out", remedy=f"at most {DRAWN}")


def write_drawing(out: Path, text: str) -> None:
    """Write a file atomically."""
    with atomic_file(out) as part:
        part.write_text(text, encoding="utf-8")


def columns() -> int:
    """The width of the terminal that standard output is; `WIDTH` if it is not a terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH


@contextmanager
def as_options(**names: str) -> Iterator[None]:
    """Let errors name options of the command line instead of arguments of a function.

    Args:
        names: options whose names differ from the arguments they set.
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
    show: Callable[[Request, Result], str | Text],
    *,
    as_json: bool,
    then: Callable[[Result], None] = lambda result: None,
) -> int:
    """Report requests that cannot be read on standard error, then print the results of the others batch by batch.

    Args:
        show: formats a result for people; a `Text` is coloured in a terminal.
        as_json: print one JSON object per result instead, with `line` if the request comes from a file.
        then: called with each result after it is printed.

    Returns:
        The number of requests that could not be read.
    """
    jobs, errors = parted(writer.read(requests))
    for error in errors:
        say(f"espalier: {printable_line(told(error))}")
    for request, result in _followed(writer.write(jobs), len(jobs)):
        if as_json:
            place = getattr(request, "name", None)
            line = {"line": place.line} if isinstance(place, Place) else {}
            _print(json_line(_object(result) | writer.names | line))
        else:
            _print(show(request, result))
        then(result)
    return len(errors)


def _print(shown: str | Text) -> None:
    if isinstance(shown, str):
        print(printable(shown), flush=True)
    else:
        from rich.console import Console

        Console().print(shown, soft_wrap=True)
        sys.stdout.flush()


def _followed(results: Iterable[tuple[Request, Result]], total: int) -> Iterator[tuple[Request, Result]]:
    """Iterate over `total` results. Several results that go to a file have a progress bar.

    A pipe has none: its reader may write on the terminal itself, as `less` does.
    """
    if total < 2 or not stat.S_ISREG(os.fstat(1).st_mode):
        yield from results
        return
    last: object = None
    with progress_bar() as bar:
        task = bar.add_task("requests", total=total)
        for request, result in results:
            if last is not None and request is not last:
                bar.advance(task)
            last = request
            yield request, result
        bar.advance(task)


def answer_all(
    writer: Writer[Request, Any, Result],
    requests: Sequence[Request],
    show: Callable[[Request, Result], str | Text],
    *,
    as_json: bool,
) -> None:
    """Like `answer`, but exit with status 1 if a request could not be read."""
    if answer(writer, requests, show, as_json=as_json):
        raise SystemExit(1)


def _object(result: Any) -> dict[str, Any]:
    """The fields of a result, with numbers rounded to 4 decimals."""
    return {name: _rounded(value) for name, value in asdict(result).items()}


def _rounded(value: Any) -> Any:
    match value:
        case float():
            return round(value, 4)
        case dict():
            return {key: _rounded(part) for key, part in value.items()}
        case list() | tuple():
            return [_rounded(part) for part in value]
    return value
