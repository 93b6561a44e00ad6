"""espalier rehearse: a small profile from its sources to its report, without network, mirror or DVC."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from small_params import PRESETS, baseline, corpus, dataset, empty, model, run as run_of, write  # noqa: I001

Run = Callable[..., Any]


@pytest.fixture
def verse(unbuilt: Path, pytestconfig: pytest.Config) -> Path:
    """A project whose profile small trains one model on Song ci."""
    tree = empty("small")
    tree["sources"]["published"] = {"songci": {"shelf": "ci"}}
    title = {
        "kind": "title", "seed": 1, "dev_titles": 50, "test_titles": 50, "dev_size": 847, "test_size": 962,
        "largest": 0.2,
    }  # fmt: skip
    tree["corpora"]["songci"] = corpus(
        "zh", "songci", shelf="ci", filters={"min_units": 2, "max_bad_fraction": 0.1}, split=title
    )
    tree["datasets"]["linearize"] = {"songci": dataset("verse", "songci", min_count=1)}
    tree["presets"] = {"songnet": {**PRESETS["songnet"], "training": {"steps": 20_000, "batch_tokens": 4096}}}
    tree["models"] = {"songnet": model("songnet", "songci", preset="songnet")}
    tree["runs"] = {"songnet_free": run_of("verse", "songnet", "songci", samples=5)}
    tree["baselines"] = {"songci": baseline("verse", "songci")}
    tree["reports"] = ["songnet"]
    write(unbuilt / "profiles/small", tree)
    shutil.copyfile(pytestconfig.rootpath / "pipeline/params/sources.yaml", unbuilt / "pipeline/params/sources.yaml")
    return unbuilt


def files_of(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if "__pycache__" not in path.parts}


def test_a_profile_without_its_sources_is_rehearsed_on_synthetic_rows(verse: Path, run: Run, tmp_path: Path) -> None:
    before, kept = files_of(verse), tmp_path / "kept"
    answer = run(verse, "python", "pipeline", "rehearse", "small", "--offline", "--folder", str(kept))
    assert answer.status == 0, answer.err
    hours = verse / "profiles/small/.scratch/rehearsal.json"  # what `espalier plan` reads
    assert files_of(verse) == {*before, hours.parent, hours}
    assert "download songci: " in answer.err and "(synthetic, for it is out of reach)" in answer.err
    assert "[8/8] report songnet: " in answer.err
    assert "Out of reach, so synthetic rows in their formats: songci." in answer.out
    for stage in ("train songnet", "decode songnet_free"):
        assert stage in answer.out
    assert "tokens/s" in answer.out and "hours in all" in answer.out
    assert (kept / "profiles/small/reports/songnet/index.html").exists()
    again = run(verse, "python", "pipeline", "rehearse", "small", "--offline", "--folder", str(kept))
    assert again.status == 1 and again.err == f"espalier: {kept}: is not empty; name a new folder\n"


def test_a_source_of_an_unknown_format_is_named_and_what_needs_it_is_not_run(unbuilt: Path, run: Run) -> None:
    answer = run(unbuilt, "python", "pipeline", "rehearse", "small", "--offline")
    assert answer.status == 1
    last = answer.err.splitlines()[-1]
    assert last.startswith("espalier: rehearse small: download madeup: ")
    assert "cannot be fetched: it has no public URL" in last
    assert last.endswith("; 3 more stages that need them were not run")
    assert "Traceback" not in answer.err


def test_of_a_training_that_memory_does_not_suffice_for_the_largest_batch_that_fits_is_named() -> None:
    from espalier.cli.failures import NO_MEMORY
    from pipeline.commands.rehearse import _reason
    from pipeline.graph.rehearsal.stages import Outcome

    failed = Outcome(("train", "songnet"), NO_MEMORY, asked=1024, fits=256)
    assert _reason(failed) == "not enough memory for batches of 1,024 tokens; the largest that fits is 256"
    failed = Outcome(("decode", "x2tree_nrm"), NO_MEMORY, asked=200, fits=0)
    assert _reason(failed) == "not enough memory for a beam of 200; no smaller one that was tried fits"
