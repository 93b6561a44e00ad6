"""One process at a time: a lock file that the operating system lets go of when its holder dies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from espalier.io.errors import ArtifactError


@contextmanager
def exclusive(path: Path, *, patience: float = 3600) -> Iterator[None]:
    """Hold the lock file `path` (made if need be, never deleted), waiting at most `patience` seconds for it.

    Raises:
        ArtifactError: another process still holds it then, or the place cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path)
        lock.acquire(timeout=patience)
    except Timeout as error:
        raise ArtifactError(
            "another process has held this lock all the while", where=path, remedy="wait for it, or end it"
        ) from error
    except OSError as error:
        raise ArtifactError(f"cannot be locked: {error.strerror or error}", where=path) from error
    try:
        yield
    finally:
        lock.release()
