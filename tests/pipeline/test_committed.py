"""Metrics beside the committed ones: what differs, by how much, and whether another machine explains it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from espalier.io.files import read_json, write_json
from pipeline.commands.repro import _summary
from pipeline.records.committed import COUNTED, LEAST, OTHERS, RELATIVE, differences, rewritten, score_of

ROOT = Path(__file__).resolve().parents[2]
#: The committed metrics of a run.
NUMBERS = {"ppl": 2.0, "bleu4": 40.0, "copied": 1.0, "self": 100.0, "mine": 5.0}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A profile in a repository, with committed metrics of a parser, a run and a corpus, and with their details."""
    profile = tmp_path / "profiles/mine"
    write_json(profile / "metrics/parsers/zh.json", {"uas": 90.0, "las": 80.0, "tags": 95.0})
    details = {"scores": {"uas": 90.0, "las": 80.0, "tag_accuracy": 95.0},
               "intervals": {"uas": [88.0, 92.0], "las": [77.0, 83.0], "tag_accuracy": [94.0, 96.0]}}  # fmt: skip
    write_json(profile / "metrics/details/parsers/zh.json", details)
    scores = {"perplexity": 2.0, "paper_bleu_4": 40.0, "copied": 1.0, "paper_self_bleu": 100.0, "mine": 5.0}
    intervals = [[1.0, 3.0], [37.0, 43.0], [0.08, 4.08], [100.0, 100.0], None]
    details = {"scores": scores, "intervals": dict(zip(scores, intervals, strict=True))}
    write_json(profile / "metrics/cdnpg/tr.json", NUMBERS)
    write_json(profile / "metrics/details/cdnpg/tr.json", details)
    write_json(profile / "metrics/corpora/zh.json", {"train": 3000})
    for command in (["init", "-q"], ["add", "-A"],
                    ["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "all"]):  # fmt: skip
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return profile


def test_every_number_that_differs_is_named_with_its_verdict(folder: Path) -> None:
    assert differences(folder) == []
    write_json(folder / "metrics/parsers/zh.json", {"uas": 86.0, "las": 73.0, "tags": 95.0})
    write_json(folder / "metrics/guig/new.json", {"bleu": 1.0})  # a run of the user's own
    assert list(map(str, differences(folder) or [])) == [
        "metrics/parsers/zh.json: uas 86, committed 90 (-4), within the tolerance of another machine",
        "metrics/parsers/zh.json: las 73, committed 80 (-7), more than the tolerance of another machine",
    ]


def test_a_number_that_is_gone_or_new_is_never_tolerated(folder: Path) -> None:
    kept = {key: value for key, value in NUMBERS.items() if key != "mine"}
    write_json(folder / "metrics/cdnpg/tr.json", {**kept, "meteor": 1.0})
    (folder / "metrics/parsers/zh.json").unlink()
    found = differences(folder) or []
    assert [(each.key, each.value, each.committed) for each in found] == [
        ("mine", None, 5.0), ("meteor", 1.0, None), ("uas", None, 90.0), ("las", None, 80.0), ("tags", None, 95.0),
    ]  # fmt: skip
    assert not any(each.tolerable for each in found)


@pytest.mark.parametrize(
    ("key", "value", "tolerable"),
    [
        ("copied", 2.25, True),  # of 400 texts: 9 instead of 4
        ("copied", 5.25, False),
        ("bleu4", 46.0, True),
        ("bleu4", 46.1, False),
        ("ppl", 2.19, True),
        ("ppl", 2.21, False),
        ("self", 98.1, True),  # at 100 %, where the interval is a point
        ("self", 97.9, False),
        ("mine", 4.51, True),
        ("mine", 4.49, False),
    ],
)
def test_a_score_may_differ_by_the_width_of_its_interval_or_two_hundredths_one_without_an_interval_by_a_tenth(
    folder: Path, key: str, value: float, tolerable: bool
) -> None:
    write_json(folder / "metrics/cdnpg/tr.json", {**NUMBERS, key: value})
    [found] = differences(folder) or []
    assert (found.key, found.tolerable) == (key, tolerable)


def test_a_count_of_a_corpus_does_not_depend_on_the_machine(folder: Path) -> None:
    write_json(folder / "metrics/corpora/zh.json", {"train": 3001})
    [found] = differences(folder) or []
    assert not found.tolerable


def test_every_committed_metric_is_the_score_of_the_details_that_its_short_name_stands_for() -> None:
    for profile in (ROOT, ROOT / "profiles/small"):
        for path in (profile / "metrics").rglob("*.json"):
            name = path.relative_to(profile)
            if not name.as_posix().startswith((*COUNTED, *OTHERS)):
                details = read_json(profile / "metrics/details" / name.relative_to("metrics"))
                scores = details.get("scores", {})  # a parser that is not trained here has none
                for key, value in read_json(path).items():
                    assert value == pytest.approx(scores[score_of(key, scores)], 1e-4, 1e-4), name


def test_outside_a_repository_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert differences(tmp_path) is None
    monkeypatch.chdir(tmp_path)
    assert list(_summary(["train@a", "train@b", "score@a"], 61.2)) == ["stages 3, in 61 s: models 2, scored runs 1"]


def test_a_run_ends_with_what_was_made_the_metrics_the_page_and_what_to_do_with_changed_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    (folder / "reports/guig").mkdir(parents=True)
    (folder / "reports/guig/index.html").touch()
    made, metrics, page = _summary(["report@guig"], 5)
    assert (made, metrics) == ("stages 1, in 5 s: reports 1", "metrics that differ from the committed ones: none")
    assert page == f"reports: {folder / 'reports/guig/index.html'}"
    write_json(folder / "metrics/cdnpg/tr.json", {**NUMBERS, "bleu4": 40.5})
    write_json(folder / "metrics/parsers/zh.json", {"uas": 90.0, "las": 50.0, "tags": 95.0})
    (folder / "reports/index.html").touch()
    _, beyond, within, metrics, page, last = _summary(["report@guig"], 5)
    assert beyond.startswith("metrics/parsers/zh.json: las 50, committed 80 (-30), more than")
    assert within.startswith("metrics/cdnpg/tr.json: bleu4 40.5, committed 40 (+0.5), within")
    assert metrics == "metrics that differ from the committed ones: 2; by more than the tolerance: 1"
    assert page == f"reports: {folder / 'reports/index.html'}"
    assert last == (
        "files changed in git: 2; to compare later runs with this one: git commit -m base :/profiles/mine/metrics; "
        "to drop the changes: git restore :/profiles/mine/metrics"
    )


def test_the_names_of_changed_files_serve_in_any_folder_of_the_repository(folder: Path) -> None:
    write_json(folder / "metrics/corpora/zh.json", {"train": 3001})
    write_json(folder / "params.yaml", {})
    (folder / "dvc.lock").write_text("stages: {}\n", encoding="utf-8")  # not in git
    count, names = rewritten(folder)
    assert (count, names) == (1, [":/profiles/mine/metrics"])
    subprocess.run(["git", "restore", *names], cwd=folder.parent, check=True)
    assert rewritten(folder) == (0, []) and differences(folder) == []


def test_the_page_states_the_tolerance() -> None:
    text = " ".join((ROOT / "docs/faults.md").read_text(encoding="utf-8").split())
    [stated] = re.findall(
        r"or by (\d+) percent if that is more\. .* without an interval, may differ by (\d+) percent", text
    )
    assert [int(percent) / 100 for percent in stated] == [LEAST, RELATIVE]
