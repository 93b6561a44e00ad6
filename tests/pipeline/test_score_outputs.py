"""`score RUN --outputs FILE`: texts of any origin are scored like the run's, without its model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from espalier.io.files import read_json

Cli = Callable[..., Any]
#: The text runs of the project, with metrics of which references have 100.
RUNS = [("songnet", "songnet_free", "format_macro_f1"), ("guig", "written", "bleu"), ("x2tree", "grown", "bleu")]


@pytest.fixture
def without_models(shared: Path) -> Path:
    shutil.rmtree(shared / "data/models", ignore_errors=True)
    return shared


def texts_of(project: Path, paper: str, run: str, column: str) -> pd.Series[str]:
    table = pd.read_parquet(project / f"data/outputs/{paper}/{run}.parquet").drop_duplicates("id").set_index("id")
    return table[column].str.replace("\n", "")


@pytest.mark.parametrize(("paper", "run", "metric"), RUNS)
def test_references_have_100_without_a_model_and_nothing_is_written(
    without_models: Path, cli: Cli, tmp_path: Path, paper: str, run: str, metric: str
) -> None:
    file = tmp_path / "texts.txt"
    references = texts_of(without_models, paper, run, "reference")[::-1]
    file.write_text("".join(f"{id_}\t{text}\n" for id_, text in references.items()), encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in (without_models / "metrics").rglob("*")}
    answer = cli(without_models, "score", run, "--outputs", str(file), "--json")
    assert answer.status == 0, answer.err
    details = json.loads(answer.out)
    assert details["scores"][metric] == 100 and details["counts"]["texts"] == len(references)
    assert {path: path.stat().st_mtime_ns for path in (without_models / "metrics").rglob("*")} == before


def test_a_run_s_own_texts_have_its_scores(without_models: Path, cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "texts.txt"
    file.write_text("\n".join(texts_of(without_models, "guig", "written", "text").sort_index()), encoding="utf-8")
    answer = cli(without_models, "score", "written", "--outputs", str(file))
    numbers = read_json(without_models / "metrics/guig/written.json")
    found = json.loads(answer.out)
    assert {"bleu", "ted", "rougeL"} <= {*found} and found == {name: numbers[name] for name in found}


@pytest.mark.parametrize(
    ("run", "text", "what"),
    [
        ("written", None, "--outputs: no file"),
        ("written", "a text\n", "1 lines for 6 rows, of ids such as paraphrase-"),
        ("written", "a text\nparaphrase-1\ta text\n", "texts.txt, row 2: no record 'paraphrase-1'; write ID<TAB>TEXT"),
        ("expanded", "", "run expanded: writes trees; name a run that writes texts"),
        ("nothing", "", "allowed: expanded, grown, songnet_free, songnet_no_s, written"),
    ],
)
def test_what_cannot_be_scored_is_one_line(
    without_models: Path, cli: Cli, tmp_path: Path, run: str, text: str | None, what: str
) -> None:
    file = tmp_path / "texts.txt"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    answer = cli(without_models, "score", run, "--outputs", str(file))
    assert answer.status == 1 and what in answer.err and answer.err.count("\n") == 1
