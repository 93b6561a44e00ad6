"""Set up standard input, output and error before a command runs, and handle their failures."""

from __future__ import annotations

import io
import json
import os
import select
import sys
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from types import MappingProxyType

from espalier.io.errors import ArtifactError, ConfigError, EspalierError
from espalier.io.terminal import json_line

#: The variable that is set where notes and progress are not wanted.
QUIET = "ESPALIER_QUIET"
#: What an error about an unknown name does not list in full, in the singular; `espalier list` does.
LISTED = ("model", "run", "tune", "template", "reader", "source")


def told(error: EspalierError) -> str:
    """The message of an error. For an unknown name it adds the command that lists all names."""
    kind = next((each for each in LISTED if error.what.startswith((f"unknown {each} '", f"no {each} '"))), None)
    return f"{error}; see espalier list {kind}s" if kind else str(error)


def result_line(result: object, name: str, names: Mapping[str, object] = MappingProxyType({})) -> str:
    """A result as one line of JSON, with numbers of 4 decimals.

    Args:
        result: a dataclass.
        name: name of its request. That of a line of a file ends with the line's number, which is added as `line`.
        names: further fields.
    """
    assert is_dataclass(result) and not isinstance(result, type)  # as all results are
    _, _, row = name.rpartition(", row ")
    line = {"line": int(row)} if row.isdecimal() else {}
    found = json.loads(json.dumps(asdict(result)), parse_float=lambda number: round(float(number), 4))
    return json_line({**found, **names, **line})


def open_streams() -> None:
    """Let the streams read and write Chinese: as UTF-8, unless their own encoding supports it.

    Raises:
        ArtifactError: standard output is closed.
        ConfigError: the encoding of arguments and file names does not support Chinese.
    """
    if sys.stderr is None:  # closed; print would write to standard output instead
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if sys.stdout is None:
        raise ArtifactError("is closed", where="standard output", remedy="send it to a file, or to /dev/null")
    for stream, errors in ((sys.stdin, "strict"), (sys.stdout, "backslashreplace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if _has_chinese(stream.encoding) else "utf-8", errors=errors)
    if not _has_chinese(encoding := sys.getfilesystemencoding()):
        raise ConfigError(f"the encoding {encoding} has no Chinese", where="locale", remedy="set PYTHONUTF8=1")


def flush() -> OSError | None:
    """Flush the streams. A stream that cannot be written is redirected to the null device.

    Returns:
        The first error, or None.
    """
    first = None
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError as error:
            first = first or error
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return first


def reader_is_gone() -> bool:
    """Whether standard output is a pipe whose reader has closed it."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)  # errors alone
    return bool(poll.poll(0))


def _has_chinese(encoding: str) -> bool:
    try:
        "诗".encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
