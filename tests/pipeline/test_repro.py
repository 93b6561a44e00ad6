"""`dvc repro` on a small project, from nothing to the report; and what an edit makes run again."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

STAGES = [
    "train_parser@words",
    "parse@tiny",
    "filter@tiny",
    "linearize@tiny",
    "train@songnet",
    "train@songnet_no_s",
    "decode@songnet_free",
    "decode@songnet_no_s",
    "annotate@again",
    "score@songnet_free",
    "score@songnet_no_s",
    "report@songnet",
    "parse@said",
    "filter@said",
    "linearize@said",
    "train@expander",
    "train@writer",
    "decode@expanded",
    "decode@written",
    "annotate@reread",
    "score@expanded",
    "score@written",
    "report@guig",
    "parse@talk",
    "filter@talk",
    "canonicalize@talk",
    "train@grower",
    "decode@grown",
    "score@grown",
]
Run = Callable[..., Any]
Edit = Callable[..., None]


def ran(output: str) -> list[str]:
    return re.findall(r"^Running stage '(.*)':$", output, re.M)


def json_of(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_an_empty_cache_runs_each_stage_once(built: Path) -> None:
    assert sorted(ran((built / "first.log").read_text(encoding="utf-8"))) == sorted(STAGES)


def test_the_counts_add_up_from_the_corpus_to_the_texts(built: Path) -> None:
    rows = json_of(built / "metrics/corpora/tiny.json")["rows"]
    assert rows["read"] == 60 == rows["train"] + rows["dev"] + rows["test"] + rows["quarantined"]
    ready = json_of(built / "metrics/datasets/tiny.json")["rows"]
    assert sum(ready.values()) == 60 - rows["quarantined"]
    for run, samples in (("songnet_free", 1), ("songnet_no_s", 2)):
        counts = json_of(built / f"metrics/songnet/{run}.json")["counts"]
        assert counts["poems"] == ready["test"] and counts["texts"] == ready["test"] * samples
        table = pd.read_parquet(built / f"outputs/songnet/{run}.parquet")
        assert len(table) == counts["texts"] and table["id"].nunique() == counts["poems"]


def test_what_an_expander_wrote_guides_the_text_and_keeps_its_template(built: Path) -> None:
    trees, texts = (pd.read_parquet(built / f"outputs/guig/{run}.parquet") for run in ("expanded", "written"))
    assert trees["tree"].tolist() == texts["guide"].tolist() and (texts["text"] != "").all()
    found = {run: json_of(built / f"metrics/guig/{run}.json") for run in ("expanded", "written")}
    assert found["expanded"]["scores"]["template_kept"] == 100 and found["expanded"]["counts"]["no tree"] == 0
    assert found["written"]["scores"]["ted_unparsed"] == 100
    segments = pd.read_parquet(built / "segments/guig/written.parquet")
    assert segments["id"].tolist() == texts["id"].tolist() and "ted.0" in segments


def test_every_run_has_the_same_keys_and_no_number_that_is_none(built: Path) -> None:
    found = [json_of(built / f"metrics/songnet/{run}.json") for run in ("songnet_free", "songnet_no_s")]
    assert list(found[0]) == list(found[1]) == ["scores", "intervals", "signatures", "undefined", "counts"]
    for part in ("scores", "intervals", "signatures"):
        assert list(found[0][part]) == list(found[1][part]) == list(found[0]["scores"])
    assert {
        "perplexity",
        "ppl_released",
        "format_macro_f1",
        "rhyme_macro_f1",
        "distinct_1_macro",
        "perplexity_dev",
    } <= {*found[0]["scores"]}
    for each in found:
        assert {name for name, value in each["scores"].items() if value is None} == set(each["undefined"])
    assert found[1]["scores"]["format_macro_f1"] == 100.0  # in frame, marks copied


def test_the_report_names_each_run(built: Path) -> None:
    page = (built / "reports/songnet/index.html").read_text(encoding="utf-8")
    assert "songnet_free" in page and "songnet_no_s" in page
    assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=[\"']https?:", page)  # nothing is fetched
    assert (built / "reports/songnet/tables.md").stat().st_size > 500


def test_no_stage_leaves_anything_half_written_or_a_checkpoint(built: Path) -> None:
    assert not list(built.rglob("*.part"))
    assert not list((built / ".scratch").rglob("*.safetensors"))
    assert (built / ".scratch/logs/songnet.seed1.jsonl").read_text(encoding="utf-8").count("\n") == 3


def test_git_sees_the_lock_and_the_metrics_and_no_artifact(built: Path, run: Run) -> None:
    answer = run(built, "git", "status", "--porcelain")
    names = {line[3:] for line in answer.out.splitlines()}
    assert names == {"dvc.lock", "metrics/", "first.log"}


def test_metrics_show_in_dvc(built: Path, run: Run) -> None:
    answer = run(built, "dvc", "metrics", "show", "--json", "metrics/songnet/songnet_free.json")
    (found,) = json.loads(answer.out)[""]["data"].values()
    assert found["data"]["counts"]["texts"] == 10


def test_a_second_repro_has_nothing_to_do_and_an_edit_runs_only_what_hangs_from_it(
    project: Path, run: Run, edit: Edit
) -> None:
    answer = run(project, "dvc", "repro")
    assert answer.status == 0 and ran(answer.out) == [] and "up to date" in answer.out
    run(project, "git", "add", "-A")
    run(project, "git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "built")

    edit(project / "params.yaml", "runs.songnet_free.decoder.top_k", 1)
    answer = run(project, "dvc", "repro")
    assert set(ran(answer.out)) == {
        "decode@songnet_free", "annotate@again", "score@songnet_free", *REPORTS,
    }, answer.err  # fmt: skip
    changed = run(project, "dvc", "metrics", "diff", "--json")
    assert list(json.loads(changed.out)) == ["metrics/songnet/songnet_free.json"]

    edit(project / "versions.yaml", "metrics.verse", 99)
    (project / "outputs/songnet/songnet_no_s.parquet").unlink()
    answer = run(project, "dvc", "repro")
    # The scores come out the same, so the report stands; the output comes back from the cache.
    assert ran(answer.out) == ["score@songnet_free", "score@songnet_no_s"], answer.err
    assert "Stage 'decode@songnet_no_s' is cached" in answer.out
    assert (project / "outputs/songnet/songnet_no_s.parquet").exists()

    # So does a model, its curve with it, without training again.
    shutil.rmtree(project / "models/songnet_no_s")
    (project / "curves/songnet/songnet_no_s.csv").unlink()
    answer = run(project, "dvc", "repro")
    assert "Stage 'train@songnet_no_s' is cached" in answer.out, answer.err
    assert (project / "models/songnet_no_s/seed1.safetensors").exists()


TRAININGS = {"train@songnet", "train@songnet_no_s", "train@expander", "train@writer", "train@grower"}
EDITS: list[tuple[str, Any, set[str]]] = [
    ("corpora.tiny.options.count", 61, {"parse@tiny"}),
    ("corpora.tiny.filters.min_units", 3, {"filter@tiny"}),
    ("corpora.tiny.split.seed", 2, {"filter@tiny"}),
    ("datasets.linearize.tiny.max_tokens", 199, {"linearize@tiny"}),
    ("models.songnet_no_s.training.steps", 21, {"train@songnet_no_s"}),
    ("models.songnet_no_s.network.width", 34, {"train@songnet_no_s"}),
    ("models.songnet_no_s.seeds", [1, 2], {"train@songnet_no_s"}),
    ("models.songnet_no_s.title", "Another", set()),
    ("models.songnet_no_s.default_for", ["generate.en"], set()),
    ("runs.songnet_free.split", "dev", {"decode@songnet_free"}),
    ("runs.songnet_free.seed", 2, {"decode@songnet_free", "score@songnet_free"}),
    ("runs.songnet_free.rules", "sonnet", {"score@songnet_free"}),
    ("versions.layers", 9, TRAININGS),
    ("versions.models.songnet", 9, {"train@songnet", "train@songnet_no_s"}),
    ("versions.models.guig", 9, {"train@expander", "train@writer"}),
    ("versions.training", 9, TRAININGS),
    ("versions.decoding.verse", 9, {"decode@songnet_free", "decode@songnet_no_s"}),
    ("versions.decoding.paraphrase", 9, {"decode@expanded", "decode@written"}),
    ("versions.corpora.verse", 9, {"linearize@tiny", "decode@songnet_free", "decode@songnet_no_s"}),
    ("versions.corpora.paraphrase", 9, {"linearize@said", "decode@expanded", "decode@written"}),
    ("versions.metrics.paraphrase", 9, {"score@expanded", "score@written"}),
    ("datasets.canonicalize.talk.words", 249, {"canonicalize@talk"}),
    ("models.grower.network.arity", 1, {"train@grower"}),
    ("runs.grown.decoder.beam", 4, {"decode@grown"}),
    ("versions.corpora.dialogue", 9, {"canonicalize@talk", "decode@grown"}),
    ("versions.models.x2tree", 9, {"train@grower"}),
    ("versions.decoding.dialogue", 9, {"decode@grown"}),
    ("versions.metrics.dialogue", 9, {"score@grown"}),
    ("versions.corpora.download", 9, set()),
    ("versions.readers.verse_zh", 9, {"parse@tiny"}),
    ("versions.readers.brown", 9, set()),
    ("versions.report", 9, {"report@songnet", "report@guig"}),
]


#: They name runs, models and corpora and how they are set, and follow every edit of params.yaml.
REPORTS = {"report@songnet", "report@guig"}


def test_an_edit_touches_its_stages_and_reports_alone(
    shared: Path, edit: Edit, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dvc.repo import Repo

    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(shared.parent / "dvc"))
    monkeypatch.chdir(shared)
    wrong = {}
    for key, value, expected in EDITS:
        of_versions = key.startswith("versions.")
        file = shared / ("versions.yaml" if of_versions else "params.yaml")
        before = file.read_bytes()
        edit(file, key.removeprefix("versions."), value)
        with Repo() as repo:
            status = repo.status(targets=["dvc.yaml"])
        file.write_bytes(before)
        found = {name for name, why in status.items() if any("changed deps" in part for part in why)}
        if found != (expected if of_versions else expected | REPORTS):
            wrong[key] = found
    assert not wrong


def test_a_profile_is_a_folder_with_the_same_stages(project: Path, run: Run) -> None:
    """From a mirror, through the reader of Song ci, to rows of ids; from the root."""
    answer = run(project, "dvc", "repro", "profiles/small/dvc.yaml", ESPALIER_MIRROR="mirror")
    assert answer.status == 0, answer.err
    assert [name.rpartition(":")[2] for name in ran(answer.out)] == [
        "download@madeup",
        "parse@ci",
        "filter@ci",
        "linearize@ci",
    ]
    small = project / "profiles/small"
    found = json_of(small / "metrics/corpora/ci.json")
    assert found["rows"] == {"read": 8, "train": 3, "dev": 1, "test": 1, "quarantined": 3}
    assert found["quarantined"]["duplicate"] == 1
    aside = pd.read_parquet(small / "data/corpora/ci/quarantine.parquet")
    assert sorted(aside["id"]) == ["songci/0/4", "songci/0/5", "songci/0/6"]
    again = run(small, "dvc", "repro", ESPALIER_MIRROR="")
    assert again.status == 0 and "up to date" in again.out, again.err
    assert "up to date" in run(project, "dvc", "repro").out  # the nursery beside it still stands
    assert not (project / "profiles/paper/dvc.lock").exists()
