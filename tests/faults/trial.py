"""One command of the project in a process of its own: forked from one that has imported everything, and perhaps hurt.

The process can be killed at a call of the file system or after some seconds, or be given a full disk.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pty
import resource
import select
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

#: What stages import, so that a fork need not.
PRELOADED = ("pipeline.shell.app", "pipeline.stages.train", "pipeline.stages.decode", "pipeline.stages.score",
             "pipeline.stages.report", "pipeline.stages.parse", "pipeline.stages.filter", "espalier.training.loop",
             "espalier.report", "espalier.models.songnet", "espalier.models.guig", "espalier.models.x2tree",
             "accelerate", "pydantic", "pandas", "pyarrow.parquet")  # fmt: skip
FILE_SYSTEM = ("rename", "replace", "unlink", "rmdir", "fsync", "mkdir", "chmod")
#: Seconds after which a command counts as one that never ends.
PATIENCE = 300.0


@dataclass(frozen=True)
class Hurt:
    """What befalls a process.

    Attributes:
        call: it is killed at this call of the file system, counted from 1.
        seconds: it and the processes that it has started are killed after so many seconds.
        bytes: no file grows beyond so many bytes, as on a full disk; standard error is a file too, and needs some.
    """

    call: int | None = None
    seconds: float | None = None
    bytes: int | None = None


@dataclass(frozen=True)
class Typed:
    """What a person does at the terminal that standard input and output are; standard error is a file.

    Attributes:
        keys: pressed one after the other, with a pause before each.
        hang_up: whether the terminal is closed after the last key, and not only at the end of the command.
    """

    keys: tuple[bytes, ...]
    pause: float
    hang_up: bool


@dataclass(frozen=True)
class Ended:
    """How a command ended; `status` is negative after a signal, None if it had to be stopped."""

    status: int | None
    out: str
    err: str

    @property
    def killed(self) -> bool:
        return self.status == -signal.SIGKILL

    @property
    def kind(self) -> str:
        """ "well", "line" (one clear line and another status than 0), "traceback" or "never"."""
        if self.status is None:
            return "never"
        if "Traceback" in self.err or "Exception ignored" in self.err or self.status < 0:
            return "traceback"
        lines = [line for line in self.err.splitlines() if line.startswith("espalier: ") and ": note: " not in line]
        if self.status == 0:
            return "well"
        return "line" if lines and self.err.rstrip().splitlines()[-1] == lines[-1] else "traceback"


def run(
    folder: Path,
    *arguments: str,
    hurt: Hurt | None = None,
    scratch: Path,
    mirror: Path,
    stdin: bytes = b"",
    typed: Typed | None = None,
) -> Ended:
    """`espalier ARGUMENTS` in a folder, at a terminal if something is typed."""
    hurt = hurt or Hurt()
    (scratch / "stdin").write_bytes(stdin)
    (scratch / "stdout").write_bytes(b"")
    context = get_context("forkserver")
    context.set_forkserver_preload([*PRELOADED])
    person, command = pty.openpty() if typed else (-1, -1)
    terminal = os.ttyname(command) if typed else None
    process = context.Process(
        target=_work, args=(str(folder), list(arguments), hurt, str(scratch), str(mirror), terminal)
    )
    process.start()
    if typed:
        _type(typed, person, command, scratch / "stdout", process.is_alive)
    process.join(hurt.seconds if hurt.seconds is not None else PATIENCE)
    late = process.is_alive()
    if process.pid is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.join()
    status = None if late and hurt.seconds is None else process.exitcode
    texts = [(scratch / name).read_text(encoding="utf-8", errors="replace") for name in ("stdout", "stderr")]
    return Ended(status, *texts)


def _type(typed: Typed, person: int, command: int, shown: Path, runs: Callable[[], bool]) -> None:
    """Press the keys, and write what the terminal shows to a file until the command ends."""
    keys, hung_up, deadline = list(typed.keys), False, time.monotonic() + PATIENCE
    key_at = time.monotonic() + typed.pause
    with shown.open("wb") as file:
        while runs() and time.monotonic() < deadline:
            if not hung_up and select.select([person], [], [], 0.05)[0]:
                with contextlib.suppress(OSError):
                    file.write(os.read(person, 65536))
            if time.monotonic() > key_at and keys:
                os.write(person, keys.pop(0))
                key_at = time.monotonic() + typed.pause
            elif time.monotonic() > key_at and typed.hang_up and not hung_up:
                os.close(person)
                os.close(command)
                hung_up = True
            elif hung_up:
                time.sleep(0.05)
    if not hung_up:
        os.close(person)
        os.close(command)


def _work(
    folder: str, arguments: list[str], hurt: Hurt, scratch: str, mirror: str, terminal: str | None = None
) -> None:
    os.setsid()
    places = [(f"{scratch}/stdin", os.O_RDONLY), (f"{scratch}/stdout", WRITE), (f"{scratch}/stderr", WRITE)]
    if terminal:  # which the first process of a session that opens it gets its signals from
        places[:2] = [(terminal, os.O_RDWR)] * 2
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, (place, flags) in enumerate(places):
        os.dup2(os.open(place, flags, 0o600), number)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, mode, encoding="utf-8", errors=errors, closefd=False)
        for number, mode, errors in ((0, "r", "strict"), (1, "w", "strict"), (2, "w", "backslashreplace"))
    )
    os.chdir(folder)
    sys.argv = ["espalier", *arguments]
    os.environ.update(ESPALIER_DEVICE="cpu", OMP_NUM_THREADS="1", ESPALIER_MIRROR=mirror)
    if hurt.call is not None:
        _kill_at(hurt.call)
    if hurt.bytes is not None:
        sys.dont_write_bytecode = True  # Python would keep the part of a compiled module that fits
        resource.setrlimit(resource.RLIMIT_FSIZE, (hurt.bytes, resource.RLIM_INFINITY))
    from espalier.cli import app as cli

    status: Any = 0
    try:
        try:
            cli.main()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except SystemExit as ended:
        status = ended.code
        if isinstance(status, str):  # as Python itself does it
            print(status, file=sys.stderr)
            status = 1
    except BaseException:
        import traceback

        traceback.print_exc()
        status = 1
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(int(status or 0))


WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


def _kill_at(number: int) -> None:
    """Let the process kill itself before, or after, one of its calls of the file system."""
    count = 0

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **keywords: Any) -> Any:
            nonlocal count
            for _ in range(2):
                count += 1
                if count == number:
                    os.kill(os.getpid(), signal.SIGKILL)
                    time.sleep(60)
                if _ == 0:
                    result = function(*args, **keywords)
            return result

        return call

    for name in FILE_SYSTEM:
        setattr(os, name, counted(getattr(os, name)))
