"""How an error is reported to the user: as one line."""

from __future__ import annotations

import shutil
from concurrent.futures import BrokenExecutor

import typer

from espalier.cli.streams import told
from espalier.io.errors import EspalierError

#: What typer raises for a mistaken command line; whether it is click's class or a copy depends on typer's version.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]
#: How the line of an error begins if memory ran out.
NO_MEMORY = "not enough memory"


def failure(error: BaseException, command: str, *, writes_files: bool) -> str | None:
    """The message for an error; None for a bug, which is re-raised.

    Args:
        command: the command that was given; "" if there was none.
        writes_files: whether the command only writes files. False if other programs may read its output.
    """
    match error:
        case EspalierError():
            return told(error)
        case UsageError():
            what = " ".join(error.format_message().split()).rstrip(".").replace("Value error, ", "")  # type: ignore[attr-defined]
            return f"{what}; see {' '.join(filter(None, ('espalier', command, '--help')))}"
        case KeyboardInterrupt():
            return "interrupted"
        case BrokenExecutor():
            return "a process was killed, perhaps for lack of memory; run again with fewer processes at once (-j)"
        case shutil.Error():
            reasons = error.args[0]
            what = reasons[0][2] if isinstance(reasons, list) and reasons else reasons
            return f"cannot copy: {what}; nothing half-written was kept"
        case OSError(filename=None, strerror=str(what)) if not writes_files:
            return f"standard output: {what}"
        case OSError() if error.filename or error.strerror:
            kept = "; nothing half-written was kept" if writes_files else ""
            return f"{error.filename or 'file system'}: {error.strerror}{kept}"
        case MemoryError() | RuntimeError() if _no_memory(error):
            return f"{NO_MEMORY}; a smaller beam, batch or model takes less"
    return None


def _no_memory(error: Exception) -> bool:
    """Whether the error says that Python or torch ran out of memory; torch raises a RuntimeError."""
    return isinstance(error, MemoryError) or any(
        said in str(error) for said in ("out of memory", NO_MEMORY, "can't allocate memory")
    )
