"""Commands of stages as forks: what they say and how they end is what a command of its own says, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from pipeline.commands import repro
from pipeline.graph import forks
from pipeline.graph.parent import _serves_forks

sys.path.insert(0, str(Path(__file__).parent))
from small_params import empty, write

ROOT = Path(__file__).resolve().parents[2]
COMMAND = f"python {ROOT}/pipeline"

#: Runs a stage as a fork, in a process of its own, which it ends with its status; or waits for good below it.
WORKER = """
import os, sys
sys.path[:0] = {path!r}
from pipeline.graph import forks
from pipeline.graph.parent import STARTED_BY
if __name__ == "__main__":
    forks.LIBRARIES = ("yaml",)
    os.environ[STARTED_BY] = str(os.getpid())
    forks.start_server()
    sys.exit(forks.fork(sys.argv[1], sys.argv[2], dict(os.environ, DVC_STAGE="a stage")))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A profile without stages, and a program that runs commands in it."""
    write(tmp_path, empty())
    (tmp_path / "worker.py").write_text(WORKER.format(path=[str(ROOT), str(ROOT / "src")]), encoding="utf-8")
    return tmp_path


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """Where `python` is this interpreter, which uses one thread."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    yield {**os.environ, "PATH": path, "OMP_NUM_THREADS": "1"}


def test_a_fork_says_and_ends_as_a_command_of_its_own(folder: Path, environment: dict[str, str]) -> None:
    for words, status in (("score no_such_run", 1), ("score", 2), ("list models", 0)):
        command = [sys.executable, str(ROOT / "pipeline"), *words.split()]
        alone = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        worker = [sys.executable, "worker.py", f"{COMMAND} {words}", str(folder)]
        fork = subprocess.run(worker, cwd=folder, env=environment, capture_output=True, text=True)
        assert alone.returncode == status
        assert (fork.returncode, fork.stdout, fork.stderr) == (alone.returncode, alone.stdout, alone.stderr)


def test_a_fork_that_is_killed_has_the_signal_as_its_status_and_ends_with_its_worker(
    folder: Path, environment: dict[str, str]
) -> None:
    # A stage that goes on: it reads params.yaml, here a pipe that nobody writes.
    (folder / "params.yaml").unlink()
    os.mkfifo(folder / "params.yaml")
    for victim in ("fork", "worker"):
        worker = subprocess.Popen(
            [sys.executable, "worker.py", f"{COMMAND} score any", str(folder)], cwd=folder, env=environment
        )
        try:
            server, fork = processes(worker.pid)
            assert _serves_forks(server, psutil.Process(worker.pid)) and not _serves_forks(
                fork, psutil.Process(worker.pid)
            )
            (fork if victim == "fork" else psutil.Process(worker.pid)).kill()
            assert worker.wait(60) == (256 - signal.SIGKILL if victim == "fork" else -signal.SIGKILL)
            deadline = time.monotonic() + 20
            while any(map(runs, (server, fork))):
                assert time.monotonic() < deadline
                time.sleep(0.1)
        finally:
            with suppress(ProcessLookupError):
                worker.kill()


def runs(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def processes(worker: int) -> tuple[psutil.Process, psutil.Process]:
    """The server of a worker, and its fork, once it watches its worker."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        for server in psutil.Process(worker).children():
            for fork in server.children():
                if fork.num_threads() > 1:
                    return server, fork
        time.sleep(0.1)
    raise AssertionError("no fork")


def test_only_stages_of_this_project_with_this_python_and_one_thread_are_forks(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def started(*_: object, **__: object) -> None:
        raise RuntimeError("a fork")

    monkeypatch.setattr(forks, "_FORKS", type("", (), {"Pipe": started}))
    monkeypatch.setattr(forks, "_serves", True)
    with pytest.raises(RuntimeError, match="a fork"):
        forks.fork(f"{COMMAND} score any", ".", environment)
    with pytest.raises(RuntimeError, match="a fork"):
        forks.fork("python ../pipeline score any", str(ROOT / "tests"), environment)
    (tmp_path / "python").symlink_to(sys.executable)
    others = [{"OMP_NUM_THREADS": "2"}, {"MKL_NUM_THREADS": "2"}, {"PATH": str(tmp_path)}, {"PATH": "/nowhere"}]
    for command in (
        f"{COMMAND} score any && echo",
        "python pipeline score any",
        "python3 ./pipeline score any",
        "echo",
    ):
        assert forks.fork(command, str(tmp_path), environment) is None
    for change in others:
        assert forks.fork(f"{COMMAND} score any", ".", {**environment, **change}) is None
    with monkeypatch.context() as there:
        there.setattr(forks, "_GPU", tmp_path)
        assert forks.fork(f"{COMMAND} score any", ".", environment) is None
    monkeypatch.setattr(forks, "_serves", False)
    assert forks.fork(f"{COMMAND} score any", ".", environment) is None


def test_stages_that_are_not_heavy_do_without_torch() -> None:
    others = {path.stem for path in (ROOT / "pipeline/stages").glob("[a-z]*.py")} - {*repro.HEAVY}
    script = f"""
import importlib, sys
for name in {sorted(others)}:
    importlib.import_module(f"pipeline.stages.{{name}}")
    assert "torch" not in sys.modules, name
"""
    path = f"{ROOT}:{ROOT / 'src'}"
    done = subprocess.run([sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": path}, capture_output=True)
    assert done.returncode == 0, done.stderr
