"""`make` on machines that lack something: one line of ours says what, and what to do. No package is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

#: A Python that a test makes: what it prints and how it ends, by the words that it is called with. Which versions are
#: refused is asked of the Python of the tests, in which `sys.version_info` is another.
FAKE = """#!/bin/sh
case "$*" in
*version_info*) exec '{python}' -c 'import sys; sys.version_info = ({version}); exec(sys.argv[1])' "$2" ;;
*ensurepip*) exit {lacks_venv} ;;
--version) echo "Python {version}" | sed 's/, /./g' ;;
"-m venv .venv") mkdir -p .venv/bin; cp "$0" .venv/bin/python; echo '{venv_says}'; exit {venv} ;;
*"-m pip install"*) echo '{pip_says}' >&2; exit {pip} ;;
esac
"""
WELL = {
    "python": sys.executable, "version": "3, 11, 7", "lacks_venv": 0,
    "venv_says": "", "venv": 0, "pip_says": "", "pip": 0,
}  # fmt: skip
IDENTITY = {f"GIT_{role}_{field}": "t@example.org" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")}
FULL = "OSError: [Errno 28] No space left on device"
WHEELS = "the packages of constraints.txt have wheels for Python 3.11 to 3.14 only: make PYTHON=python3.11"
DISK = "the disk is full; free 10 GB, or 5 GB with the CPU build of PyTorch (README), and run make again"
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
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("sh", "make", "git", "grep", "head", "tail", "rm", "touch", "mkdir", "cp", "test", "echo", "sed"):
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
        (None, "no program python3; install Python 3.11 to 3.14, or name one: make PYTHON=python3.11"),
        ({"version": "3, 10, 13"}, f"python3 is Python 3.10.13; {WHEELS}"),
        ({"version": "3, 15, 0"}, f"python3 is Python 3.15.0; {WHEELS}"),
        (
            {"lacks_venv": 1},
            "python3 has no module venv; install it (Debian, Ubuntu: apt install python3-venv), or name",
        ),
        ({"venv": 1, "venv_says": FULL}, f"cannot make .venv: {DISK}"),
        ({"pip": 1, "pip_says": FULL}, f"cannot install the packages: {DISK}"),
        (
            {"pip": 1, "pip_says": OFFLINE},
            "cannot install the packages: the package index cannot be reached; connect to",
        ),
        (
            {"pip": 1, "pip_says": "ERROR: no wheel of x"},
            "cannot install the packages: ERROR: no wheel of x; .venv.log has",
        ),
    ],
    ids=["no python", "3.10", "3.15", "no venv", "full disk, venv", "full disk, pip", "no network", "anything else"],
)
def test_what_is_missing_is_one_line(project: Path, python: dict[str, object] | None, line: str) -> None:
    status, said = make(project, python)
    assert status != 0
    assert len(said) == 1 and said[0].startswith(f"espalier: {line}"), said
    assert not (project / ".venv/ready").exists()


@pytest.mark.parametrize("version", ["3, 11, 0", "3, 14, 9"])
def test_the_first_and_the_last_supported_python_are_taken(project: Path, version: str) -> None:
    assert make(project, {"version": version}) == (0, [])


def test_an_archive_without_git_is_one_line_with_the_commands_that_mend_it(project: Path) -> None:
    shutil.rmtree(project / ".git")
    status, [line] = make(project, {})
    assert status != 0 and not (project / ".venv").exists()
    said, _, commands = line.partition("; clone the project, or run: ")
    assert said == f"espalier: {project} is not in a git repository, which DVC needs"
    subprocess.run(commands, shell=True, cwd=project, env=os.environ | IDENTITY, check=True)
    assert make(project, {}) == (0, [])


def test_a_machine_without_git_is_one_line(project: Path) -> None:
    (project.parent / "programs/git").unlink()
    assert make(project, {})[1] == ["espalier: no program git; install it (Debian, Ubuntu: apt install git)"]


def test_a_venv_that_could_not_be_made_is_no_venv_the_next_time(project: Path) -> None:
    make(project, {"venv": 1, "venv_says": FULL})
    assert not (project / ".venv").exists()
    assert make(project, {}) == (0, []) and (project / ".venv/ready").exists()
    assert not (project / ".venv.log").exists()


def test_an_environment_is_made_once_and_again_when_its_versions_change(project: Path) -> None:
    assert make(project, {})[0] == 0
    made = (project / ".venv/ready").stat().st_mtime_ns
    assert make(project, {"version": "3, 10, 13"})[0] == 0  # nothing is asked again
    later = made / 1e9 + 5
    os.utime(project / "constraints.txt", (later, later))
    assert make(project, {"version": "3, 10, 13"})[0] != 0
