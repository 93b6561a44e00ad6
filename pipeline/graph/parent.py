"""Processes that end when the process that started them ends, even if that one is killed."""

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import parent_process
from typing import Final

import psutil

#: The number of the process that lets DVC run a command, in the environment of the command.
STARTED_BY: Final = "_ESPALIER_STARTED_BY"
#: What DVC sets in the environment of a command: the name of its stage.
DVC_STAGE: Final = "DVC_STAGE"
#: Seconds between two looks at the parent of a command.
LOOK: Final = 0.5


def end_with_parent(before: Callable[[], object] = lambda: None) -> None:
    """End this process and all below it when its parent ends, if `multiprocessing` has started it.

    The parent holds a pipe, which the system closes.

    Args:
        before: called after the processes below this one have ended, and before it ends.
    """
    if (parent := parent_process()) is not None:
        _when(parent.join, before)


def end_with_dvc() -> None:
    """End this process and all below it when the process of DVC that has started it ends, if one has.

    DVC passes no pipe to a command, and there may be a shell between them.
    """
    if DVC_STAGE in os.environ:
        parent, worker = os.getppid(), int(os.environ.get(STARTED_BY, 0))
        end_when(lambda: os.getppid() != parent or bool(worker and not runs(worker)))


def end_when(holds: Callable[[], bool]) -> None:
    """End this process and all below it when a condition holds. It is looked at twice a second."""

    def wait() -> None:
        while not holds():
            time.sleep(LOOK)

    _when(wait, lambda: None)


def end_below() -> None:
    """Kill all processes below this one. A stage can be killed at any moment.

    They are not waited for: DVC would take a command whose status another has read for one that has succeeded.
    """
    while below := _below(psutil.Process()):
        _send(below, signal.SIGKILL)
        time.sleep(0.05)


def kill_with_below(process: int) -> None:
    """Kill a process and all below it."""
    with suppress(psutil.NoSuchProcess):
        whole = psutil.Process(process)
        _send([whole, *_below(whole)], signal.SIGKILL)


def interrupt_below(seconds: float) -> None:
    """Interrupt the children of this process, and the commands below them that run on.

    Args:
        seconds: time for a command to end: before it is interrupted, as Ctrl-C may have reached it, and before it is
            killed.
    """
    children = psutil.Process().children()
    commands = [process for child in children for process in _below(child) if not _serves_forks(process, child)]
    _send(children, signal.SIGINT)
    for blow in (signal.SIGINT, signal.SIGKILL):
        _, commands = psutil.wait_procs(commands, timeout=seconds)
        _send(commands, blow)


def _below(process: psutil.Process) -> list[psutil.Process]:
    """The processes below a process that run."""
    with suppress(psutil.NoSuchProcess):
        return [child for child in process.children(recursive=True) if runs(child.pid)]
    return []


def _serves_forks(process: psutil.Process, parent: psutil.Process) -> bool:
    """Whether a process below `parent` is the server of its forks, which ignores interrupts, and ends after them."""
    with suppress(psutil.NoSuchProcess):
        return process.ppid() == parent.pid and "multiprocessing.forkserver" in " ".join(process.cmdline())
    return False


def runs(number: int) -> bool:
    """Whether a process runs; a zombie, whose status nobody has read, does not."""
    with suppress(psutil.NoSuchProcess):
        return bool(psutil.Process(number).status() != psutil.STATUS_ZOMBIE)
    return False


def _send(processes: list[psutil.Process], blow: signal.Signals) -> None:
    for process in processes:
        with suppress(psutil.Error):  # it has ended
            process.send_signal(blow)


def _when(wait: Callable[[], object], before: Callable[[], object]) -> None:
    def watch() -> None:
        wait()
        end_below()
        before()
        os._exit(1)

    threading.Thread(target=watch, name="end with parent", daemon=True).start()
