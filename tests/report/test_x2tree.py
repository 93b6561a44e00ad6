"""What X2Tree prints, and its whole report from files as the stages write them."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from espalier.datasets.dialogue.encode import DialogueSettings
from espalier.io.errors import ArtifactError
from espalier.io.files import read_json, write_json
from espalier.io.tables import write_table
from espalier.judging.result import PREFIX
from espalier.models.dialogue_config import RNNSeq2SeqConfig, X2TreeConfig
from espalier.report.build import build
from espalier.report.comparisons import comparisons_of
from espalier.report.printed import Printed
from espalier.report.results import RunResult
from espalier.tasks.data import Outputs
from espalier.tasks.dialogue_decoder import DialogueDecoder
from espalier.tasks.registry import TASKS
from espalier.tasks.settings import Scoring
from espalier.training.config import TrainingConfig
from pipeline import layout
from pipeline.params.read import load_params
from pipeline.records.baseline_rows import read_rows, rows_of_fewer
from pipeline.records.outputs import write_scores
from pipeline.stages.report import _dataset, _written
from pipeline.stages.report import run as report
from tests.metrics.keys import DIALOGUE

RUNS = ("x2tree_encdec", "x2tree_seq2seq", "x2tree_att", "x2tree_nrm", "x2tree")


# Copied by hand from the paper's Table 1: levels 1 to 3, kappa, BLEU.
@pytest.mark.parametrize(
    ("row", "values"),
    [
        ("EncDec", [0.44, 58.89, 40.67, 0.8114, 8.78]),
        ("Seq2Seq", [1.58, 50.73, 47.69, 0.7834, 12.45]),
        ("Att", [2.31, 45.31, 52.38, 0.8269, 13.89]),
        ("NRM", [0.64, 44.98, 54.38, 0.7809, 13.73]),
        ("X2Tree", [0.44, 34.02, 65.53, 0.7733, 15.87]),
    ],
)
def test_a_printed_number_of_x2tree_is_the_papers(x2tree: Printed, row: str, values: list[float]) -> None:
    table = x2tree.tables[0]
    found = next(entry for entry in table.rows if entry.label == row).printed
    assert [found[column].value for column in table.columns if column in found] == values


def test_the_levels_of_a_row_add_up_to_all_replies(x2tree: Printed) -> None:
    for row in x2tree.tables[0].rows:
        assert sum(row.printed[f"level_{level}"].value for level in (1, 2, 3)) == pytest.approx(100, abs=0.02)


def test_no_number_of_ours_stands_for_people(x2tree: Printed) -> None:
    for column in ("level_1", "level_2", "level_3", "agreement"):
        assert all(ours.metric.startswith(PREFIX) for ours in x2tree.columns[column].ours)


def test_every_metric_that_x2tree_reads_exists_and_none_is_forgotten(x2tree: Printed) -> None:
    corpora = {"train", "dev", "test", "words", "known posts", "known responses", "lifted", "uas"}
    columns = {reading.metric for column in x2tree.columns.values() for reading in column.ours}
    people = {name for name in columns if name.startswith(PREFIX)}  # test_judged.py
    assert columns - corpora - people <= set(DIALOGUE) <= columns


def test_every_claim_agrees_with_the_numbers_that_the_paper_prints(x2tree: Printed) -> None:
    gains = [measure.printed_gain for ordering in build(x2tree, []).orderings for measure in ordering.measures]
    known = [gain for gain in gains if gain is not None]
    assert len(known) == 7 and min(known) > 0


def test_claims_are_by_metrics_that_can_be_resampled(x2tree: Printed) -> None:
    metrics = {x2tree.columns[name].metric for ordering in x2tree.orderings for name in ordering.columns}
    assert not metrics & {"distinct_1", "distinct_2", "perplexity_per_word"}


def test_the_rows_runs_are_those_of_the_profiles(x2tree: Printed) -> None:
    params = load_params(layout.ROOT / "params.yaml")
    others = [load_params(layout.PROFILES[name] / "params.yaml") for name in ("small", "paper")]
    tabled = {ref.run for table in x2tree.tables if table.about == "runs" for row in table.rows for ref in row.runs}
    assert tabled == {key for each in others for key, run in each.runs.items() if run.paper == "x2tree"}
    assert set(RUNS) < tabled
    assert {key for key, run in params.runs.items() if run.paper == "x2tree"} <= set(RUNS)
    assert {key for each in x2tree.examples for key in each.written} == set(RUNS)


# --- The whole report ------------------------------------------------------------------------------------------------

CONTEXTS = dict(zip(RUNS, ("last", "initial", "attention", "nrm", "last"), strict=True))

#: All of params.yaml that a report uses.
PARAMS = SimpleNamespace(
    root=".",
    profile="nursery",
    reports=("x2tree",),
    models={
        key: SimpleNamespace(
            paper="x2tree", title=key, seeds=(1,), dataset="dialogue_zh", training=TrainingConfig(steps=2),
            network=(X2TreeConfig if key == "x2tree" else RNNSeq2SeqConfig)(context=context),
        )
        for key, context in CONTEXTS.items()
    },
    runs={
        key: SimpleNamespace(
            paper="x2tree", title="", task="dialogue", model=key, dataset="dialogue_zh", samples=5, guidance="none",
            decoder=DialogueDecoder(beam=6, local=6),
        )
        for key in RUNS
    },
    baselines={"dialogue_zh": SimpleNamespace(paper="x2tree", dataset="dialogue_zh", texts={})},
    datasets=SimpleNamespace(every={"dialogue_zh": SimpleNamespace(settings=DialogueSettings(), corpus="dialogue_zh")}),
    corpora={"dialogue_zh": SimpleNamespace(language="zh")},
    language_of=lambda dataset: "zh",
)  # fmt: skip

#: What the details of a row without a trained model say of it.
ROW = {"dataset": "dialogue_zh", "row": "copy", "title": "the post itself", "trivial": True, "given": ["copied"]}

#: Posts with one reference each, but the second, which has two.
POSTS = {
    "d1": ("d1", "下雨 吗"),
    "d2": ("d2", "你 好"),
    "d3": ("d2", "你 好"),
    "d4": ("d4", "吃 什么"),
    "d5": ("d5", "去 哪"),
}
REFERENCE = "我 去 园子 里 看 梨树"
DEPTHS = {str(n): {"chain": (n + 1) / 2, "ternary": 1.5, "dependency": 1.0, "sentences": 3.0} for n in (2, 3, 4)}


def _outputs(run: str) -> pd.DataFrame:
    """X2Tree comes closest to the reference; the chains have no trees."""
    kept = 6 if run == "x2tree" else 5 if run != "x2tree_encdec" else 4
    words = REFERENCE.split()
    return pd.DataFrame(
        [
            {
                "id": id_, "cluster": cluster, "seed": 1, "sample": rank, "source": post, "reference": REFERENCE,
                "text": " ".join([*words[:kept], *["吧"] * rank]),
                "heads": "2 0 4 2 2 5" if run == "x2tree" else "", "cut": "", "score": -1.0 - rank, "nll": 9.5,
                "words": 6, "exact": 9.0, "recall": 1.0,
            }
            for id_, (cluster, post) in POSTS.items()
            for rank in range(5)
        ]
    )  # fmt: skip


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose runs are decoded and scored, with no more of params.yaml than a report may use."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pipeline.stages.report.load_params", lambda: PARAMS)
    counts = {"words": 50, "known posts": 96.75, "known responses": 97.5, "lifted": 3}
    details = {
        "corpus": "talk", "language": "zh", "rows": {"train": 8, "dev": 1, "test": 5, "quarantined": 1, "words": 40},
        "splits": {"train": counts, "dev": {}, "test": {}}, "quarantined": {"no single tree": 1},
        "measures": {"depths": DEPTHS}, "parsed": {"parser_scores": {"uas": 91.25, "las": 85.5}},
        "filtered": {
            "rows": {"read": 17, "train": 9, "dev": 1, "test": 5}, "quarantined": {"duplicate": 2},
            "origins": {"train": {"web": 9}},
        },
    }  # fmt: skip
    write_json(layout.details("x2tree", "baselines/dialogue_zh/dataset"), details)
    for key in RUNS:
        table, facts = _outputs(key), {"unfit": "0", "writes": "tree" if key == "x2tree" else "chain"}
        write_table(layout.output("x2tree", key), table, facts)
        write_scores("x2tree", key, TASKS["dialogue"], Outputs(table, "zh", 1, facts=facts), Scoring(), {})
    copies = _outputs("x2tree_nrm").assign(text="我")
    outputs = Outputs(copies, "zh", 1, facts={"unfit": "0", "writes": "chain"})
    write_scores("x2tree", "baselines/dialogue_zh/copy", TASKS["dialogue"], outputs, Scoring(), ROW)
    return tmp_path


def _files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_a_dataset_says_what_became_of_its_words_and_trees(made: Path) -> None:
    corpus = _dataset("dialogue_zh", read_json(layout.details("x2tree", "baselines/dialogue_zh/dataset")), "nursery")
    assert dict(corpus.counts) == {
        "read": 17, "train": 9, "dev": 1, "test": 5, "words": 40, "unfit": 1, "known posts": 96.75,
        "known responses": 97.5, "lifted": 3, "uas": 91.25, "las": 85.5,
    }  # fmt: skip
    assert list(corpus.counts)[:4] == ["read", "train", "dev", "test"]
    assert corpus.quarantined == {"duplicate": 2, "no single tree": 1}
    assert (corpus.measures, corpus.origins) == ({"depths": DEPTHS}, {"train": {"web": 9}})


def test_runs_of_dialogue_are_paired_by_their_own_metrics(made: Path, x2tree: Printed) -> None:
    segments = {key: _written(key, PARAMS.runs[key], PARAMS).segments for key in RUNS}
    comparisons = comparisons_of(x2tree, segments, "nursery")
    by_runs = {(each.one, each.other, each.metric): each for each in comparisons}
    better = by_runs["x2tree", "x2tree_nrm", "bleu"]
    assert better.difference > 5 and better.segments == 5
    assert better.difference == pytest.approx(_score("x2tree", "bleu") - _score("x2tree_nrm", "bleu"), abs=1e-3)
    assert by_runs["x2tree_att", "x2tree_encdec", "bleu"].difference > 5


def _score(run: str, metric: str) -> float:
    return float(read_json(layout.details("x2tree", run))["scores"][metric])


def test_rows_of_fewer_records_have_the_scores_of_these_records(made: Path) -> None:
    kind, facts = TASKS["dialogue"], {"unfit": "0", "writes": "chain"}
    fewer = {"d1", "d2", "d3"}
    table = _outputs("x2tree_att")
    table = table[table["id"].isin(fewer)].reset_index(drop=True)
    write_scores("x2tree", "few", kind, Outputs(table.assign(text="我 去"), "zh", 1, facts=facts), Scoring(), ROW)
    rows = _outputs("x2tree_att").assign(text="我 去")
    for entry in ("dialogue_zh", "dialogue_beam"):
        place = f"baselines/{entry}/copy"
        write_scores("x2tree", place, kind, Outputs(rows, "zh", 1, facts=facts), Scoring(), ROW)
    baselines: Any = {"dialogue_zh": SimpleNamespace(paper="x2tree", task="dialogue", seed=1, texts={})}
    read = read_rows("dialogue_zh", baselines["dialogue_zh"], "nursery", "zh")
    assert [(row.key, row.ids) for row in read] == [("dialogue_zh/copy", frozenset(POSTS))]
    few, all_ = (RunResult(key="few", model="m", profile="nursery", dataset="dialogue_zh", ids=frozenset(ids))
                 for ids in (fewer, POSTS))  # fmt: skip
    assert rows_of_fewer([*read, all_], baselines) == []
    (found,) = rows_of_fewer([*read, all_, few, few], baselines)
    assert (found.key, found.ids, found.given) == ("dialogue_zh/copy, 3 records", frozenset(fewer), {"copied"})
    (copied,) = read
    beam = replace(copied, key="dialogue_beam/copy", method="beam")  # the first entry with another method
    both = rows_of_fewer(
        [*read, beam, replace(beam, key="dialogue_other/copy"), few],
        {**baselines, "dialogue_beam": baselines["dialogue_zh"]},
    )
    assert [(row.key, row.method) for row in both] == [
        ("dialogue_zh/copy, 3 records", ""),
        ("dialogue_beam/copy, 3 records", "beam"),
    ]
    wanted = read_json(layout.details("x2tree", "few"))
    whole = {"distinct_1", "distinct_2"}  # no sum over segments
    assert set(wanted["scores"]) - set(found.scores) == whole
    for part in ("scores", "intervals", "signatures"):
        assert found.metrics[part] == {key: value for key, value in wanted[part].items() if key not in whole}


def test_a_row_of_an_earlier_version_is_refused(made: Path) -> None:
    path = layout.details("x2tree", "baselines/dialogue_zh/copy")
    details = read_json(path)
    write_json(path, details | {"settings": {"dataset": "dialogue_zh"}})
    with pytest.raises(ArtifactError, match=r"copy\.json: no given in the settings; run baselines@dialogue_zh again$"):
        report("x2tree")


def test_files_of_runs_that_params_yaml_does_not_name_change_no_byte(made: Path) -> None:
    report("x2tree")
    before = _files(layout.report("x2tree"))
    for folder in ("metrics", "details", "segments", "outputs"):
        for file in list(Path(folder, "x2tree").glob("x2tree.*")):
            shutil.copy(file, file.with_stem("left_behind"))
    shutil.copytree("metrics/details/x2tree/baselines/dialogue_zh", "metrics/details/x2tree/baselines/left_behind")
    layout.curve("x2tree", "left_behind").parent.mkdir(parents=True)
    layout.curve("x2tree", "left_behind").write_text("seed,step,train_loss,dev_loss\n1,10,5.0,5.0\n", encoding="utf-8")
    report("x2tree")
    assert _files(layout.report("x2tree")) == before


def test_the_report_has_the_papers_rows_ours_and_figure_6(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report("x2tree")
    page = (layout.report("x2tree") / "index.html").read_text(encoding="utf-8")
    assert all(f"<code>{key}</code>" in page for key in (*RUNS, "dialogue_zh/copy"))
    assert "Other runs" not in page and "<i>context</i> nrm" in page and page.count("<i>local</i> 6") == 1
    assert "65.53" in page and "ternary tree</text>" in page and "X2Tree 5" in page and "Verse" not in page
    tables = (layout.report("x2tree") / "tables.md").read_text(encoding="utf-8")
    assert tables.count("Without a trained model: dialogue\\_zh, 5 records") == 2
    assert "| dialogue\\_zh/copy, the post itself (nursery, baseline) |" in tables
    bleu = f"{_score('x2tree', 'bleu'):.2f}"
    assert bleu in next(line for line in tables.splitlines() if line.startswith("| x2tree (nursery, tree beam)"))
    assert capsys.readouterr().err == "x2tree: 6 rows in 5 tables, reports/x2tree/index.html\n"
