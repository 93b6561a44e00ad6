"""The command line where standard streams are closed, full, unread or not UTF-8."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_params import empty, write

ROOT = Path(__file__).parents[2]
PROGRAM = f"{sys.executable} {ROOT / 'pipeline'}"


def shell(command: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    """A command line of bash; its standard output goes where it says."""
    return subprocess.run(
        ["bash", "-c", command], cwd=ROOT, env={**os.environ, **more}, capture_output=True, check=False, timeout=120
    )


@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        (f"{PROGRAM} --help >&-", 1, b"espalier: standard output: is closed; send it to a file, or to /dev/null\n"),
        (f"{PROGRAM} --help >/dev/full", 1, b"espalier: standard output: No space left on device\n"),
        (f"{PROGRAM} train nosuch >&- 2>&-", 1, b""),
        (f"{PROGRAM} nosuch 2>&-", 2, b""),
        (f"{PROGRAM} generate <&-", 1, b"espalier: nothing is asked for; give an argument, or --file, or standard "
                                       b"input: one format a line; after tabs its rhyme letters, tune, variant, tones "
                                       b"and acrostic\n"),
    ],
)  # fmt: skip
def test_a_stream_that_is_closed_or_full_is_one_line(command: str, status: int, message: bytes) -> None:
    done = shell(command)
    assert (done.returncode, done.stdout, done.stderr) == (status, b"", message)


def test_a_reader_that_goes_away_is_no_error_of_what_only_prints() -> None:
    done = shell(f"{PROGRAM} --help | head -c 0; echo ${{PIPESTATUS[0]}}")
    assert (done.stdout, done.stderr) == (b"0\n", b"")


def test_a_stage_whose_reader_goes_away_has_not_succeeded(
    tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    write(tmp_path, empty())
    monkeypatch.setattr("pipeline.stages.score.run", broken)
    monkeypatch.setattr("espalier.cli.streams.reader_is_gone", lambda: True)
    answer = cli(tmp_path, "score", "x")
    assert answer.status == 1 and answer.err == "espalier: file system: Broken pipe; nothing half-written was kept\n"
    for name in ("export", "release"):
        monkeypatch.setattr(f"pipeline.commands.{name}.{name}", broken)
        answer = cli(tmp_path, name, "x", *{"export": ["out"]}.get(name, []))
        assert answer.status == 1 and "nothing half-written was kept" in answer.err
    monkeypatch.setattr("pipeline.commands.verify.verify", broken)
    assert cli(tmp_path, "verify").status == 0


@pytest.mark.parametrize(
    "more",
    [{"PYTHONIOENCODING": "ascii"}, {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}],
)
def test_an_ascii_locale_prints_utf_8_or_says_what_to_set(more: dict[str, str]) -> None:
    done = shell(f"{PROGRAM} generate --tune 無此調 --format 5。 --model 無", LC_ALL="C", **more)
    assert done.returncode == 1 and done.stderr.count(b"\n") == 1
    if "PYTHONUTF8" in more:
        assert done.stderr == b"espalier: locale: the encoding ascii has no Chinese; set PYTHONUTF8=1\n"
    else:
        assert "unknown model '無'" in done.stderr.decode()


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["train", "\x1b[2J\u202e"], "unknown model '\\x1b[2J\\u202e'"),
        (["train", "a\nb"], "unknown model 'a b'"),
        (["train", "x", "\x1b]0;t\x07"], "(\\x1b]0;t\\x07)"),
        (["--\x9b1m"], "--\\x9b1m"),
        (["generate", "--file", "\x1b[31m"], "\\x1b[31m: no such file"),
        (["generate", "--format", "5。", "--model", "\udcff"], "argument \\udcff: not UTF-8"),
        (["train", "\udcff"], "argument \\udcff: not UTF-8"),
        (["generate", "--format", "5。", "--model", "x" * 10**6], "xxx ... xxx"),
    ],
)
def test_an_argument_cannot_command_the_terminal(
    tmp_path: Path, refused: Callable[..., str], command: list[str], shown: str
) -> None:
    write(tmp_path, empty())
    line = refused(tmp_path, *command)
    assert shown in line and line.isprintable() and len(line) < 5000


def test_a_warning_cannot_command_the_terminal(
    tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, empty())
    monkeypatch.setattr("pipeline.stages.score.run", lambda _: warnings.warn("\x1b[2J", UserWarning, stacklevel=1))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert cli(tmp_path, "score", "x").err == "espalier: warning: \\x1b[2J\n"


def test_an_interrupt_during_the_start_is_one_line(
    tmp_path: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> None:
        signal.raise_signal(signal.SIGINT)

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # the tests may ignore it
    monkeypatch.setattr("espalier.cli.app._add_stages", interrupted)
    try:
        assert refused(tmp_path, "generate", "--format", "2。") == "espalier: interrupted"
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # another one would cut the line
    finally:
        signal.signal(signal.SIGINT, handler)


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried")]
)
def test_memory_that_runs_out_is_one_line(
    tmp_path: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def run(_: str) -> None:
        raise error

    write(tmp_path, empty())
    monkeypatch.setattr("pipeline.stages.score.run", run)
    wanted = "espalier: not enough memory; a smaller beam, batch or model takes less"
    assert refused(tmp_path, "score", "x") == wanted


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["parse", "x", "--workers", "1025"], "1024"),
        (["repro", "--jobs", "65"], "64"),
        (["repro", "--jobs", "0"], "1"),
    ],
)
def test_processes_have_a_bound(tmp_path: Path, refused: Callable[..., str], command: list[str], message: str) -> None:
    write(tmp_path, empty())
    assert message in refused(tmp_path, *command)
