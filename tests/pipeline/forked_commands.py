"""`dvc` and `python pipeline` as forks of a process that has imported the libraries, for tests that call many.

To import torch, pandas and DVC takes longer than most stages of a small project. A folder for the front of PATH has two
programs that ask a server for a fork in their folder, with their arguments, environment and streams; the fork imports
the project's own code, as the command would. The programs of this environment run instead where an environment variable
that is read at imports says something else, and where `python` is called for something else than a stage.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import random
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: What DVC imports for its commands; the libraries of stages are those of `pipeline.graph.forks`.
DVC = ("dvc.cli.parser", "dvc.repo", "dvc.scm", "dvc.fs", "dvc_data.index", "scmrepo.git", "ruamel.yaml", "networkx")

#: The programs. `-IS`: without the environment's modules, one starts in 10 ms.
PROGRAM = """#!{python} -IS
import json, os, socket, sys
name, place = os.path.basename(sys.argv[0]), {place!r}
stage = name == "dvc" or (os.path.basename("".join(sys.argv[1:2])) == "pipeline" and sys.argv[2:3] != ["repro"])
if not stage or "PYTHONPATH" in os.environ or any(os.environ.get(each, "1") != "1" for each in {threads!r}):
    program = os.path.join({folder!r}, name)
    os.execv(program, [program, *sys.argv[1:]])
with socket.socket(socket.AF_UNIX) as server:
    server.connect(place)
    asked = json.dumps([[name, *sys.argv[1:]], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(asked).to_bytes(8, "big")], [0, 1, 2])
    server.sendall(asked)
    status = server.recv(1)
os._exit(status[0] if status else 137)  # of a fork that was killed
"""


@cache
def programs() -> Path:
    """The folder for the front of PATH, whose server runs as long as this process."""
    if sys.platform != "linux":  # what has imported torch cannot be forked everywhere
        return Path(sys.executable).parent
    from pipeline.graph.forks import THREADS

    folder = Path(tempfile.mkdtemp(prefix="espalier-"))
    atexit.register(shutil.rmtree, folder)
    place = folder / "server"
    for name in ("python", "dvc"):
        text = PROGRAM.format(
            python=sys.executable, place=str(place), threads=THREADS, folder=str(Path(sys.executable).parent)
        )
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o700)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    server = subprocess.Popen(
        [sys.executable, __file__, str(place)],
        stdin=subprocess.PIPE,  # which the system closes when this process ends
        stdout=subprocess.PIPE,
        env={**environment, "OMP_NUM_THREADS": "1"},
    )
    assert server.stdout is not None and server.stdout.readline() == b"ready\n"
    atexit.register(server.communicate)
    return folder


def serve(place: str) -> None:
    """Fork for each program that connects, until standard input is closed."""
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]
    from pipeline.graph.forks import LIBRARIES, begin

    for name in (*LIBRARIES, *DVC):
        importlib.import_module(name)
    for name in [name for name in sys.modules if name.partition(".")[0] in ("espalier", "pipeline")]:
        del sys.modules[name]  # a fork imports those of its own tree
    del sys.path[:3]
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that none becomes a zombie
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(place)
        server.listen(64)
        print("ready", flush=True)
        while server in select.select([server, sys.stdin], [], [])[0]:
            connection, _ = server.accept()
            if os.fork() == 0:
                server.close()
                _answer(connection, begin)
            connection.close()


def _answer(connection: socket.socket, begin: Callable[[str, dict[str, str], dict[int, int]], None]) -> None:
    random.seed()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, streams, _, _ = socket.recv_fds(connection, 8, 3)
    asked = b""
    while len(asked) < int.from_bytes(size, "big"):
        asked += connection.recv(1 << 20)
    (name, *arguments), folder, environment = json.loads(asked)
    begin(folder, environment, dict(enumerate(streams)))
    code: object = 1
    try:
        code = _run(name, arguments)
    except SystemExit as ended:
        code = ended.code
        if isinstance(code, str):  # as Python itself does it
            print(code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
    for text in (sys.stdout, sys.stderr):
        with suppress(OSError):
            text.flush()
    connection.sendall(bytes([code % 256 if isinstance(code, int) else int(code is not None)]))
    os._exit(0)


def _run(name: str, arguments: list[str]) -> object:
    if name == "dvc":
        from dvc.cli import main

        sys.argv[:] = [name, *arguments]
        return main()
    sys.argv[:] = arguments
    runpy.run_path(arguments[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    serve(sys.argv[1])
