"""Estimates: hours and memory of the whole, from hand-computed numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.io.files import write_json
from pipeline import layout
from pipeline.graph.rehearsal.estimate import estimates, training_memory
from pipeline.graph.rehearsal.readers import counts_file
from pipeline.layout import PROFILES
from pipeline.params.read import load_params

PARAMS = load_params(PROFILES["paper"] / "params.yaml")


def measured(tokens: int, *, peak: int, before: int = 100, gpu: int | None = None) -> dict[str, object]:
    seeds = {"seed1": {"tokens": tokens, "steps": 3, "tokens_per_second": 1000.0}}
    return {"seeds": seeds, "memory_before": before, "peak_memory": peak, "peak_gpu_memory": gpu, "seconds": 9.0}


def test_memory_is_what_is_fixed_and_a_rest_that_grows_with_the_batch() -> None:
    # 10 parameters: 4 * 5 * 10 = 200, and 100 before: 300 is fixed; 60 more for 100 tokens a batch.
    assert training_memory(measured(300, peak=360), 10, 1000) == 300 + 60 * 10
    assert training_memory(measured(300, peak=360), 10, 50) == 360  # a batch was never smaller than it was
    assert training_memory(measured(300, peak=250), 10, 1000) == 300  # less than what is fixed: that is all
    assert training_memory(measured(300, peak=9999, gpu=260), 10, 200) == 200 + 60 * 2


def test_hours_of_a_training_a_decoding_and_a_parsing(tmp_path: Path) -> None:
    write_json(tmp_path / layout.measured("train", "guig_tg"), measured(600, peak=1000))
    write_json(tmp_path / layout.model("guig_tg") / "training.json", {"seed1": {"parameters": 10, "steps": 3}})
    decoding = {"records": 2, "seconds": 4.0, "peak_memory": 7, "peak_gpu_memory": None}
    runs = ("guig_tg", "x2tree", "songnet_free", "guig_released_tg", "cdnpg_rs")
    for run in runs:
        write_json(tmp_path / layout.measured("decode", run), decoding)
    write_json(tmp_path / layout.measured("parse", "guig"), {"sentences_per_second": 10.0})
    write_json(tmp_path / counts_file("guig"), {"rows": 36_000})
    write_json(tmp_path / counts_file("guig_released"), {"rows": 800, "parts": {"test": 790, "other": 10}})
    made = [("train", "guig_tg"), ("parse", "guig"), ("score", "guig_tg"), ("parse", "songci")]
    made += [("decode", run) for run in runs]
    found = {estimate.stage: estimate for estimate in estimates(PARAMS, tmp_path, made)}
    hours = {stage: estimate.hours for stage, estimate in found.items()}
    assert hours == {
        ("train", "guig_tg"): pytest.approx(3 * 36_000 * 20_480 / 1000 / 3600),
        ("parse", "guig"): pytest.approx(2 * 36_000 / 10 / 3600),
        ("decode", "guig_tg"): pytest.approx(800 * 3 * 2 / 3600),
        ("decode", "x2tree"): pytest.approx(300 * 3 * 2 / 3600),
        # All have three seeds, and this one five samples; the rehearsal draws one sample of one seed.
        ("decode", "songnet_free"): pytest.approx(962 * 3 * 5 * 2 / 3600),
        ("decode", "guig_released_tg"): pytest.approx(790 * 3 * 2 / 3600),
        ("decode", "cdnpg_rs"): None,  # its corpus, of a published split, was not read
    }
