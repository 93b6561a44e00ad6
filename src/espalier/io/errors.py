"""The errors that people see: one line each, saying what is wrong, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


class EspalierError(Exception):
    """A mistake that a user can mend. The command line prints it as one line and exits non-zero.

    Args:
        what: the fact, in the present tense ("row 7 has 9 columns").
        where: a file, a row or a key's path; printed first.
        remedy: what to do ("expected 10, separated by tabs"); printed last.
    """

    def __init__(self, what: str, *, where: str | Path | None = None, remedy: str | None = None) -> None:
        self.what, self.where, self.remedy = what, where, remedy
        parts = [f"{where}: " if where is not None else "", what, f"; {remedy}" if remedy else ""]
        super().__init__(" ".join("".join(parts).split()))


class ConfigError(EspalierError):
    """A value in params.yaml, or an option, that cannot be. `where` is the key's path."""

    @classmethod
    def unknown(cls, kind: str, name: str, allowed: Iterable[str], *, where: str | None = None) -> ConfigError:
        """Name something that does not exist, and list what does."""
        names = sorted(allowed)
        return cls(f"unknown {kind} '{name}'", where=where, remedy=f"allowed: {', '.join(names) or '(none defined)'}")


class DataError(EspalierError):
    """A row that cannot be read. `row` counts from 1, as editors do."""

    def __init__(self, what: str, *, file: str | Path, row: int | str | None = None, remedy: str | None = None) -> None:
        super().__init__(what, where=f"{file}, row {row}" if row is not None else file, remedy=remedy)


class SourceError(EspalierError):
    """A published file that cannot be had, or is not what it should be."""


class ArtifactError(EspalierError):
    """An artifact of an earlier stage that is missing, unreadable, of another shape, or cannot be written."""
