"""Commands of stages as forks of a process that has imported the libraries.

To import torch and pandas takes longer than most stages of a small profile. The server of the forks imports libraries
alone, which no edit of the project changes; a fork imports the project's own code, as a command of its own would. The
server ends with the process that has started it and the last of its forks.
"""

import gc
import os
import re
import runpy
import shutil
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing import forkserver, get_context
from multiprocessing.connection import Connection
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import Final, Protocol

import espalier

#: What most stages import.
LIBRARIES: Final = (
    "torch", "accelerate", "pandas", "pyarrow.parquet", "pydantic.type_adapter", "typer", "yaml", "rich.progress",
    "tokenizers", "filelock", "psutil",
)  # fmt: skip
#: What libraries read when they are imported. Stages that differ in them must not share an import.
THREADS: Final = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
#: The folder of the project that the present code belongs to.
_ROOT: Final = Path(__file__).resolve().parents[2]
_COMMAND: Final = re.compile(r"python (?P<folder>\S+/pipeline)(?P<words>(?: [\w.-]+)+)")
_GPU: Final = Path("/dev/nvidiactl")
_FORKS: Final = get_context("forkserver")
_serves = False


def start_server() -> None:
    """Start importing, if commands of this process can be forks."""
    global _serves
    if _fits(os.environ):
        _FORKS.set_forkserver_preload([*LIBRARIES])
        forkserver.ensure_running()
        _serves = True


def fork(command: str, folder: str, environment: Mapping[str, str]) -> int | None:
    """Run a command as a fork, with the standard streams of this process, which leaves Ctrl-C to it as DVC does.

    Returns:
        The exit status, negative after a signal; None if the command was not run, because it is none of this project's
        stages, or would not have the same interpreter and number of threads.
    """
    found = _COMMAND.fullmatch(command) if _serves else None
    if found is None or Path(folder, found["folder"]).resolve() != _ROOT / "pipeline" or not _fits(environment):
        return None
    receiver, sender = _FORKS.Pipe(duplex=False)
    arguments = [found["folder"], *found["words"].split()]
    with receiver:
        process = _FORKS.Process(
            target=_run, args=(arguments, folder, dict(environment), _Stream(1), _Stream(2), sender)
        )
        process.start()
        sender.close()
        code: int | None = None
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            with suppress(EOFError):  # of a process that was killed
                code = receiver.recv()  # the server too passes the status on, but has been seen to lose it
            process.join()
        finally:
            signal.signal(signal.SIGINT, before)
    return process.exitcode if code is None else code


def _fits(environment: Mapping[str, str]) -> bool:
    """Whether `python` is this interpreter, its packages are those of the project, and libraries use one thread.

    Where there is a GPU, each command imports by itself: what a library may ask of the driver does not survive a fork.
    """
    python, own = (shutil.which(name, path=environment.get("PATH")) for name in ("python", sys.executable))
    return (
        sys.platform == "linux"
        and not _GPU.exists()
        and python is not None
        and own is not None
        and (Path(python).parent, Path(python).resolve()) == (Path(own).parent, Path(own).resolve())
        and Path(espalier.__file__).resolve().is_relative_to(_ROOT)
        and environment.get(THREADS[0]) == "1"
        and all(environment.get(name, "1") == "1" for name in THREADS)
    )


class _Passed(Protocol):
    """A file on its way to a fork."""

    def detach(self) -> int: ...


class _Stream:
    """A number of a file of this process, which is another number in a fork."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __reduce__(self) -> tuple[object, ...]:
        return _received, (DupFd(self.number),)


def _received(stream: _Passed) -> int:
    return stream.detach()


def _run(
    arguments: list[str], folder: str, environment: dict[str, str], out: int, errors: int, sender: Connection
) -> None:
    """Be `python FOLDER WORDS...`, and send the exit status."""
    begin(folder, environment, {1: out, 2: errors})
    sys.argv[:] = arguments
    code: object = 1
    try:
        runpy.run_path(str(_ROOT / "pipeline"), run_name="__main__")
        code = 0
    except SystemExit as ended:
        code = ended.code
        raise
    finally:
        sender.send(code if isinstance(code, int) else int(code is not None))


def begin(folder: str, environment: Mapping[str, str], streams: Mapping[int, int]) -> None:
    """Take the folder, the environment and, by their numbers, the standard streams of a fork's command."""
    gc.freeze()  # the libraries' objects stay: to look for garbage among them takes an eighth of a small stage
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for number, stream in streams.items():
        os.dup2(stream, number)
        os.close(stream)
