"""`.ci/run`: what it does with arguments. What it checks is run by itself, not here."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def ci(*arguments: str) -> subprocess.CompletedProcess[str]:
    """`.ci/run` with arguments; a run that starts the checks is killed."""
    return subprocess.run([ROOT / ".ci/run", *arguments], capture_output=True, text=True, check=False, timeout=20)


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_says_what_is_checked_and_starts_nothing(option: str) -> None:
    done = ci(option)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(word in done.stdout for word in ("make test", "make check", "nursery"))


@pytest.mark.parametrize("arguments", [("--fast",), ("tests",), ("",), ("tests", "--help")])
def test_an_unknown_argument_is_one_line_and_starts_nothing(arguments: tuple[str, ...]) -> None:
    done = ci(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1 and f"unknown argument '{arguments[0]}'" in done.stderr
