"""The errors that users see. Each is one line: what is wrong, where, and how to fix it."""

import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Self

#: The most characters of what is wrong, and of where, in the line of an error.
LONGEST = 1000


class EspalierError(Exception):
    """An error that a user can correct. The command line prints it as one line and exits with status 1.

    Args:
        what: what is wrong ("row 7 has 9 columns").
        where: a file, a row or the path of a key; printed first.
        remedy: how to fix it ("expected 10, separated by tabs"); printed last.
    """

    def __init__(self, what: str, *, where: str | Path | None = None, remedy: str | None = None) -> None:
        self.what, self.where, self.remedy = what, where, remedy
        place = f"{str(where)[:LONGEST]}: " if where is not None else ""
        parts = [place, what[:LONGEST], f"; {remedy}" if remedy else ""]
        super().__init__(" ".join("".join(parts).split()))


def said_by(error: Exception, caught_in: str) -> str:
    """What an error of a user's code says: its type, its message, and the last line outside packages that raised it.

    Args:
        caught_in: the file that calls the user's code, which is not named.
    """
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    files = [(Path(frame.filename), frame.lineno) for frame in frames]
    own = [(file, line) for file, line in files if file != Path(caught_in) and "site-packages" not in file.parts]
    place = f", {own[-1][0].name} line {own[-1][1]}" if own else ""
    return f"{type(error).__name__}: {error}{place}"


class ConfigError(EspalierError):
    """An invalid value in params.yaml or of an option. `where` is the path of the key."""

    @classmethod
    def unknown(cls, kind: str, name: str, allowed: Iterable[str], *, where: str | None = None) -> Self:
        """The error for a name that does not exist. It lists the valid names."""
        names = sorted(allowed)
        return cls(
            f"unknown {kind} '{name[:80]}'", where=where, remedy=f"allowed: {', '.join(names) or '(none defined)'}"
        )


class ArgumentError(ConfigError, ValueError):
    """An invalid argument of a call. `where` is the name of the argument."""


class CallError(ArgumentError, TypeError):
    """An argument of a call that is of the wrong type, or unknown."""


class DataError(EspalierError):
    """A row or file that cannot be read. `row` counts from 1."""

    def __init__(self, what: str, *, file: str | Path, row: int | str | None = None, remedy: str | None = None) -> None:
        super().__init__(what, where=f"{file}, row {row}" if row is not None else file, remedy=remedy)


class SourceError(EspalierError):
    """A source that cannot be fetched or copied, or that differs from its description."""


class ArtifactError(EspalierError):
    """An artifact that is missing, unreadable, of the wrong shape, or cannot be written."""


class MissingError(ArtifactError):
    """An artifact that does not exist."""

    def __init__(self, what: str, *, where: str | Path, remedy: str = "run the stage that makes it") -> None:
        super().__init__(what, where=where, remedy=remedy)
