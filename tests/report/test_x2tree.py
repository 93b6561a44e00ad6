"""What X2Tree prints, and its whole report from files as the stages write them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from pipeline.dialogue import score

from espalier.io.files import write_json
from espalier.io.tables import write_table
from espalier.metrics.dialogue import KEYS
from espalier.report import Printed, build
from pipeline import layout
from pipeline.params import load_params
from pipeline.stages.report import _comparisons, _corpus, _settings
from pipeline.stages.report import run as report

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
    assert [found[column].value for column in table.columns] == values


def test_the_levels_of_a_row_add_up_to_all_replies(x2tree: Printed) -> None:
    for row in x2tree.tables[0].rows:
        assert sum(row.printed[f"level_{level}"].value for level in (1, 2, 3)) == pytest.approx(100, abs=0.02)


def test_no_number_of_ours_stands_for_people(x2tree: Printed) -> None:
    for column in ("level_1", "level_2", "level_3", "agreement"):
        assert x2tree.columns[column].ours == ()


def test_every_metric_that_x2tree_reads_exists_and_none_is_forgotten(x2tree: Printed) -> None:
    corpora = {"train", "dev", "test", "words", "known posts", "known responses", "lifted", "uas"}
    columns = {reading.metric for column in x2tree.columns.values() for reading in column.ours}
    assert columns - corpora <= set(KEYS) <= columns


def test_every_claim_agrees_with_the_numbers_that_the_paper_prints(x2tree: Printed) -> None:
    printed = [[reading.value for reading in ordering.printed] for ordering in build(x2tree, []).orderings]
    known = [(better, worse) for better, worse in printed if better is not None and worse is not None]
    assert len(known) == 11 and all(better > worse for better, worse in known)


def test_claims_are_by_metrics_that_can_be_resampled(x2tree: Printed) -> None:
    metrics = {x2tree.columns[ordering.column].ours[0].metric for ordering in x2tree.orderings}
    assert not metrics & {"distinct_1", "distinct_2", "perplexity_per_word"}


def test_all_rows_runs_are_entries_or_those_of_further_posts_and_the_second_corpus(x2tree: Printed) -> None:
    params = load_params(layout.ROOT / "params.yaml")
    tabled = {ref.run for table in x2tree.tables if table.about == "runs" for row in table.rows for ref in row.runs}
    assert tabled == {*RUNS, *(f"{key}_more" for key in RUNS), "x2tree_daily", "x2tree_daily_encdec"}
    assert set(RUNS) <= {key for key, run in params.runs.items() if run.paper == "x2tree"}
    assert {key for each in x2tree.examples for key in each.written} == set(RUNS) == set(x2tree.sheet.runs)  # type: ignore[union-attr]


# --- The whole report ------------------------------------------------------------------------------------------------

#: Posts with one reference each, but the second, which has two.
POSTS = {
    "d1": ("d1", "下雨 吗"),
    "d2": ("d2", "你 好"),
    "d3": ("d2", "你 好"),
    "d4": ("d4", "吃 什么"),
    "d5": ("d5", "去 哪"),
}
REFERENCE = "我 去 园子 里 看 梨树"
STEPS = {str(n): {"chain": (n + 1) / 2, "ternary": 1.5, "dependency": 1.0, "sentences": 3.0} for n in (2, 3, 4)}


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
                "words": 6,
            }
            for id_, (cluster, post) in POSTS.items()
            for rank in range(5)
        ]
    )  # fmt: skip


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose runs are decoded and scored, as far as a report asks."""
    value = yaml.safe_load((layout.ROOT / "params.yaml").read_text(encoding="utf-8"))
    parser = value["corpora"]["dialogue_zh"]["parser"] = "talk_zh"  # so that its score stands beside the results
    value["parsers"]["talk_zh"] |= {"treebank": "lyrics_zh"}
    value["reports"] = ["x2tree"]
    monkeypatch.chdir(tmp_path)
    layout.PARAMS.write_text(yaml.safe_dump(value), encoding="utf-8")
    layout.PARAMS.with_name("sources.yaml").write_text("sources: {}\n", encoding="utf-8")
    write_json(layout.parser_metrics(parser), {"scores": {"uas": 91.25, "las": 85.5}})
    write_json(
        layout.corpus_metrics("dialogue_zh"),
        {"rows": {"train": 9, "dev": 1, "test": 5}, "quarantined": {"duplicate": 2}, "origins": {}},
    )
    write_json(
        layout.dataset_metrics("dialogue_zh"),
        {
            "rows": {"train": 8, "dev": 1, "test": 5, "quarantined": 1}, "words": {"train": 50},
            "unknown": {"train": {"source": 3.25, "target": 2.5}}, "lifted": {"train": 2, "dev": 0, "test": 1},
            "quarantined": {"no single tree": 1}, "vocabulary": {"words": 40}, "steps": STEPS,
        },
    )  # fmt: skip
    params = load_params()
    for key in RUNS:
        write_table(
            layout.output("x2tree", key),
            _outputs(key),
            {"unfit": "0", "writes": "tree" if key == "x2tree" else "chain"},
        )
        score.run(key, params.runs[key], params)
    return tmp_path


def test_runs_of_dialogue_say_how_they_were_decoded() -> None:
    params = load_params(layout.ROOT / "params.yaml")
    found = {key: _settings(params.runs[key], params.models[key]) for key in ("x2tree", "x2tree_nrm")}
    assert (found["x2tree"]["protocol"], found["x2tree"]["beam"], found["x2tree"]["local"]) == ("tree beam", 6, 6)
    assert (found["x2tree_nrm"]["protocol"], found["x2tree_nrm"]["context"]) == ("chain beam", "nrm")
    chain = params.runs["x2tree_nrm"].model_copy(update={"decoder": {"beam": 9, "local": 6, "order": "first"}})
    assert {"local", "order"}.isdisjoint(_settings(chain, params.models["x2tree_nrm"]))
    assert {each["replies"] for each in found.values()} == {5}


def test_a_corpus_of_dialogues_tells_what_became_of_its_words_and_trees(made: Path) -> None:
    corpus = _corpus(load_params(), "dialogue_zh")
    assert dict(corpus.counts) == {
        "train": 9, "dev": 1, "test": 5, "words": 40, "unfit": 1, "known posts": 96.75, "known responses": 97.5,
        "lifted": 3, "uas": 91.25, "las": 85.5,
    }  # fmt: skip
    assert corpus.quarantined == {"duplicate": 2, "no single tree": 1}
    assert corpus.measures == {"steps": STEPS}


def test_other_corpora_are_told_of_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(layout.ROOT)
    found = _corpus(load_params(), "verse_zh")
    assert {"train", "dev", "test", "vocabulary"} <= set(found.counts) and not found.measures
    assert {"uas", "lifted", "unfit"}.isdisjoint(found.counts)


def test_runs_of_dialogue_are_paired_by_their_own_metrics(made: Path, x2tree: Printed) -> None:
    found = {(each.one, each.other, each.metric): each for each in _comparisons(
        x2tree, "x2tree", dict.fromkeys(RUNS, "dialogue"), "nursery")}  # fmt: skip
    better = found["x2tree", "x2tree_nrm", "bleu"]
    assert better.difference > 5 and better.segments == 5
    assert better.difference == pytest.approx(_score("x2tree", "bleu") - _score("x2tree_nrm", "bleu"), abs=1e-3)
    assert found["x2tree_att", "x2tree_encdec", "bleu"].difference > 5


def _score(run: str, metric: str) -> float:
    value: Any = json.loads(layout.metrics("x2tree", run).read_text(encoding="utf-8"))
    return float(value["scores"][metric])


def test_the_report_has_the_papers_rows_ours_figure_6_and_the_sheet(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report("x2tree")
    page = (layout.report("x2tree") / "index.html").read_text(encoding="utf-8")
    assert all(f"<code>{key}</code>" in page for key in RUNS)
    assert "65.53" in page and "ternary tree</text>" in page and "X2Tree 5" in page and "Verse" not in page
    tables = (layout.report("x2tree") / "tables.md").read_text(encoding="utf-8")
    bleu = f"{_score('x2tree', 'bleu'):.2f}"
    assert bleu in next(line for line in tables.splitlines() if line.startswith("| x2tree (nursery, tree beam)"))
    assert "X2Tree" in capsys.readouterr().out

    with (layout.report("x2tree") / "nbest.csv").open(encoding="utf-8-sig", newline="") as file:
        items = list(csv.DictReader(file))
    with (layout.report("x2tree") / "nbest_key.csv").open(encoding="utf-8-sig", newline="") as file:
        key = list(csv.DictReader(file))
    # Four posts; the five replies of three kinds of run, of which what is equal is one item; all 25 are in the key.
    assert len({item["given"] for item in items}) == 4 and len(key) == 4 * 25
    assert {author["run"] for author in key} == set(RUNS) and {"run", "rank"}.isdisjoint(items[0])
    before = (layout.report("x2tree") / "nbest.csv").read_bytes()
    report("x2tree")
    assert (layout.report("x2tree") / "nbest.csv").read_bytes() == before
