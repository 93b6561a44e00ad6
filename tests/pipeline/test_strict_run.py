"""A run with candidates: scoring reads the texts that are taken, and the report shows those."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from espalier.io.tables import write_table
from pipeline import layout
from pipeline.stages.report import _written
from pipeline.stages.score import read_outputs

GUIDE = "(S (NP (NN)) (VP (VB)))"
RUN: Any = SimpleNamespace(
    paper="guig", task="paraphrase", title="strict", dataset="said", seed=1, annotation="kept", lexicon="none"
)
PARAMS: Any = SimpleNamespace(
    datasets=SimpleNamespace(every={"said": SimpleNamespace(corpus="said", encoding="pairs")}),
    corpora={"said": SimpleNamespace(language="en", reader="paraphrase_en")},
    language_of=lambda dataset: "en",
)


def test_scoring_and_the_report_have_the_candidates_that_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [("a", 0, -1.0, "now", "(S (ADVP (RB now)))"), ("a", 1, -2.0, "rain falls", "(S (NP (NN r)) (VP (VB f)))"),
            ("b", 0, -1.0, "ah", "(INTJ (UH ah))"), ("b", 1, float("nan"), "", "")]  # fmt: skip
    table = pd.DataFrame(rows, columns=["id", "sample", "ranking", "text", "target_tree"])
    table = table.assign(cluster=table["id"], seed=1, guide=GUIDE)
    write_table(layout.output("guig", "strict"), table.drop(columns="target_tree"), {"writes": "text", "unfit": "0"})
    write_table(layout.annotation("kept"), table[["id", "seed", "sample", "target_tree"]].assign(reason=""))
    outputs = read_outputs("strict", RUN, PARAMS)
    assert outputs.table["text"].tolist() == ["rain falls", "ah"]
    assert outputs.parses()["target_tree"].tolist() == [rows[1][-1], rows[2][-1]]
    segments = outputs.table[["id", "cluster", "seed", "sample"]].assign(**{"template.0": [1.0, 0.0]})
    write_table(layout.segments("guig", "strict"), segments)
    assert _written("strict", RUN, PARAMS).outputs["text"].tolist() == ["rain falls", "ah"]
