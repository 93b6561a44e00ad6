"""Atomic writes: an artifact is either complete or absent."""

import ctypes
import errno
import fcntl
import glob
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from espalier.io.errors import ArtifactError, MissingError
from espalier.io.validation import first_mistake

#: A number of a JSON file; for `read_json`.
Finite = Annotated[float, Field(strict=True, allow_inf_nan=False)]
#: Metrics: numbers by name, at least one.
Numbers = Annotated[dict[str, Finite], Field(min_length=1)]
#: Suffixes of files being written, and of files being replaced if names cannot be exchanged.
_PART, _OLD = ".part", ".old"
#: `RENAME_EXCHANGE` of Linux and `RENAME_SWAP` of macOS have the same value.
_EXCHANGE = 2
_AT_FDCWD = -100
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)
#: What only writing meets, whatever the file.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
#: In `together`: the moves that wait for its end, and what keeps the temporary files.
_together: ContextVar[tuple[list[Callable[[], object]], ExitStack] | None] = ContextVar("together", default=None)


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to. It replaces `path` on success and is deleted on failure.

    Temporary files of killed processes are deleted first.

    Raises:
        ArtifactError: it cannot be written (disk full, no permission), or a file that the context reads cannot be read;
            an existing `path` is unchanged.
    """
    with ExitStack() as held:
        part = held.enter_context(_temporary(path, lambda: _new_file(path)))
        yield part
        _sync(part)
        part.chmod(0o666 & ~_umask())
        _put(path, lambda: part.replace(path), held)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Like `atomic_file`, for a folder: at every moment `path` is either the complete old or the complete new one."""
    with ExitStack() as held:
        part = held.enter_context(_temporary(path, lambda: Path(tempfile.mkdtemp(**_named(path)))))
        outside = _together.set(None)  # what is written into it is not moved again
        try:
            yield part
        finally:
            _together.reset(outside)
        for file in part.rglob("*"):
            if file.is_file():
                _sync(file)
        part.chmod(0o777 & ~_umask())
        _put(path, lambda: _replace(path, part), held)


@contextmanager
def together() -> Iterator[None]:
    """In this context, what `atomic_file` and `atomic_folder` write replaces the old files and folders at the end.

    All are then complete, and are moved one after the other. On failure, none of the old ones is changed. What was
    written cannot be read before the end. A context within another ends with it.

    Raises:
        ArtifactError: one cannot be moved; those before it have been.
    """
    if _together.get() is not None:
        yield
        return
    with ExitStack() as held:
        moves = list[Callable[[], object]]()
        outside = _together.set((moves, held))
        try:
            yield
        finally:
            _together.reset(outside)
        for move in moves:
            move()


def _put(path: Path, move: Callable[[], object], held: ExitStack) -> None:
    """Move what is written to `path`: now, or at the end of `together`, which then keeps the temporary one."""
    if (waiting := _together.get()) is None:
        move()
        return
    moves, keeps = waiting
    moves.append(partial(_moved, path, move))
    keeps.push(held.pop_all())


def _moved(path: Path, move: Callable[[], object]) -> None:
    try:
        move()
    except OSError as error:
        remedy = "correct the permissions, and run again"
        raise ArtifactError(f"cannot be replaced: {error.strerror or error}", where=path, remedy=remedy) from error


def write_json(path: Path, value: object) -> None:
    """Write `value` as indented JSON. Keys keep their order; NaN is an error."""
    with atomic_file(path) as part:
        part.write_text(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def read_json(path: Path, kind: Any = None) -> Any:
    """Read a JSON artifact.

    Args:
        kind: the type that the value must have, as pydantic understands it; None for any.

    Raises:
        ArtifactError: the file does not exist, cannot be read, is not JSON, or has another type.
    """
    remedy = "delete it and run its stage again"
    try:
        value = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=no_number)
        if kind is not None:
            TypeAdapter(kind).validate_python(value)
        return value
    except FileNotFoundError as error:
        raise MissingError("no such file", where=path) from error
    except OSError as error:
        raise ArtifactError(f"cannot be read: {error.strerror or error}", where=path) from error
    except ValidationError as error:
        key, what = first_mistake(error)
        raise ArtifactError(f"{key or 'its value'}: {what}", where=path, remedy=remedy) from error
    except (ValueError, RecursionError) as error:
        raise ArtifactError(f"not valid JSON ({error})", where=path, remedy=remedy) from error


def no_number(name: str) -> None:
    """Refuse NaN and the infinities, which JSON does not have: the `parse_constant` of `json.loads`."""
    raise ValueError(f"{name} is no number")


@contextmanager
def _temporary(path: Path, make: Callable[[], Path]) -> Iterator[Path]:
    """Yield a temporary file or folder beside `path`.

    It is locked while in use, and deleted at the end if it still exists.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path)
        part, lock = _locked(make)
        try:
            yield part
        finally:
            if _is(part, lock):
                _delete(part)
            os.close(lock)
    except OSError as error:
        raise _refused(path, error) from error


def _locked(make: Callable[[], Path]) -> tuple[Path, int]:
    """A new temporary file or folder, and its lock. If another process sweeps it before the lock, it is made again."""
    while True:
        part = make()
        with ExitStack() as unless_locked:
            unless_locked.callback(_delete, part)
            with suppress(FileNotFoundError):  # swept
                lock = _opened(part)
                unless_locked.callback(os.close, lock)
                fcntl.flock(lock, fcntl.LOCK_EX)
                if _is(part, lock):
                    unless_locked.pop_all()
                    return part, lock


def _sweep(path: Path) -> None:
    """Delete temporary files of killed processes. If one was replacing `path`, restore the old one."""
    for old in path.parent.glob(f".{glob.escape(path.name)}.*{_PART}{_OLD}"):
        if path.exists():
            _delete(old)
        else:
            old.rename(path)
    for part in path.parent.glob(f".{glob.escape(path.name)}.*{_PART}"):
        try:
            lock = _opened(part)
        except OSError:
            continue  # gone meanwhile, or not ours
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _delete(part)
        except OSError:
            pass  # in use
        finally:
            os.close(lock)


def _opened(part: Path) -> int:
    """A file or folder to be locked. NFS locks a file only if it is open for writing (flock(2))."""
    return os.open(part, os.O_RDONLY if part.is_dir() else os.O_RDWR)


def _replace(path: Path, part: Path) -> None:
    """Replace `path` by a new folder."""
    if not os.path.lexists(path):
        part.rename(path)
    elif exchange(part, path):
        _delete(part)
    else:
        old = part.with_name(part.name + _OLD)
        path.rename(old)
        part.rename(path)
        _delete(old)


def _named(path: Path) -> dict[str, Any]:
    return {"dir": path.parent, "prefix": f".{path.name}.", "suffix": _PART}


def _new_file(path: Path) -> Path:
    handle, name = tempfile.mkstemp(**_named(path))
    os.close(handle)
    return Path(name)


def _is(path: Path, handle: int) -> bool:
    """Whether `path` is the file or folder opened as `handle`."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _refused(path: Path, error: OSError) -> ArtifactError:
    if source := _source(path, error):
        return ArtifactError(
            f"cannot read: {error.strerror or error}",
            where=source,
            remedy="nothing was changed; correct the path or its permissions, and run again",
        )
    return ArtifactError(
        f"cannot write: {error.strerror or error}",
        where=path,
        remedy="nothing was changed; free space or correct the permissions, and run again",
    )


def _source(path: Path, error: OSError) -> str | None:
    """The file that an error names if it is another than `path`, its folders and its temporary files."""
    named = [name for name in (error.filename, error.filename2) if isinstance(name, str | os.PathLike)]
    if not named or error.errno in _FULL:
        return None
    target, *files = map(Path, map(os.path.abspath, (path, *named)))
    temporary = str(target.with_name(f".{target.name}."))
    if any(file in (target, *target.parents) or str(file).startswith(temporary) for file in files):
        return None
    return os.fspath(named[0])


def exchange(one: Path, other: Path) -> bool:
    """Exchange two files or folders of one file system. Neither name is missing at any moment.

    Returns:
        Whether they were exchanged; False if the system or file system does not support it.

    Raises:
        OSError: the exchange is refused, for example for lack of permission.
    """
    paths = os.fsencode(one), os.fsencode(other)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            failed = library.renamex_np(*paths, _EXCHANGE)
        else:
            failed = library.renameat2(_AT_FDCWD, paths[0], _AT_FDCWD, paths[1], _EXCHANGE)
    except (AttributeError, TypeError, OSError):  # the C library has no such function
        return False
    code = ctypes.get_errno() if failed else 0
    if code and code not in _UNSUPPORTED:
        raise OSError(code, os.strerror(code), str(other))
    return not code
