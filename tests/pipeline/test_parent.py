"""No process of a run outlives the one that started it, whatever ends that one."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from espalier.io.files import read_json
from pipeline import layout

sys.path.insert(0, str(Path(__file__).parent))
from forked_commands import programs
from small_params import empty, write

ROOT = Path(__file__).resolve().parents[2]

#: A command of DVC that watches as a stage does, tells its number, and goes on; with a process below it.
STAGE = """
import os, subprocess, sys, time
sys.path[:0] = [{root!r}, {src!r}]
from pipeline.graph.parent import end_with_dvc
end_with_dvc()
below = subprocess.Popen(["sleep", "300"])
with open(sys.argv[1], "w") as file:
    file.write(f"{{os.getpid()}} {{below.pid}}")
time.sleep(300)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    make_project(folder)
    return folder


def make_project(folder: Path) -> None:
    """Two stages that go on until `again` exists; the shell of one stays between it and DVC."""
    folder.mkdir()
    write(folder, empty())
    (folder / layout.CATALOGUE).parent.mkdir(parents=True)
    shutil.copy(ROOT / layout.CATALOGUE, folder / layout.CATALOGUE)
    (folder / "stage.py").write_text(STAGE.format(root=str(ROOT), src=str(ROOT / "src")), encoding="utf-8")
    call = f"{sys.executable} stage.py {{name}}.pid"
    commands = {
        "direct": f"test -e again || exec {call}",
        "shell": f"if test ! -e again; then {call}; echo; exit 3; fi",
    }
    stages = {
        name: {"cmd": f"{command.format(name=name)}; echo done > {name}.txt", "outs": [f"{name}.txt"]}
        for name, command in commands.items()
    }
    (folder / "dvc.yaml").write_text(yaml.safe_dump({"stages": stages}), encoding="utf-8")
    environment = environment_in(folder.parent)
    forked = {**environment, "PATH": f"{programs()}:{environment['PATH']}"}
    for command in (["git", "init", "-q"], ["dvc", "init", "-q"]):
        subprocess.run(command, cwd=folder, env=forked, check=True)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return environment_in(tmp_path)


def environment_in(folder: Path) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "DVC_SITE_CACHE_DIR": str(folder / "dvc")}


def begin(project: Path, environment: dict[str, str]) -> subprocess.Popen[str]:
    """Start `espalier repro` in a session of its own."""
    return subprocess.Popen(
        [sys.executable, str(ROOT / "pipeline"), "repro", "-j", "2"], cwd=project, env=environment, text=True,
        stderr=subprocess.PIPE, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # the tests may ignore it
    )  # fmt: skip


@pytest.fixture
def started(project: Path, environment: dict[str, str]) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Start `espalier repro`, and wait until both stages run."""
    begun = list[subprocess.Popen[str]]()

    def start() -> subprocess.Popen[str]:
        process = begin(project, environment)
        begun.append(process)
        await_that(lambda: all(len(numbers(project, name)) == 2 for name in ("direct", "shell")))
        return process

    yield start
    for process in begun:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def numbers(folder: Path, name: str) -> list[int]:
    file = folder / f"{name}.pid"
    return [int(number) for number in file.read_text(encoding="utf-8").split()] if file.exists() else []


def await_that(holds: Callable[[], bool], seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_running(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def below(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """The workers of a run, their commands and the processes of these."""
    return psutil.Process(process.pid).children(recursive=True)


def goes_on(folder: Path, environment: dict[str, str]) -> None:
    """A later run reads the locks, and ends."""
    (folder / "again").touch()
    command = [sys.executable, str(ROOT / "pipeline"), "repro", "-j", "2"]
    again = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert again.returncode == 0, again.stderr
    assert (folder / "direct.txt").exists() and (folder / "shell.txt").exists()


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda blow: blow.name)
def test_no_worker_or_command_outlives_a_repro_that_is_ended_alone(
    project: Path, started: Any, environment: dict[str, str], blow: signal.Signals
) -> None:
    process = started()
    those = below(process)
    assert {*numbers(project, "direct"), *numbers(project, "shell")} <= {each.pid for each in those}
    process.send_signal(blow)
    process.communicate(timeout=60)
    assert process.returncode != 0
    await_that(lambda: not any(map(is_running, those)), 20)
    assert not any(read_json(project / ".dvc/tmp/rwlock").values())  # the workers released what they held
    if blow == signal.SIGKILL:  # which leaves the most behind
        goes_on(project, environment)


def test_no_command_outlives_a_worker_that_is_killed(project: Path, started: Any) -> None:
    process = started()
    commands = [psutil.Process(number) for name in ("direct", "shell") for number in numbers(project, name)]
    workers = [each for each in psutil.Process(process.pid).children() if each.children()]
    assert len(workers) == 2
    for worker in workers:
        with suppress(psutil.NoSuchProcess):  # the death of the first ends the second
            worker.kill()
    process.communicate(timeout=60)
    await_that(lambda: not any(map(is_running, commands)), 20)


def test_two_interrupts_in_a_row_leave_locks_that_can_be_read(
    project: Path, started: Any, environment: dict[str, str]
) -> None:
    process = started()
    those = below(process)
    for _ in range(2):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.2)
    _, said = process.communicate(timeout=60)
    assert said.splitlines()[-1] == "espalier: interrupted" and "Traceback" not in said
    await_that(lambda: not any(map(is_running, those)), 20)
    assert not any(read_json(project / ".dvc/tmp/rwlock").values())
    goes_on(project, environment)
