"""espalier plan: the stages that would run, what is known of their hours and bytes, and the sources."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from espalier.corpora.catalogue import Source
from pipeline.commands.plan import Planned, page_of, seeds_apart
from pipeline.records.stage_times import makespan

Cli = Callable[..., Any]
Edit = Callable[..., None]

FILE = {"name": "a", "urls": [], "sha256": "0" * 64, "bytes": 1_500_000, "mirror": "a"}
SOURCE = Source.model_validate({"title": "A", "licence": "CC BY", "citation": "-", "files": [FILE]})


def planned(project: Path, cli: Cli, *command: str) -> Any:
    answer = cli(project, "plan", *command, "--json")
    assert answer.status == 0, answer.err
    return json.loads(answer.out)


def test_the_page_sums_what_is_known_and_marks_what_is_not() -> None:
    stages = [
        Planned("download", "a", None, "", 1_500_000_000),
        Planned("train", "x", 1.5, "rehearsal", None),
        Planned("train", "y", None, "", None),
        Planned("decode", "r", 0.25, "earlier run", 500_000_000),
    ]
    lines = page_of("small", stages, {"a": SOURCE}, 7_250_000_000).splitlines()
    assert lines[0] == "small: 4 stages to run"
    cells = {line.split()[0]: line.split()[1:] for line in lines[2:6]}
    assert cells == {
        "download": ["1", "?", "1.50"], "train": ["2", "1.50+", "?"], "decode": ["1", "0.25", "0.50"],
        "all": ["4", "1.75+", "2.00+"],
    }  # fmt: skip
    assert lines[6].startswith("7.2 GB of disk are free")
    assert lines[7] == "No hours are known of 1 (train@y): espalier rehearse small estimates them."
    assert lines[-1].split() == ["a", "1.5", "MB", "CC", "BY"]


def test_with_many_at_once_the_seeds_of_a_model_are_trained_apart() -> None:
    needs = {"parse@c": set[str](), "train@x": {"parse@c"}, "train@y": {"parse@c"}, "decode@x": {"train@x"}}
    hours = {"parse@c": 1.0, "train@x": 6.0, "train@y": 1.0, "decode@x": 0.5}
    # One: all of it. Two: two seeds of x, then the third beside y, then the texts. Four: one seed's two hours.
    parts, lasts = seeds_apart(needs, hours, {"train@x": 3, "train@y": 1})
    assert [makespan(parts, jobs, lasts.__getitem__) for jobs in (1, 2, 4)] == [8.5, 5.5, 3.5]


def test_the_hours_of_many_at_once_are_on_the_page_and_in_json(project: Path, cli: Cli, edit: Edit) -> None:
    edit(project / "params.yaml", "models.songnet_no_s.training", {"steps": 22})
    answer = cli(project, "plan", "nursery", "train@songnet_no_s", "--jobs", "1", "--jobs", "2", "--json")
    found = json.loads(answer.out)
    assert [*found["at_once"]] == ["1", "2"] and found["at_once"]["1"] == found["stages"][0]["hours"]
    page = cli(project, "plan", "nursery", "train@songnet_no_s", "--jobs", "2").out
    assert "\n2 at once, each on a machine like this one: " in page


def test_a_built_profile_has_nothing_to_run(shared: Path, cli: Cli) -> None:
    assert cli(shared, "plan", "nursery").out == "nursery: nothing to run\n"


def test_an_edit_plans_its_own_stages_with_the_hours_of_earlier_runs_or_of_a_rehearsal(
    project: Path, cli: Cli, edit: Edit
) -> None:
    edit(project / "params.yaml", "models.songnet_no_s.training", {"steps": 21})
    (project / "metrics/measured/repro/stages.json").unlink()
    (project / "metrics/measured/train/songnet_no_s.json").write_text(json.dumps({"seconds": 7200}), encoding="utf-8")
    (project / ".scratch").mkdir(exist_ok=True)
    hours = {"train@songnet_no_s": 9.0, "decode@songnet_no_s": 0.5}
    (project / ".scratch/rehearsal.json").write_text(json.dumps(hours), encoding="utf-8")
    (project / "metrics/measured/decode/songnet_no_s.json").unlink(missing_ok=True)
    found = {f"{each['stage']}@{each['key']}": each for each in planned(project, cli, "nursery")["stages"]}
    expected = {"train@songnet_no_s", "decode@songnet_no_s", "score@songnet_no_s"}
    assert {name for name in found if not name.startswith(("report", "site"))} == expected and "report@songnet" in found
    assert (found["train@songnet_no_s"]["hours"], found["train@songnet_no_s"]["source"]) == (2.0, "earlier run")
    assert (found["decode@songnet_no_s"]["hours"], found["decode@songnet_no_s"]["source"]) == (0.5, "rehearsal")
    lock = yaml.safe_load((project / "dvc.lock").read_text(encoding="utf-8"))["stages"]["train@songnet_no_s"]
    assert found["train@songnet_no_s"]["bytes"] == sum(out["size"] for out in lock["outs"])


def test_a_profile_that_nobody_ran_names_its_sources_and_targets_narrow_it(project: Path, cli: Cli) -> None:
    whole = planned(project, cli, "small")
    assert whole["sources"]["madeup"]["licence"] == "none needed" and whole["sources"]["madeup"]["bytes"] > 100
    one = planned(project, cli, "small", "parse@ci")
    assert [each["stage"] for each in one["stages"]] == ["download", "parse"] and len(whole["stages"]) > 2
    assert not (project / "profiles/small/dvc.lock").exists()


def test_an_unknown_stage_is_one_line(shared: Path, refused: Callable[..., str]) -> None:
    assert "moon" in refused(shared, "plan", "nursery", "train@moon")


@pytest.mark.parametrize("damage", ["[1]", "{"])
def test_a_damaged_rehearsal_is_named(project: Path, refused: Callable[..., str], edit: Edit, damage: str) -> None:
    edit(project / "params.yaml", "models.songnet_no_s.training", {"steps": 22})
    (project / ".scratch").mkdir(exist_ok=True)
    (project / ".scratch/rehearsal.json").write_text(damage, encoding="utf-8")
    assert "rehearsal.json: " in refused(project, "plan", "nursery")
