"""A lock file for one process at a time. The operating system releases it when the process ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from espalier.io.errors import ArtifactError


@contextmanager
def exclusive(path: Path, *, timeout: float = 3600, held: ArtifactError | None = None) -> Iterator[None]:
    """Hold the lock file `path`. It is created if missing and never deleted.

    Args:
        timeout: seconds to wait for the lock.
        held: the error to raise if another process holds the lock longer.

    Raises:
        ArtifactError: another process holds the lock longer, or the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path)
        lock.acquire(timeout=timeout)
    except Timeout as error:
        default = ArtifactError("another process holds this lock", where=path, remedy="wait for it, or end it")
        raise held or default from error
    except OSError as error:
        raise ArtifactError(f"cannot be locked: {error.strerror or error}", where=path) from error
    try:
        yield
    finally:
        lock.release()
