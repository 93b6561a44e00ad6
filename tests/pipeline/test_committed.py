"""Metrics beside the committed ones: what differs, by how much, and whether another machine explains it."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from espalier.io.files import write_json
from pipeline.commands.repro import _summary
from pipeline.records.committed import ABSOLUTE, COUNTED, FRACTIONS, OTHERS, RELATIVE, SMALL, Difference, differences

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A profile in a repository, with two committed metric files."""
    profile = tmp_path / "profiles/mine"
    write_json(profile / "metrics/parsers/zh.json", {"uas": 90.0, "las": 80.0, "tags": 95.0})
    write_json(profile / "metrics/guig/tg.json", {"bleu": 2.0})
    for command in (["init", "-q"], ["add", "-A"],
                    ["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "all"]):  # fmt: skip
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return profile


def test_every_number_that_differs_is_named_with_its_verdict(folder: Path) -> None:
    assert differences(folder) == []
    write_json(folder / "metrics/parsers/zh.json", {"uas": 86.0, "las": 71.0, "tags": 95.0})
    write_json(folder / "metrics/guig/new.json", {"bleu": 1.0})  # a run of the user's own
    assert list(map(str, differences(folder) or [])) == [
        "metrics/parsers/zh.json: uas 86, committed 90 (-4), within the tolerance of another machine",
        "metrics/parsers/zh.json: las 71, committed 80 (-9), more than the tolerance of another machine",
    ]


def test_a_number_that_is_gone_or_new_is_never_tolerated(folder: Path) -> None:
    write_json(folder / "metrics/guig/tg.json", {"meteor": 1.0})
    (folder / "metrics/parsers/zh.json").unlink()
    found = differences(folder) or []
    assert [(each.key, each.value, each.committed) for each in found] == [
        ("bleu", None, 2.0), ("meteor", 1.0, None), ("uas", None, 90.0), ("las", None, 80.0), ("tags", None, 95.0),
    ]  # fmt: skip
    assert not any(each.tolerable for each in found)


@pytest.mark.parametrize(
    ("key", "value", "committed", "tolerable"),
    [
        ("bleu", 88.0, 80, True),
        ("bleu", 88.1, 80, False),
        ("bleu", 72.0, 80, True),
        ("copied", 3.0, 2, True),
        ("copied", 3.01, 2, False),
        ("copied", 1.25, 0.5, True),
        ("own", 0.1, 0, True),
        ("own", 0.0, 0.34, False),
        ("ppl", 2.19, 2, True),
        ("ppl_tok", 2.3, 2, False),
    ],
)
def test_the_larger_bound_holds_and_of_perplexities_the_fraction(
    key: str, value: float, committed: float, tolerable: bool
) -> None:
    assert Difference("f", key, value, committed).tolerable is tolerable


def test_no_committed_number_of_a_score_from_0_to_1_is_above_1_and_each_other_score_exceeds_1_somewhere() -> None:
    largest: dict[str, float] = {}
    for path in [*ROOT.glob("metrics/**/*.json"), *ROOT.glob("profiles/small/metrics/**/*.json")]:
        if not any(f"/{folder}" in path.as_posix() for folder in (*COUNTED, *OTHERS)):
            for key, value in json.loads(path.read_text(encoding="utf-8")).items():
                largest[key] = max(largest.get(key, 0.0), value)
    assert {key for key, value in largest.items() if value <= 1} == set(FRACTIONS)


def test_outside_a_repository_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert differences(tmp_path) is None
    monkeypatch.chdir(tmp_path)
    assert list(_summary(["train@a", "train@b", "score@a"], 61.2)) == ["stages 3, in 61 s: models 2, scored runs 1"]


def test_a_run_ends_with_what_was_made_the_metrics_and_the_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "reports/guig").mkdir(parents=True)
    (folder / "reports/guig/index.html").touch()
    made, metrics, page = _summary(["report@guig"], 5)
    assert (made, metrics) == ("stages 1, in 5 s: reports 1", "metrics that differ from the committed ones: none")
    assert page == f"reports: {folder / 'reports/guig/index.html'}"
    write_json(folder / "metrics/guig/tg.json", {"bleu": 2.5})
    write_json(folder / "metrics/parsers/zh.json", {"uas": 90.0, "las": 50.0, "tags": 95.0})
    (folder / "reports/index.html").touch()
    _, beyond, within, metrics, page = _summary(["report@guig"], 5)
    assert beyond.startswith("metrics/parsers/zh.json: las 50, committed 80 (-30), more than")
    assert within.startswith("metrics/guig/tg.json: bleu 2.5, committed 2 (+0.5), within")
    assert metrics == "metrics that differ from the committed ones: 2; by more than the tolerance: 1"
    assert page == f"reports: {folder / 'reports/index.html'}"


def test_the_page_states_the_tolerance() -> None:
    text = " ".join((ROOT / "docs/faults.md").read_text(encoding="utf-8").split())
    [stated] = re.findall(r"by at most (\d+) percent, or by at most ([\d.]+) \(([\d.]+) for", text)
    percent, *points = map(float, stated)
    assert (percent / 100, *points) == (RELATIVE, ABSOLUTE, SMALL)
