"""A stage in a process of its own: how its end is read, and what it took."""

from __future__ import annotations

import os
import resource
import runpy
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing import forkserver
from pathlib import Path

import pytest

from pipeline.graph.rehearsal.process import run_stage
from pipeline.graph.rehearsal.stages import Outcome
from pipeline.layout import ROOT

Run = Callable[[str], Outcome]


@pytest.fixture(autouse=True, scope="module")
def own_server() -> None:
    """A server of this module: that of a test of readers has not imported these libraries."""
    forkserver._forkserver._stop()  # type: ignore[attr-defined]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs Python code in place of the command line."""

    def run_code(code: str) -> Outcome:
        script = tmp_path / "script.py"
        script.write_text(code, encoding="utf-8")
        return run_stage(("train", "m"), tmp_path, {"ESPALIER_WORKERS": "7"}, partial(runpy.run_path, str(script)))

    return run_code


def test_a_failure_is_the_last_line_that_a_stage_said(run: Run) -> None:
    outcome = run("import sys; print('warning', file=sys.stderr); sys.exit('espalier: no such thing')")
    assert (outcome.failure, outcome.out_of_memory) == ("no such thing", False)
    assert run("raise ValueError('a defect')").failure == "ValueError: a defect"


def test_a_stage_that_the_system_ends_ran_out_of_memory(run: Run) -> None:
    outcome = run("import os; os.kill(os.getpid(), 9)")
    assert outcome.out_of_memory and outcome.memory == 0


def test_a_stage_has_its_command_line_folder_and_environment_and_the_libraries(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    code = (
        "import os, pathlib, sys; print('not in the output of the rehearsal')\n"
        "seen = sys.argv[1:], os.environ['ESPALIER_WORKERS'], 'torch' in sys.modules, os.environ.get('LEFT')\n"
        "pathlib.Path('seen').write_text(repr(seen))"
    )
    monkeypatch.setenv("LEFT", "yes")
    assert run(code).failure is None
    assert (tmp_path / "seen").read_text(encoding="utf-8") == "(['train', 'm'], '7', True, 'yes')"
    monkeypatch.delenv("LEFT")  # the process that forks may have begun with it
    assert run(code).failure is None
    assert (tmp_path / "seen").read_text(encoding="utf-8") == "(['train', 'm'], '7', True, None)"
    assert capfd.readouterr() == ("", "")


def test_stages_that_start_at_once_leave_the_search_path_as_it_was(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """To start the server, its search path becomes a variable for a moment; no other thread may read it then."""
    ensure_running = forkserver.ensure_running

    def slowly() -> None:
        time.sleep(0.05)
        ensure_running()

    monkeypatch.setattr(forkserver, "ensure_running", slowly)
    monkeypatch.setenv("PYTHONPATH", "own")
    code = "import os, sys; sys.exit(os.environ['PYTHONPATH'])"
    with ThreadPoolExecutor(4) as pool:
        assert [each.failure for each in pool.map(run, [code] * 4)] == ["own"] * 4
    assert os.environ["PYTHONPATH"] == "own"


@pytest.mark.skipif(sys.platform == "darwin", reason="memory is counted differently")
def test_the_peak_memory_of_a_stage_is_its_own(run: Run) -> None:
    small, large = run("pass").memory, run("block = bytearray(b'1') * 400_000_000").memory
    assert 390_000_000 < large - small < 450_000_000
    assert large > 400_000_000
    # A process begins as a copy of the one that starts it.
    own = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert small < max(400_000_000, 1.1 * own)


@pytest.mark.parametrize("folder", ["profiles/small", "/"])  # the root: the test of the libraries above
def test_the_stages_are_imported_before_the_fork_in_whichever_folder_the_rehearsal_begins(folder: str) -> None:
    script = (
        "import sys; from functools import partial; from pathlib import Path\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "from pipeline.graph.rehearsal.process import run_stage\n"
        "main = partial(exec, \"import sys; sys.exit(not {'pipeline.stages.train', 'torch'} <= {*sys.modules})\")\n"
        "print(run_stage(('train', 'm'), Path.cwd(), {}, main).failure)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT / folder, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout == "None\n", done.stderr
