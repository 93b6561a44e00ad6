"""Seeds side by side: the bits of each alone, and an end for all of them however one ends."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from espalier.io.errors import ArtifactError, EspalierError
from pipeline.graph.seeds import side_by_side
from pipeline.layout import ROOT

Cli = Callable[..., Any]
HERE = Path(__file__).parent


@pytest.fixture
def trainings(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(HERE))
    return importlib.import_module("seed_trainings")


def has_ended(process: int) -> bool:
    """Whether no process has this number, or only what is left of one."""
    state = Path(f"/proc/{process}/stat")
    for _ in range(600):
        try:
            os.kill(process, 0)
            if state.is_file() and state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_seeds_train_in_other_processes_and_their_last_steps_are_shown(trainings: Any, tmp_path: Path) -> None:
    shown: list[tuple[int, int, float, float]] = []
    side_by_side(trainings.write_seed, str(tmp_path), [1, 2], 2, lambda *step: shown.append(step))
    processes = {(tmp_path / str(seed)).read_text(encoding="utf-8") for seed in (1, 2)}
    assert str(os.getpid()) not in processes
    assert {(1, 2, 20.0, 0.25), (2, 2, 20.0, 0.25)} <= set(shown)


def test_what_one_seed_raises_is_its_line_and_the_others_stop(trainings: Any, tmp_path: Path) -> None:
    with pytest.raises(EspalierError, match=r"^the loss is no longer a number; lower the rate$"):
        side_by_side(trainings.refuse, str(tmp_path), [1, 2], 2, lambda *_: None)
    assert not (tmp_path / "1").exists() or has_ended(int((tmp_path / "1").read_text(encoding="utf-8")))


def test_a_killed_seed_is_one_line_and_the_others_stop(trainings: Any, tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="the process of a seed was killed; run it again"):
        side_by_side(trainings.die, str(tmp_path), [1, 2], 2, lambda *_: None)
    assert not (tmp_path / "1").exists() or has_ended(int((tmp_path / "1").read_text(encoding="utf-8")))


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGINT])
def test_no_seed_outlives_the_process_that_started_it(tmp_path: Path, blow: signal.Signals) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        "import signal, sys\n"
        f"sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'src')!r}, {str(HERE)!r}]\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from pipeline.graph.seeds import side_by_side\n"
        "from seed_trainings import go_on\n"
        "if __name__ == '__main__':\n"
        f"    side_by_side(go_on, {str(tmp_path)!r}, [1, 2], 2, lambda *_: None)\n",
        encoding="utf-8",
    )
    with subprocess.Popen([sys.executable, script], stderr=subprocess.DEVNULL) as parent:
        written = [tmp_path / "1", tmp_path / "2"]
        for _ in range(1200):
            if all(file.exists() and file.read_text(encoding="utf-8") for file in written):
                break
            time.sleep(0.05)
        parent.send_signal(blow)
        parent.wait(timeout=60)
    assert parent.returncode != 0
    assert all(has_ended(int(file.read_text(encoding="utf-8"))) for file in written)


def test_seeds_side_by_side_have_the_bits_of_each_alone(
    project: Path, cli: Cli, edit: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def trained(seeds: list[int], workers: int) -> dict[str, tuple[bytes, Any]]:
        edit(project / "params.yaml", "models.songnet.seeds", seeds)
        monkeypatch.setenv("ESPALIER_WORKERS", str(workers))
        assert cli(project, "train", "songnet").status == 0
        folder = project / "data/models/songnet"
        summary = json.loads((folder / "training.json").read_text(encoding="utf-8"))
        return {
            f"seed{seed}": ((folder / f"seed{seed}.safetensors").read_bytes(), summary[f"seed{seed}"]) for seed in seeds
        }

    together = trained([3, 12], 2)
    assert together == trained([3, 12], 1)
    assert together == trained([3], 1) | trained([12], 1)
    assert not list((project / ".scratch/train").rglob("*.safetensors"))
