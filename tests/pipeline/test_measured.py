"""What is known of a run: the same each time in its details, what was measured beside its model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from espalier.io.errors import ArtifactError
from espalier.io.files import write_json
from espalier.io.tables import table_sha256
from pipeline import layout
from pipeline.params.read import load_params
from pipeline.records.artifacts import read_measurement
from pipeline.records.trainings import measurement_of

Cli = Callable[..., Any]


def test_details_say_how_a_run_was_made_and_nothing_that_differs_each_time(shared: Path) -> None:
    settings = json.loads((shared / "metrics/details/songnet/songnet_free.json").read_text(encoding="utf-8"))[
        "settings"
    ]
    summary = json.loads((shared / "data/models/songnet/training.json").read_text(encoding="utf-8"))["seed1"]
    assert settings["data"] == table_sha256(shared / "data/ready/tiny/test.parquet")
    assert settings["decoder"]["length_power"] == 0.0  # a default, and the rule of lengths
    assert (settings["decoder"]["top_k"], settings["decoder"]["beam"]) == (8, 5)
    assert settings["precision"] == summary["precision"] in ("bf16", "fp32")  # its setting is "auto"
    assert settings["trained_on"] == summary["data"] == table_sha256(shared / "data/ready/tiny/train.parquet")
    (learned,) = settings["training"].values()
    assert learned["curve"]["step"] == [8, 16, 20]
    assert learned["curve"]["dev_loss"] == [line["dev_loss"] for line in summary["history"]]
    assert min(learned["curve"]["dev_loss"]) == learned["best_dev_loss"]
    assert learned["threads"] == 1
    assert not {"seconds", "hardware", "tokens_per_second"} & set(json.dumps(settings).replace('"', " ").split())


def test_what_a_training_and_a_decoding_took_stands_beside_them(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shared)
    value = json.loads((shared / "metrics/measured/train/songnet.json").read_text(encoding="utf-8"))
    assert value["threads"] == 1
    assert value["hardware"] and value["torch"]
    assert value["peak_memory"] > value["memory_before"] > 10_000_000
    seed = value["seeds"]["seed1"]
    assert seed["steps"] == 20
    assert seed["tokens_per_second"] == pytest.approx(seed["tokens"] / seed["seconds"], rel=0.05)
    assert json.loads((shared / "metrics/measured/decode/songnet_free.json").read_text(encoding="utf-8"))["texts"] == 10
    assert "1 thread, 0.00 h" in str(read_measurement("songnet"))


def test_reports_show_the_hours_but_those_of_the_nursery_which_keep_their_bytes(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shared)
    params = load_params()
    assert params.profile == "nursery"
    assert "1 thread, 0.00 h" not in (shared / "reports/songnet/index.html").read_text(encoding="utf-8")
    assert measurement_of("songnet", params) is None
    assert "1 thread, 0.00 h" in str(measurement_of("songnet", params.model_copy(update={"profile": "small"})))


def test_dvc_and_git_know_nothing_of_it(shared: Path) -> None:
    lock = (shared / "dvc.lock").read_text(encoding="utf-8")
    assert "data/models/songnet" in lock
    assert "measured" not in lock


def test_a_measurement_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_measurement("m") is None
    seeds = {f"seed{n}": {"seconds": 1800.0, "tokens_per_second": 1234.5, "precision": "bf16"} for n in (1, 2, 3)}
    write_json(layout.measured("train", "m"), {"hardware": "a GPU", "threads": 2, "seeds": seeds})
    found = read_measurement("m")
    assert str(found) == "a GPU, 2 threads, 1.50 h, 1,234 tokens/s, bf16"
    assert found is not None and found.machine == "a GPU, 2 threads, bf16"
    assert found.scores == {"hours": 0.5, "tokens_per_second": 1234.5}  # of one seed
    assert not found.on_gpu
    write_json(layout.measured("train", "m"), {"hardware": "", "threads": 2, "seeds": seeds, "peak_gpu_memory": 0})
    assert (on_gpu := read_measurement("m")) is not None and on_gpu.on_gpu
    write_json(layout.measured("train", "m"), {"hardware": "a GPU", "threads": 2, "seeds": {}})
    with pytest.raises(ArtifactError, match=r"m\.json: seeds"):
        read_measurement("m")
