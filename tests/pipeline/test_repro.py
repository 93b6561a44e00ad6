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

from pipeline.graph.stage_graph import definitions, value_at
from pipeline.params.read import read_yaml

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
    "baselines@tiny",
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
    "baselines@said",
    "report@guig",
    "parse@talk",
    "filter@talk",
    "canonicalize@talk",
    "train@grower",
    "decode@grown",
    "score@grown",
    "site",
]
Run = Callable[..., Any]
Edit = Callable[..., None]


def ran(output: str) -> list[str]:
    return re.findall(r"^Running stage '(.*)':$", output, re.M)


def json_of(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_an_empty_cache_runs_each_stage_once(built: Path) -> None:
    log = (built / "first.log").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\[\d+/\d+\] (\S+), \d+ s", log, re.M)) == sorted(STAGES)


def test_the_counts_add_up_from_the_corpus_to_the_texts(built: Path) -> None:
    rows = json_of(built / "metrics/corpora/tiny.json")
    assert rows["read"] == 60 == rows["train"] + rows["dev"] + rows["test"] + rows["quarantined"]
    ready = json_of(built / "metrics/datasets/tiny.json")
    assert sum(ready[name] for name in ("train", "dev", "test", "quarantined")) == 60 - rows["quarantined"]
    for run, samples in (("songnet_free", 1), ("songnet_no_s", 2)):
        counts = json_of(built / f"metrics/details/songnet/{run}.json")["counts"]
        assert counts["records"] == ready["test"] and counts["texts"] == ready["test"] * samples
        table = pd.read_parquet(built / f"data/outputs/songnet/{run}.parquet")
        assert len(table) == counts["texts"] and table["id"].nunique() == counts["records"]


def test_what_an_expander_wrote_guides_the_text_and_keeps_its_template(built: Path) -> None:
    trees, texts = (pd.read_parquet(built / f"data/outputs/guig/{run}.parquet") for run in ("expanded", "written"))
    assert trees["tree"].tolist() == texts["guide"].tolist() and (texts["text"] != "").all()
    found = {run: json_of(built / f"metrics/details/guig/{run}.json") for run in ("expanded", "written")}
    assert found["expanded"]["scores"]["template_kept"] == 100 and found["expanded"]["counts"]["no tree"] == 0
    assert found["written"]["scores"]["ted_unparsed"] == 100
    segments = pd.read_parquet(built / "data/segments/guig/written.parquet")
    assert segments["id"].tolist() == texts["id"].tolist() and "ted.0" in segments


def test_every_run_has_the_same_keys_and_no_number_that_is_none(built: Path) -> None:
    runs = ("songnet_free", "songnet_no_s")
    numbers = [json_of(built / f"metrics/songnet/{run}.json") for run in runs]
    assert list(numbers[0]) == list(numbers[1])
    assert all(isinstance(value, int | float) for row in numbers for value in row.values())
    details = [json_of(built / f"metrics/details/songnet/{run}.json") for run in runs]
    assert list(details[0]) == list(details[1])
    for part in ("scores", "intervals", "signatures"):
        assert list(details[0][part]) == list(details[1][part]) == list(details[0]["scores"])
    assert {"perplexity", "format_macro_f1", "rhyme_macro_f1", "perplexity_dev"} <= {*details[0]["scores"]}
    assert details[1]["scores"]["format_macro_f1"] == 100.0  # in frame, marks copied


def test_scores_name_their_libraries_and_their_audit(built: Path) -> None:
    written, expanded = (json_of(built / f"metrics/details/guig/{run}.json") for run in ("written", "expanded"))
    assert "|sacrebleu:" in written["signatures"]["bleu"] and "|rouge-score:" in written["signatures"]["rouge_1"]
    assert written["scores"]["incomprehensible"] is not None and written["scores"]["length_ratio"] > 0
    audit = expanded["ted_audit"]
    assert audit["library"] == "apted" and audit["pairs"] > 0 and audit["differences"] == 0
    human = json_of(built / "metrics/details/guig/baselines/said/human.json")
    assert human["scores"]["bleu"] == human["scores"]["rouge_1"] == 100.0
    assert human["scores"]["length_ratio"] == human["scores"]["brevity_penalty"] == 1.0


def test_the_report_names_each_run(built: Path) -> None:
    page = (built / "reports/songnet/index.html").read_text(encoding="utf-8")
    assert "songnet_free" in page and "songnet_no_s" in page
    assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=[\"']https?:", page)  # nothing is fetched
    assert (built / "reports/songnet/tables.md").stat().st_size > 500
    orderings = json_of(built / "metrics/details/orderings/songnet.json")["orderings"]
    plain = next(one for one in orderings if one["worse"] == "songnet_no_c")
    assert (plain["verdict"], plain["why"]) == ("not computed", "not run: songnet_no_c")
    assert [measure["metric"] for measure in plain["measures"]] == ["format_macro_f1", "format_micro_f1"]


def test_no_stage_leaves_anything_half_written_or_a_checkpoint(built: Path) -> None:
    assert not list(built.rglob("*.part"))
    assert not list((built / ".scratch").rglob("*.safetensors"))
    assert (built / ".scratch/logs/songnet.seed1.jsonl").read_text(encoding="utf-8").count("\n") == 3


def test_git_sees_the_lock_and_the_metrics_and_no_artifact(shared: Path, run: Run) -> None:
    answer = run(shared, "git", "status", "--porcelain")
    names = {line[3:].split("/")[0] for line in answer.out.splitlines()}
    assert names == {"dvc.lock", "metrics", "first.log"}


def test_metrics_show_in_dvc(shared: Path, run: Run) -> None:
    answer = run(shared, "dvc", "metrics", "show", "--json", "metrics/songnet/songnet_free.json")
    (found,) = json.loads(answer.out)[""]["data"].values()
    assert found["data"] == json_of(shared / "metrics/songnet/songnet_free.json")


def test_a_second_repro_has_nothing_to_do_and_an_edit_runs_only_what_hangs_from_it(
    project: Path, run: Run, edit: Edit
) -> None:
    file = project / "params.yaml"
    file.write_text(f"# A comment.\n{file.read_text(encoding='utf-8')}", encoding="utf-8")
    answer = run(project, "dvc", "repro")
    assert answer.status == 0 and ran(answer.out) == [] and "up to date" in answer.out
    run(project, "git", "add", "-A")
    run(project, "git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "built")

    edit(file, "runs.songnet_free.decoder", {"top_k": 1})
    answer = run(project, "dvc", "repro")
    assert set(ran(answer.out)) == {
        "decode@songnet_free", "annotate@again", "score@songnet_free", *REPORTS, "site",
    }, answer.err  # fmt: skip
    changed = run(project, "dvc", "metrics", "diff", "--json")
    assert list(json.loads(changed.out)) == ["metrics/songnet/songnet_free.json"]

    edit(project / "pipeline/params/versions.yaml", "metrics.verse", 99)
    (project / "data/outputs/songnet/songnet_no_s.parquet").unlink()
    shutil.rmtree(project / "data/models/songnet_no_s")
    (project / "data/curves/songnet/songnet_no_s.csv").unlink()
    answer = run(project, "dvc", "repro")
    # The scores come out the same, so the report stands; output, model and curve come back from the cache.
    assert ran(answer.out) == ["score@songnet_free", "score@songnet_no_s", "baselines@tiny"], answer.err
    for stage, made in (
        ("decode", "outputs/songnet/songnet_no_s.parquet"),
        ("train", "curves/songnet/songnet_no_s.csv"),
        ("train", "models/songnet_no_s/seed1.safetensors"),
    ):
        assert f"Stage '{stage}@songnet_no_s' is cached" in answer.out and (project / "data" / made).exists()


TRAININGS = {"train@songnet", "train@songnet_no_s", "train@expander", "train@writer", "train@grower"}
EDITS: list[tuple[str, Any, set[str]]] = [
    ("corpora.tiny.options.count", 61, {"parse@tiny"}),
    ("corpora.tiny.filters.min_units", 3, {"filter@tiny"}),
    ("corpora.tiny.split.seed", 2, {"filter@tiny"}),
    ("datasets.linearize.tiny.max_tokens", 199, {"linearize@tiny"}),
    ("models.songnet_no_s.training", {"steps": 21}, {"train@songnet_no_s"}),
    ("models.songnet_no_s.network", {"symbols": ["c", "p"], "width": 34}, {"train@songnet_no_s"}),
    ("models.songnet_no_s.seeds", [1, 2], {"train@songnet_no_s"}),
    ("models.songnet_no_s.title", "Another", set()),
    ("models.songnet_no_s.default_for", ["generate.en"], set()),
    ("runs.songnet_free.split", "dev", {"decode@songnet_free"}),
    ("runs.songnet_free.seed", 2, {"decode@songnet_free", "score@songnet_free"}),
    ("runs.songnet_free.scoring", {"rules": "sonnet"}, {"score@songnet_free"}),
    ("presets.x2tree.network.width", 14, {"train@grower"}),
    ("presets.guig.training.steps", 21, {"train@expander", "train@writer"}),
    ("presets.guig.decoder.beam", 3, {"decode@expanded", "decode@written", "baselines@said"}),
    ("presets.songnet.scoring.rules", "sonnet", {"score@songnet_free", "score@songnet_no_s", "baselines@tiny"}),
    ("versions.models.guig.path_attention", 99, {"train@expander", "train@writer"}),
    ("versions.models.songnet", 99, {"train@songnet", "train@songnet_no_s"}),
    ("versions.models.guig", 99, {"train@expander", "train@writer"}),
    ("versions.training", 99, TRAININGS),
    ("versions.decoding.verse", 99, {"decode@songnet_free", "decode@songnet_no_s", "baselines@tiny"}),
    ("versions.decoding.paraphrase", 99, {"decode@expanded", "decode@written", "baselines@said"}),
    ("versions.baselines.verse", 99, {"baselines@tiny"}),
    ("versions.encodings.verse", 99, {"linearize@tiny"}),
    ("versions.encodings.pairs", 99, {"linearize@said"}),
    ("versions.annotation", 99, {"annotate@again", "annotate@reread", "baselines@tiny", "baselines@said"}),
    ("versions.metrics.paraphrase", 99, {"score@expanded", "score@written", "baselines@said"}),
    ("datasets.canonicalize.talk.words", 249, {"canonicalize@talk"}),
    ("models.grower.network", {"arity": 1}, {"train@grower"}),
    ("runs.grown.decoder", {"beam": 4}, {"decode@grown"}),
    ("versions.encodings.dialogue", 99, {"canonicalize@talk"}),
    ("versions.models.x2tree", 99, {"train@grower"}),
    ("versions.decoding.dialogue", 99, {"decode@grown"}),
    ("versions.metrics.dialogue", 99, {"score@grown"}),
    ("versions.corpora.download", 99, set()),
    ("versions.readers.verse_zh", 99, {"parse@tiny"}),
    ("versions.readers.brown", 99, set()),
    ("versions.report", 99, {"report@songnet", "report@guig", "site"}),
]


#: They show how runs, baselines and models are set; what a preset changes they see in the scores.
SHOWN = ("runs.", "baselines.", "models.")
REPORTS = {"report@songnet", "report@guig"}


def read_values() -> dict[str, Any]:
    """What each stage reads: its dependencies, and the values of its parameters (`test_stage_graph` asks DVC)."""
    stages = definitions()
    files = {file: read_yaml(file) for file in {file for stage in stages.values() for file, _ in stage.params}}
    return {
        "@".join(filter(None, name)): (stage.deps, [value_at(files[file], path) for file, path in stage.params])
        for name, stage in stages.items()
    }


def test_an_edit_touches_its_stages_and_reports_alone(
    shared: Path, edit: Edit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shared)
    whole, wrong = read_values(), {}
    for key, value, expected in EDITS:
        of_versions = key.startswith("versions.")
        file = shared / ("pipeline/params/versions.yaml" if of_versions else "params.yaml")
        before = file.read_bytes()
        edit(file, key.removeprefix("versions."), value)
        changed = read_values()
        file.write_bytes(before)
        found = {stage for stage in whole if whole[stage] != changed[stage]}
        if found != (expected | REPORTS if key.startswith(SHOWN) else expected):
            wrong[key] = found
    assert not wrong


def test_a_profile_is_a_project_of_its_own_with_the_same_stages(project: Path, run: Run) -> None:
    """From a mirror, through the reader of Song ci, to rows of ids."""
    small = project / "profiles/small"
    answer = run(project, "dvc", "--cd", "profiles/small", "repro", ESPALIER_MIRROR=str(project / "mirror"))
    assert answer.status == 0, answer.err
    assert ran(answer.out) == ["download@madeup", "parse@ci", "filter@ci", "linearize@ci", "site"]
    assert (small / "data/raw/ci/madeup/ci.song.0.json").exists()
    rows = json_of(small / "metrics/corpora/ci.json")
    assert {name: rows[name] for name in ("read", "train", "dev", "test", "quarantined")} == {
        "read": 8, "train": 3, "dev": 1, "test": 1, "quarantined": 3,
    }  # fmt: skip
    assert json_of(small / "metrics/details/corpora/ci.json")["quarantined"]["duplicate"] == 1
    quarantine = pd.read_parquet(small / "data/corpora/ci/quarantine.parquet")
    assert sorted(quarantine["id"]) == ["songci/0/4", "songci/0/5", "songci/0/6"]
    again = run(small, "dvc", "repro", ESPALIER_MIRROR="")
    assert again.status == 0 and "up to date" in again.out, again.err
    assert "up to date" in run(project, "dvc", "repro").out  # the nursery beside it still stands
    assert not (project / "profiles/paper/dvc.lock").exists()


def test_the_bytes_of_outputs_and_scores_do_not_depend_on_threads(project: Path, run: Run) -> None:
    files = [project / "data/outputs/guig/written.parquet", project / "metrics/details/guig/written.json"]
    before = [file.read_bytes() for file in files]
    for stage in ("decode", "score"):
        answer = run(project, "python", "pipeline", stage, "written", OMP_NUM_THREADS="3")
        assert answer.status == 0, answer.err
    assert [file.read_bytes() for file in files] == before


#: DVC's commands one after another in one process, with a line after what each says.
DVC = """
import sys
from dvc.cli import main
for command in sys.argv[1:]:
    main(command.split())
    for stream in (sys.stdout, sys.stderr):
        print("=" * 8, file=stream, flush=True)
"""


def answers(run: Run, folder: Path, *commands: str, **more: str) -> list[tuple[str, str]]:
    """What DVC says to each command, on both streams."""
    answer = run(folder, "python", "-c", DVC, *commands, COLUMNS="120", **more)
    assert answer.status == 0, answer.err
    *said, _ = zip(*(stream.split(f"{'=' * 8}\n") for stream in (answer.out, answer.err)), strict=True)
    assert len(said) == len(commands)
    return said


@pytest.mark.parametrize("folder", [".", "profiles/small", "profiles/paper"])
def test_a_profile_that_has_run_nothing_warns_of_nothing(shared: Path, run: Run, folder: str) -> None:
    commands = "metrics show metrics/songnet", "metrics diff", "params diff", "status -q", "pull --allow-missing"
    for out, err in answers(run, shared / folder, *commands):
        assert "DVC failed" not in err and "Traceback" not in err, err
        assert max(map(len, out.splitlines()), default=0) <= 120


def test_the_metrics_of_a_paper_fit_a_terminal_of_120_columns(
    pytestconfig: pytest.Config, run: Run, tmp_path: Path
) -> None:
    papers = [f"metrics show metrics/{paper}" for paper in ("songnet", "guig", "x2tree", "sat")]
    for out, err in answers(run, pytestconfig.rootpath, *papers, DVC_SITE_CACHE_DIR=str(tmp_path / "dvc")):
        assert "human.json" in out, err
        assert max(map(len, out.splitlines())) <= 120
