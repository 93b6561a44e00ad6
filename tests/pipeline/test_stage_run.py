"""What holds of every stage while it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from espalier.io.errors import ArtifactError, ConfigError
from pipeline import layout
from pipeline.graph import stage_graph
from pipeline.graph.stage_run import TRAININGS, alone, fix_threads, require_one_process, run_alone
from pipeline.shell.app import STAGES
from pipeline.stages import train

sys.path.insert(0, str(Path(__file__).parent))
from small_params import empty, write

HOLD = """
import sys
from pipeline.graph.stage_run import alone
with alone("filter", "verse"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("stage", STAGES)
def test_only_trainings_compute_with_more_than_one_thread(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    for name in names:
        monkeypatch.setenv(name, "16")
    fix_threads(stage)
    assert {os.environ[name] for name in names} == {"16" if stage in TRAININGS else "1"}


def test_a_stage_that_runs_already_is_refused_and_other_keys_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        with alone("filter", "pairs"), alone("parse", "verse"):
            pass
        with (
            pytest.raises(ArtifactError, match=r"^filter verse: runs in another process; wait"),
            alone("filter", "verse"),
        ):
            pass
        monkeypatch.setenv("RANK", "1")  # another process of the same launch
        with pytest.raises(ArtifactError), alone("filter", "verse"):
            pass
        with alone("train", "songnet"), alone("train", "songnet"):  # which shares a training
            pass
        other.kill()  # and the lock is free
    monkeypatch.delenv("RANK")
    with alone("filter", "verse"):
        pass


def test_processes_of_a_launch_share_a_training_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "1")
    require_one_process("decode")
    monkeypatch.setenv("WORLD_SIZE", "4")
    require_one_process("train")
    with pytest.raises(ConfigError, match=r"^decode: 4 processes share a training alone; run it without a launcher$"):
        require_one_process("decode")


def test_the_training_of_one_seed_does_not_record_the_models_that_are_there_as_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, empty())
    monkeypatch.chdir(tmp_path)
    layout.LOCK.write_text("schema: '2.0'\nstages: {}\n", encoding="utf-8")
    Path("model").write_text("changed by hand", encoding="utf-8")
    model = stage_graph.Definition((), (), (Path("model"),))
    monkeypatch.setattr(stage_graph, "definitions", lambda: {("train", "any"): model})
    monkeypatch.setattr(train, "run", lambda key, seed=None: None)
    records = layout.scratch("written", "train@any.json")
    run_alone("train", "any", seed=1)
    assert not records.exists()
    run_alone("train", "any")
    assert "model" in records.read_text(encoding="utf-8")
