"""One stage, run and measured in a separate process."""

import multiprocessing
import os
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from espalier.cli.app import main as command_line
from espalier.cli.failures import NO_MEMORY
from pipeline.graph.parent import end_with_parent
from pipeline.graph.rehearsal.stages import Outcome
from pipeline.graph.stage_graph import Stage
from pipeline.layout import ROOT

#: How a process ends that the kernel ends because memory runs out.
KILLED: Final = -9
#: Forks processes from one that has imported these modules: importing takes longer than most stages of a rehearsal.
_FORKS: Final = multiprocessing.get_context("forkserver")
_STAGES: Final = [f"pipeline.stages.{path.stem}" for path in sorted((ROOT / "pipeline/stages").glob("[a-z]*.py"))]
#: Held while the server is started, for that changes the variables of all threads for a moment.
_STARTING: Final = threading.Lock()


def run_stage(
    stage: Stage, folder: Path, environment: Mapping[str, str], main: Callable[[], object] = command_line
) -> Outcome:
    """Run one stage in the folder of a profile, in a separate process.

    The process is forked from one that has already imported the libraries, since importing takes longer than most
    rehearsed stages.

    Args:
        main: importable function that the process calls with the stage as its command line.
    """
    started = time.monotonic()
    with _STARTING:
        _start_server()
        variables = {**os.environ, **environment}
    receiver, sender = _FORKS.Pipe(duplex=False)
    memory, code = 0, None
    with tempfile.NamedTemporaryFile() as said, receiver:
        process = _FORKS.Process(target=_in_process, args=(main, stage, folder, variables, said.name, sender))
        process.start()
        sender.close()
        with suppress(EOFError):  # of a process that the system ended
            memory, code = receiver.recv()
        process.join()
        assert process.exitcode is not None  # as it has ended
        lines = said.read().decode(errors="replace").strip().splitlines()
    code = process.exitcode if code is None else code
    return Outcome(stage, _failure(code, lines), time.monotonic() - started, memory)


def _start_server() -> None:
    """Start the fork server, if it does not run, with the search path of this process.

    Python 3.11 does not pass the path on. Without it the server would find no `pipeline`, or in the folder of a profile
    another one.
    """
    _FORKS.set_forkserver_preload(["torch", "pipeline.shell.app", *_STAGES])
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    try:
        forkserver.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def _in_process(
    main: Callable[[], object],
    stage: Stage,
    folder: Path,
    environment: Mapping[str, str],
    said: str,
    sender: Connection,
) -> None:
    """Call `main` like a command, and send the peak memory of this process, in bytes, and the exit status.

    The fork server also passes the status on, but has been seen to lose it.
    """
    end_with_parent()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    nothing, errors = os.open(os.devnull, os.O_RDWR), os.open(said, os.O_WRONLY)
    for file, number in ((nothing, 0), (nothing, 1), (errors, 2)):
        os.dup2(file, number)
    sys.argv[1:] = stage
    code = 1
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        raise
    finally:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        sender.send((peak * (1 if sys.platform == "darwin" else 1024), code))


def _failure(code: int, lines: list[str]) -> str | None:
    if code == 0:
        return None
    if code == KILLED:
        return f"{NO_MEMORY}: the system ended it"
    last = lines[-1].removeprefix("espalier: ") if lines else "nothing was said"
    return last if code == 1 else f"ended with status {code}: {last}"
