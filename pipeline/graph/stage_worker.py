"""A process in which DVC brings stages up to date, and which Ctrl-C stops where DVC writes nothing."""

from __future__ import annotations

import logging
import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from dvc.exceptions import DvcException
from dvc.stage import run
from dvc.stage.exceptions import StageCmdFailedError

from espalier.io.errors import EspalierError
from pipeline.graph import forks
from pipeline.graph.cluster_settings import Cluster, Resources
from pipeline.graph.dvc_files import dvc_project, locked_atomically, parsed_once, written_by_entry
from pipeline.graph.parent import STARTED_BY, end_with_parent

#: Seconds that a command has to end by itself, or DVC to release its files.
GRACE = 5.0


@dataclass(frozen=True)
class Outcome:
    """The result of a stage, its duration in seconds, and the output of the stage and DVC.

    Attributes:
        ran: whether its command was run. It then prints at least one line; outputs taken from DVC's cache print none.
    """

    stage: str
    ok: bool
    ran: bool
    seconds: float
    output: str


@dataclass(frozen=True)
class Job:
    """The job of a stage on a cluster, and the seeds that have jobs of their own before it."""

    cluster: Cluster
    resources: Resources
    seeds: tuple[int, ...]

    def described(self, stage: str) -> str:
        """One line: the stage, its number of jobs, and what each asks for."""
        asked = self.resources
        if asked.here:
            return f"{stage}: here"
        gpus = f", GPUs {asked.gpus}" if asked.gpus else ""
        needs = f"cores {asked.cores}, memory {asked.memory}{gpus}, hours {asked.hours:g}"
        return f"{stage}: jobs {len(self.seeds) + 1}, {needs}"


class _Interrupt:
    """Handling of Ctrl-C in a process that runs stages: no other command starts, and DVC writes what it has begun.

    The command of a stage receives Ctrl-C too. DVC ignores it meanwhile, so that it can report how the command ended.
    """

    seen, starts_command = False, False
    #: Set while no stage runs here.
    idle = threading.Event()

    @classmethod
    def take(cls, *_: object) -> None:
        """The signal handler."""
        cls.seen = True
        if cls.starts_command:
            raise KeyboardInterrupt

    @classmethod
    def check(cls) -> None:
        """Raise an interrupt that has come before."""
        if cls.seen:
            raise KeyboardInterrupt

    @classmethod
    def finish(cls) -> None:
        """Start no other command, and wait until DVC has released the files of a stage whose command was killed."""
        cls.seen = True
        cls.idle.wait(GRACE)


def stay(serve: bool) -> None:
    """Leave Ctrl-C to `bring_up_to_date`, which reports it, and end with the main process.

    Args:
        serve: whether commands shall be forks.
    """
    _Interrupt.idle.set()
    signal.signal(signal.SIGINT, _Interrupt.take)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    os.environ[STARTED_BY] = str(os.getpid())
    end_with_parent(_Interrupt.finish)
    if serve:
        forks.start_server()


@contextmanager
def _interruptible() -> Iterator[None]:
    """In this context, Ctrl-C stops DVC only where it starts a command, where it writes nothing."""
    whole, command = run.cmd_run, run._run

    def cmd_run(*arguments: Any, **options: Any) -> None:
        _Interrupt.starts_command = True
        try:
            _Interrupt.check()
            whole(*arguments, **options)
        finally:
            _Interrupt.starts_command = False

    def forked(executable: str | None, line: str, **options: Any) -> None:
        status = forks.fork(line, options["cwd"], options["env"])
        if status is None:
            command(executable, line, **options)
        elif status:
            raise StageCmdFailedError(line, status)

    run.cmd_run, run._run = cmd_run, forked
    _Interrupt.idle.clear()
    try:
        _Interrupt.check()
        yield
    finally:
        run.cmd_run, run._run = whole, command
        _Interrupt.idle.set()


def bring_up_to_date(stage: str, job: Job | None) -> Outcome:
    """Let DVC bring one stage up to date, in a separate process."""
    logging.getLogger("dvc").setLevel(logging.WARNING)  # it names each stage and each file for git again
    started = time.monotonic()
    with tempfile.TemporaryFile() as file, _printed_to(file), parsed_once(), written_by_entry(), locked_atomically():
        try:
            with _interruptible(), _on_cluster(stage, job):
                dvc_project(wait_for_lock=True).reproduce([stage], single_item=True)
            ok, reason = True, ""
        except DvcException as error:
            ok, reason = False, f"{error.__cause__ or error}\n"
        except EspalierError as error:
            ok, reason = False, f"{error}\n"
        except KeyboardInterrupt:
            ok, reason = False, "interrupted\n"
        file.seek(0)
        output = file.read().decode(errors="replace") + reason
    return Outcome(stage, ok, bool(output.strip()), time.monotonic() - started, output)


@contextmanager
def _on_cluster(stage: str, job: Job | None) -> Iterator[None]:
    """In this context, the commands of the stage are jobs, if it has one."""
    if job is None or job.resources.here:
        yield
        return
    from pipeline.graph.jobs import as_jobs  # it imports Dask, which takes a second

    with as_jobs(job.cluster, stage, job.resources, job.seeds):
        yield


@contextmanager
def _printed_to(file: IO[bytes]) -> Iterator[None]:
    """Redirect both standard streams of this process and its child processes to a file."""
    kept = {stream: os.dup(stream) for stream in (1, 2)}
    try:
        for stream in kept:
            os.dup2(file.fileno(), stream)
        yield
    finally:
        for stream, copy in kept.items():
            os.dup2(copy, stream)
            os.close(copy)
