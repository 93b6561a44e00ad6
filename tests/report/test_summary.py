from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from io import StringIO

import pytest

from espalier.io.errors import ArtifactError
from espalier.report.build import build
from espalier.report.html import render_index
from espalier.report.items import Items, Output
from espalier.report.links import Links
from espalier.report.numbers_files import render_csv
from espalier.report.printed import Printed, Row, RunRef
from espalier.report.results import Comparison, CorpusResult, RunResult
from espalier.report.summary import read_summary, summary_json, summary_of

MakeRun = Callable[..., RunResult]
LINKS = Links(reports="", profile="../", root="../../../")


def test_a_summary_survives_its_file(toy: Printed, a_run: MakeRun) -> None:
    summary = summary_of(build(toy, [a_run()]), Items(ids=("a", "b")))
    assert (summary.runs, summary.missing, summary.items) == (1, 1, 2)
    assert read_summary(json.loads(json.dumps(summary_json(summary), allow_nan=False)), "here") == summary


def test_what_is_no_summary_is_refused_with_its_file() -> None:
    with pytest.raises(ArtifactError, match=r"^toy\.json: not the summary of a report; run its report again$"):
        read_summary({"paper": 1}, "toy.json")


def test_the_index_has_what_was_measured_and_nothing_that_is_printed(toy: Printed, a_run: MakeRun) -> None:
    page = render_index([summary_of(build(toy, [a_run()]), Items())], [], LINKS)
    assert "21.25" in page and "12.50" not in page and "20.50" not in page
    assert "no estimate of the papers' numbers" in page


def test_a_summary_has_the_table_of_trained_runs_although_rows_and_corpora_come_first(
    pairs: Printed, pair_runs: list[RunResult]
) -> None:
    copy = replace(pair_runs[0], key="copy", row="copy", model="")
    empty = replace(pair_runs[0], key="empty", metrics={"scores": {"bleu": None}})
    corpus = CorpusResult(key="mill", profile="nursery", counts={"bleu": 3})
    plain = pairs.tables[0]
    rows = {"copies": ("runs", "copy"), "nothing": ("runs", "empty"), "texts": ("corpora", "mill")}
    before = tuple(
        plain.model_copy(update={"id": id_, "about": about, "rows": (Row(label=id_, runs=(RunRef(run=key),)),)})
        for id_, (about, key) in rows.items()
    )
    report = build(pairs.model_copy(update={"tables": (*before, plain)}), [copy, empty, *pair_runs], corpora=[corpus])
    table = summary_of(report, Items()).table
    assert table is not None and table.id == plain.id
    report = build(pairs.model_copy(update={"tables": before[:1]}), [copy])
    table = summary_of(report, Items()).table
    assert table is not None and [line.cells[0].value for line in table.lines if line.kind == "row"] == [20.0]


def test_the_index_has_texts_and_verdicts_before_tables(pairs: Printed, pair_runs: list[RunResult]) -> None:
    comparison = Comparison(
        one="guided", other="plain", metric="bleu", profile="nursery", difference=2.0, low=1.0, high=3.0, p=0.02,
        seeds=(3, 3), clusters=32, segments=40,
    )  # fmt: skip
    paper = pairs.paper.model_copy(update={"shown": ("guided",)})
    report = build(pairs.model_copy(update={"paper": paper}), pair_runs, comparisons=[comparison])
    output = Output(("the red hen",), {"guide": "(S (NP (DT) (JJ) (NN)))"}, "", (50.0,))
    items = Items(
        ids=("a",), given={"source": ("a hen",)}, runs=(("guided", "Guided"),), languages=("en",),
        outputs=((output,),), scores=(pairs.columns["bleu"],),
    )  # fmt: skip
    summary = summary_of(report, items)
    assert summary.claims == (("holds", "Guiding serves the meaning.", report.orderings[0].evidence),)
    assert read_summary(json.loads(json.dumps(summary_json(summary))), "here") == summary
    page = render_index([summary], [], LINKS)
    places = [
        page.index(each)
        for each in ("the red hen", '<ul class="tree">', ">holds</b>", '<section id="tables">', "<table")
    ]
    assert places == sorted(places)


def test_the_index_names_papers_without_a_report_and_links_to_the_others(toy: Printed) -> None:
    page = render_index([summary_of(build(toy, []), Items(ids=("a",), total=1))], ["other"], LINKS)
    assert "<code>espalier report other</code>" in page and "No run has been made yet." in page
    for address in ("toy/index.html", "toy/items.html", "toy/tables.csv", "../../../docs/results.md"):
        assert f'href="{address}"' in page


def test_the_csv_has_a_row_for_each_number_and_reason(toy: Printed, a_run: MakeRun) -> None:
    metrics = {"scores": {"ppl_released": None, "format_f1": 98.5}, "undefined": {"ppl_released": "no, words"}}
    rows = list(csv.DictReader(StringIO(render_csv(build(toy, [a_run(metrics=metrics)])))))
    assert [(row["row"], row["column"], row["value"], row["spread"], row["why"]) for row in rows] == [
        ("Baseline", "PPL Test", "20.5", "", ""),
        ("System", "PPL Test", "12.5", "0.25", ""),
        ("System", "Format Ma-F1", "99", "", ""),
        ("toy_free", "PPL Test", "", "", "no, words"),
        ("toy_free", "Format Ma-F1", "98.5", "", ""),
    ]
