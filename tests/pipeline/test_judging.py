"""`espalier judge` on a built project: the walk of docs/judging.md, the metric, the report, and what is refused."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from espalier.io.files import read_json, write_json
from espalier.io.tables import read_table, table_metadata, write_table
from espalier.judging.heds import LEFT_OUT
from espalier.judging.result import JudgedDetails
from pipeline.commands.judge_score import _write_heds
from pipeline.graph.written import record

Cli = Callable[..., Any]
POWER = "heds-sample_evaluators_design-sample-statistical_power-value"
PAGE = Path(__file__).parents[2] / "docs" / "judging.md"
#: The walk's protocol, runs and numbers, and those of the small project.
HERE = {
    "guig_tg": "songnet_free",
    "guig_se_tg": "songnet_no_s",
    "guig": "songnet",
    "cdnpg": "songnet",
    "--inputs 20": "--inputs 5",
}


def walk() -> list[list[str]]:
    """The commands of the page's walk, for the small project."""
    text = re.search(r"## A walk on simulated raters.*?```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    assert text is not None
    commands = text[1]
    for theirs, ours in HERE.items():
        commands = commands.replace(theirs, ours)
    return [shlex.split(line)[1:] for line in commands.splitlines()]


@pytest.fixture
def study(shared: Path, cli: Cli, tmp_path: Path) -> Path:
    """The folder of a sample, beside the files of its simulated raters."""
    answer = cli(shared, "judge", "sample", "songnet", "--out", str(tmp_path / "study"))
    assert answer.status == 0, answer.err
    key = str(tmp_path / "study/key/key.json")
    options = ["--quality", "songnet_free=1.5", "--careless", "rater_3", "--out", str(tmp_path / "ratings")]
    assert cli(shared, "judge", "simulate", "--key", key, *options).status == 0
    return tmp_path


def as_people(study: Path) -> list[str]:
    """The simulated files as if people had saved them: the only way to test what follows ratings."""
    files = sorted((study / "ratings").glob("*.json"))
    for file in files:
        file.write_text(json.dumps(json.loads(file.read_text()) | {"simulated": False}), encoding="utf-8")
    return [str(file) for file in files]


def test_the_walk_of_the_page_runs_and_keeps_no_simulated_rating(shared: Path, cli: Cli, tmp_path: Path) -> None:
    said = []
    for command in walk():
        answer = cli(shared, *command, where=tmp_path)
        assert answer.status == 0, (command, answer.err)
        said.append(answer.out + answer.err)
    drawn, simulated, scored, power, pilot, _, of_sets = said
    assert "5 inputs" in scored and "FAILED" in scored and "simulated raters: nothing is written" in scored
    assert scored.index("Without rater_3, who failed the checks") < scored.index("All raters (3)")
    assert "songnet_free over songnet_no_s, fluency" in scored and "format_micro_f1" in scored
    assert "marked as such" in simulated and "keep it from the raters" in drawn and "reach a power of 0.8" in power
    assert "a difference of 0.5 levels is found with a power of" in pilot and "the scores" in of_sets
    assert read_json(tmp_path / "pilot/key/heds.json")[POWER]["data"][""].endswith(" with 5 inputs")
    assert not (shared / "metrics/songnet/judged").exists()
    names = {path.relative_to(tmp_path / "study").as_posix() for path in (tmp_path / "study").rglob("*.*")}
    assert names == {
        *(f"for_raters/rater_{number}.{kind}" for number in (1, 2, 3) for kind in ("html", "csv")),
        "key/key.json", "key/heds.json", "potato/config.yaml", "potato/items.jsonl",
    }  # fmt: skip
    for file in (tmp_path / "study/for_raters").iterdir():  # titles of runs are words of the page, keys are not
        assert "songnet_free" not in file.read_text(encoding="utf-8-sig")


def test_ratings_are_a_metric_and_stand_in_the_report_until_the_run_is_decoded_anew(
    project: Path, cli: Cli, tmp_path: Path
) -> None:
    study = tmp_path / "study"
    cli(project, "judge", "sample", "songnet", "--out", str(study))
    key = str(study / "key/key.json")
    cli(project, "judge", "simulate", "--key", key, "--out", str(tmp_path / "ratings"))
    before = read_json(study / "key/heds.json") | {"heds-ethics-review_body": {"data": {"": "none"}, "control": {}}}
    write_json(study / "key/heds.json", before)
    answer = cli(project, "judge", "score", *as_people(tmp_path), "--key", key)
    assert answer.status == 0, answer.err
    numbers = read_json(project / "metrics/songnet/judged/songnet.json")
    assert 0 <= numbers["songnet_free.fluency"] <= 2
    details = read_json(project / "metrics/details/songnet/judged/songnet.json", JudgedDetails)
    score = details["systems"]["songnet_free"]["scores"]["judged_fluency"]
    assert score == pytest.approx(numbers["songnet_free.fluency"], abs=1e-4)
    after = read_json(study / "key/heds.json")
    assert after != before  # agreement is filled in, and what people filled in stays
    assert after["heds-ethics-review_body"] == before["heds-ethics-review_body"]
    assert cli(project, "report", "songnet").status == 0
    page = (project / "reports/songnet/index.html").read_text(encoding="utf-8")
    assert "Judged by people" in page and f"{score:.2f}" in page and "3 raters, sample" in page

    outputs = project / "data/outputs/songnet/songnet_free.parquet"
    table = read_table(outputs)
    table.loc[0, "text"] = "another"
    write_table(outputs, table, table_metadata(outputs))
    record("decode@songnet_free", [outputs.relative_to(project)], project)  # as if it was decoded
    again = cli(project, "judge", "score", *as_people(tmp_path), "--key", key)
    assert (again.status, again.out) == (1, "")
    assert again.err == (
        f"espalier: {key}: run songnet_free was decoded anew after the sample was drawn; its ratings are of other "
        "texts: restore the outputs (dvc checkout), or draw a new sample\n"
    )
    assert cli(project, "report", "songnet").status == 0
    page = (project / "reports/songnet/index.html").read_text(encoding="utf-8")
    assert "rated before the run was decoded anew" in page and "Decoded anew since, so not shown: songnet_free" in page


def test_without_ratings_the_report_says_so_and_score_prints_the_stand_ins(shared: Path, cli: Cli, study: Path) -> None:
    page = (shared / "reports/songnet/index.html").read_text(encoding="utf-8")
    assert "no ratings yet" in page and "Judged by people" not in page
    answer = cli(shared, "judge", "score", "--key", str(study / "study/key/key.json"))
    assert answer.status == 0 and "no ratings yet" in answer.out and "format_micro_f1" in answer.out
    answer = cli(shared, "judge", "score", "--key", str(study / "study/key/key.json"), "--json")
    found = json.loads(answer.out)
    assert found["kind"] == "waiting" and "format_micro_f1" in {line["metric"] for line in found["stand_ins"]}


def test_json_has_both_results(shared: Path, cli: Cli, study: Path) -> None:
    files = [str(file) for file in sorted((study / "ratings").glob("*.json"))]
    answer = cli(shared, "judge", "score", *files, "--key", str(study / "study/key/key.json"), "--json")
    details = json.loads(answer.out)
    assert list(details["panels"]) == ["all raters", "those who passed the checks"]
    assert [rater["failed"] for rater in details["raters"]] == [False, False, True]


def test_a_csv_that_a_rater_filled_in_is_scored_and_stands_beside_no_simulated_one(
    shared: Path, cli: Cli, study: Path
) -> None:
    file = study / "study/for_raters/rater_1.csv"
    table = pd.read_csv(file, dtype=str, keep_default_na=False)
    table["answer"] = "1"
    table.to_csv(study / "filled.csv", index=False)
    key = str(study / "study/key/key.json")
    answer = cli(shared, "judge", "score", str(study / "filled.csv"), str(study / "ratings/rater_2.json"), "--key", key)
    assert answer.status == 1 and answer.err.endswith("simulated, beside files of people; score them apart\n")


def test_what_cannot_be_is_one_line(shared: Path, cli: Cli, study: Path, tmp_path: Path) -> None:
    def fails(line: str, *command: str) -> None:
        answer = cli(shared, "judge", *command)
        assert (answer.status, answer.out) == (1, "")
        assert answer.err == f"espalier: {line}\n"

    folder, key = study / "study", study / "study/key/key.json"
    fails("unknown protocol 'sat'; allowed: songnet, songnet_sets", "sample", "sat")
    fails(f"{folder}: exists, and may have the key of ratings; name another folder with --out",
          "sample", "songnet", "--out", str(folder))  # fmt: skip
    fails("protocols.songnet.runs: unknown run 'songnet'; allowed: expanded, grown, songnet_free, songnet_no_s, "
          "written; see espalier list runs",
          "sample", "songnet", "--run", "songnet", "--out", str(tmp_path / "other"))  # fmt: skip
    fails("protocols.songnet.runs: run written is of paper guig; name runs of songnet",
          "sample", "songnet", "--run", "written", "--out", str(tmp_path / "other"))  # fmt: skip
    fails(f"{study / 'none.json'}: cannot be read (No such file or directory); name the key of the sample",
          "score", "--key", str(study / "none.json"))  # fmt: skip
    fails(f"{folder / 'key/heds.json'}: no key of a sample; espalier judge sample writes one as key/key.json",
          "score", "--key", str(folder / "key/heds.json"))  # fmt: skip
    fails("--quality: no level 'good'; NAME=LEVEL, as songnet_free=2.5",
          "simulate", "--key", str(key), "--out", str(tmp_path / "r"), "--quality", "songnet_free=good")  # fmt: skip
    fails("--careless: unknown rater 'eve'; allowed: rater_1, rater_2, rater_3",
          "simulate", "--key", str(key), "--out", str(tmp_path / "r"), "--careless", "eve")  # fmt: skip
    for none in ("0", "-1", "nan"):
        fails(f"--difference: no difference of {none} levels; a number above 0",
              "power", "songnet", "--difference", none)  # fmt: skip
        fails(f"--difference: no difference of {none} levels; a number above 0",
              "sample", "songnet", "--difference", none, "--out", str(tmp_path / "none"))  # fmt: skip
    fails("--sd: unknown name 'raters'; allowed: noise, texts",
          "power", "songnet_sets", "--difference", "0.5", "--sd", "raters=1")  # fmt: skip
    pilot = ("--key", str(key), "--pilot", str(study / "ratings/rater_1.json"))
    fails(f"{key}: a pilot of design scale, and protocol songnet_sets of design best_worst; name the pilot's "
          "protocol, or state the spread by --sd", "power", "songnet_sets", "--difference", "0.5", *pilot)  # fmt: skip
    fails("--key: a pilot has files and the key of their sample; give both or neither",
          "power", "songnet", "--difference", "0.5", "--key", str(key))  # fmt: skip
    value = json.loads(key.read_text(encoding="utf-8"))
    value["items"][0]["texts"] = ["changed"]
    (study / "changed.json").write_text(json.dumps(value), encoding="utf-8")
    fails(f"{study / 'changed.json'}: its items are not those of its sample; restore the key as it was written",
          "score", "--key", str(study / "changed.json"))  # fmt: skip
    value["profile"], value["items"] = "small", json.loads(key.read_text(encoding="utf-8"))["items"]
    (study / "small.json").write_text(json.dumps(value), encoding="utf-8")
    fails(f"{study / 'small.json'}: a sample of profile small, not nursery; --profile small",
          "score", "--key", str(study / "small.json"))  # fmt: skip


def test_a_result_of_nobody_is_refused(shared: Path, cli: Cli, study: Path) -> None:
    files = ["--key", str(study / "study/key/key.json"), str(study / "ratings/rater_3.json")]
    answer = cli(shared, "judge", "score", *files, "--leave-out")
    assert answer.status == 1 and answer.err.strip().endswith(
        "rater_3.json: no rater passed the attention checks; ask others, or score without --leave-out"
    )
    assert cli(shared, "judge", "score", *files).status == 0


def test_a_pilot_gives_the_spread(shared: Path, cli: Cli, study: Path) -> None:
    pilot = [part for number in (1, 2) for part in ("--pilot", str(study / f"ratings/rater_{number}.json"))]
    key = ("--key", str(study / "study/key/key.json"))
    answer = cli(shared, "judge", "power", "songnet", "--difference", "1", *pilot, *key, "--sd", "texts=0.25", "--json")
    assert answer.status == 0, answer.err
    found = json.loads(answer.out)
    assert found["spread"]["texts"] == 0.25 and found["spread"]["noise"] != 0.7 and found["needed"]["power"] >= 0.8


def test_the_datasheet_says_that_raters_are_left_out_by_the_last_result_alone(tmp_path: Path) -> None:
    write_json(tmp_path / "heds.json", {LEFT_OUT: {"data": {"": True}}, "ours": 1, "theirs": 2})
    _write_heds(tmp_path / "heds.json", {"ours": {}})
    assert read_json(tmp_path / "heds.json") == {"ours": {}, "theirs": 2}
