"""What users are told of errors that are no EspalierError."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from espalier.cli.failures import failure

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    ("error", "writes_files", "told"),
    [
        (FULL, False, "standard output: No space left on device"),
        (FULL, True, "file system: No space left on device; nothing half-written was kept"),
        (
            shutil.Error([("a", "b", "[Errno 28] No space left on device: 'b'")]),
            True,
            "cannot copy: [Errno 28] No space left on device: 'b'; nothing half-written was kept",
        ),
        (
            BrokenProcessPool("a process ended"),
            True,
            "a process was killed, perhaps for lack of memory; run again with fewer processes at once (-j)",
        ),
        (MemoryError(), False, "not enough memory; a smaller beam, batch or model takes less"),
        (KeyboardInterrupt(), False, "interrupted"),
        (ZeroDivisionError(), False, None),
    ],
)
def test_an_error_is_one_line_or_none_of_the_user_s(error: BaseException, writes_files: bool, told: str | None) -> None:
    assert failure(error, "export", writes_files=writes_files) == told


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["generate", "--nosuch"], "No such option: --nosuch; see espalier generate --help"),
        (["generate", "--format"], "Option '--format' requires an argument; see espalier generate --help"),
        (["list"], "Missing argument 'kind'; see espalier list --help"),
        (["nosuch"], "No such command 'nosuch'; see espalier --help"),
        (["--nosuch", "generate"], "No such option: --nosuch; see espalier --help"),
    ],
)
def test_a_mistaken_command_line_names_the_help_of_its_command(arguments: list[str], told: str) -> None:
    program = Path(__file__).resolve().parents[2] / "pipeline"
    done = subprocess.run([sys.executable, program, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"espalier: {told}\n")
