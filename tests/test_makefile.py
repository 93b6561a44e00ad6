"""`make` on machines that lack something: one line of ours says what, and what to do. No package is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

#: A Python that a test makes: what it prints and how it ends, by the words that it is called with.
FAKE = """#!/bin/sh
case "$*" in
*version_info*) exit {old} ;;
*ensurepip*) exit {lacks_venv} ;;
--version) echo "Python 3.9.2" ;;
"-m venv .venv") mkdir -p .venv/bin; cp "$0" .venv/bin/python; echo '{venv_says}'; exit {venv} ;;
*"-m pip install"*) echo '{pip_says}' >&2; exit {pip} ;;
esac
"""
WELL = {"old": 0, "lacks_venv": 0, "venv_says": "", "venv": 0, "pip_says": "", "pip": 0}
FULL = "OSError: [Errno 28] No space left on device"
OFFLINE = (
    "WARNING: Retrying after connection broken by NewConnectionError: Network is unreachable\nERROR: No matching dist"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with what sets the environment up, and a folder of programs in which there is no Python."""
    folder = tmp_path / "project"
    (folder / ".ci").mkdir(parents=True)
    for name in ("Makefile", ".ci/environment", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder / name)
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("sh", "make", "grep", "tail", "rm", "touch", "mkdir", "cp", "test", "echo", "sed"):
        (programs / name).symlink_to(shutil.which(name) or f"/bin/{name}")
    return folder


def make(folder: Path, python: dict[str, object] | None) -> tuple[int, list[str]]:
    """`make .venv/ready` with this Python, or with none: its status, and what it says besides make's own line."""
    programs = folder.parent / "programs"
    if python is not None:
        (programs / "python3").write_text(FAKE.format(**{**WELL, **python}), encoding="utf-8")
        (programs / "python3").chmod(0o755)
    environment = {"PATH": str(programs), "HOME": str(folder), "LC_ALL": "C"}
    done = subprocess.run(
        [str(programs / "make"), ".venv/ready"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    said = [line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("make: ***")]
    return done.returncode, said


@pytest.mark.parametrize(
    ("python", "line"),
    [
        (None, "no program python3; install Python 3.11 or newer, or name one: make PYTHON=python3.11"),
        ({"old": 1}, "python3 is Python 3.9.2; Python 3.11 or newer is needed: make PYTHON=python3.11"),
        (
            {"lacks_venv": 1},
            "python3 has no module venv; install it (Debian, Ubuntu: apt install python3-venv), or name",
        ),
        ({"venv": 1, "venv_says": FULL}, "cannot make .venv: the disk is full; free 5 GB and run make again"),
        ({"pip": 1, "pip_says": FULL}, "cannot install the packages: the disk is full; free 5 GB and run make again"),
        (
            {"pip": 1, "pip_says": OFFLINE},
            "cannot install the packages: the package index cannot be reached; connect to",
        ),
        (
            {"pip": 1, "pip_says": "ERROR: no wheel of x"},
            "cannot install the packages: ERROR: no wheel of x; .venv.log has",
        ),
    ],
    ids=["no python", "old python", "no venv", "full disk, venv", "full disk, pip", "no network", "anything else"],
)
def test_what_is_missing_is_one_line(project: Path, python: dict[str, object] | None, line: str) -> None:
    status, said = make(project, python)
    assert status != 0
    assert len(said) == 1 and said[0].startswith(f"espalier: {line}"), said
    assert not (project / ".venv/ready").exists()


def test_a_venv_that_could_not_be_made_is_no_venv_the_next_time(project: Path) -> None:
    make(project, {"venv": 1, "venv_says": FULL})
    assert not (project / ".venv").exists()
    assert make(project, {}) == (0, []) and (project / ".venv/ready").exists()
    assert not (project / ".venv.log").exists()


def test_an_environment_is_made_once_and_again_when_its_versions_change(project: Path) -> None:
    assert make(project, {})[0] == 0
    made = (project / ".venv/ready").stat().st_mtime_ns
    assert make(project, {"old": 1})[0] == 0  # nothing is asked again
    later = made / 1e9 + 5
    os.utime(project / "constraints.txt", (later, later))
    assert make(project, {"old": 1})[0] != 0
