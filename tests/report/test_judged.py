"""People's scores stand beside the printed ones, and a missing one says why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from espalier.io.yaml_files import load_yaml
from espalier.judging.protocol import Protocol
from espalier.judging.result import DECODED_ANEW, NO_RATINGS, PREFIX, JudgedDetails
from espalier.report.build import build
from espalier.report.folding import fold
from espalier.report.html import render_html
from espalier.report.judged import judgings_of, with_judged
from espalier.report.markdown import render_markdown
from espalier.report.page_judged import judged_table
from espalier.report.printed import Printed, load_printed
from espalier.report.results import RunResult

ROOT = Path(__file__).parents[2]
PAPERS = ("songnet", "guig", "cdnpg", "sat", "x2tree")

HUMAN = """
paper: {key: toy, title: A toy paper, authors: A. Nobody, venue: Nowhere 2020, url: "https://example.org/toy"}
columns:
  fluency: {group: Human, name: Fluency, better: higher, ours: [{metric: judged_fluency}]}
  near: {group: Automatic stand-in, name: BLEU, better: higher, ours: [{metric: bleu}]}
tables:
  - {id: human, title: Table 3, caption: By people, columns: [fluency, near], judged: true,
     rows: [{label: Chain, printed: {fluency: 3.5}, runs: [{run: chain}, {run: other}]},
            {label: Human, runs: [{run: talk/human}]}]}
"""


def study(**changes: Any) -> JudgedDetails:
    scores = {
        "scores": {"judged_fluency": 2.25, "judged_fluency_1": 20.0},
        "intervals": {"judged_fluency": [2.0, 2.5], "judged_fluency_1": None},
        "signatures": {"judged_fluency": "judged|protocol:toy", "judged_fluency_1": "judged|protocol:toy"},
        "undefined": {},
    }
    panel = {
        "raters": ["rater_1", "rater_3"],
        "agreement": {"fluency": {"Fleiss' kappa": {"value": 0.5, "interval": [0.4, 0.6], "meaning": "moderate"}}},
        "claims": [
            {"better": "chain", "worse": "tree", "criterion": "fluency", "level": None, "verdict": "holds",
             "gain": {"value": 0.5, "interval": [0.25, 0.75]}, "p_holm": 0.0125}
        ],
    }  # fmt: skip
    value = {
        "kind": "judged", "protocol": "toy", "sample": "0123456789abcdef", "left_out": True,
        "outputs": {"chain": "sha"},
        "raters": [{"rater": "rater_1", "failed": False}, {"rater": "rater_2", "failed": True},
                   {"rater": "rater_3", "failed": False}],
        "systems": {"chain": scores, "reference": scores},
        "panels": {"all raters": panel | {"raters": ["rater_1", "rater_2", "rater_3"]},
                   "those who passed the checks": panel},
        "stand_ins": [{"criterion": "fluency", "metric": "bleu", "means": {"chain": 12.5}, "correlation": 0.25,
                       "interval": [0.125, 0.375]}],
    }  # fmt: skip
    return JudgedDetails.model_validate(value | changes)


@pytest.fixture
def human(tmp_path: Path) -> Printed:
    (tmp_path / "toy.yaml").write_text(HUMAN, encoding="utf-8")
    return load_printed(tmp_path / "toy.yaml")


@pytest.fixture
def runs() -> list[RunResult]:
    metrics = {"scores": {"bleu": 12.0}}
    return [
        RunResult(key="chain", model="chain", profile="nursery", dataset="talk", metrics=metrics),
        RunResult(key="talk/human", model="", profile="nursery", dataset="talk", row="human"),
        RunResult(
            key="talk/copy",
            model="",
            profile="nursery",
            dataset="talk",
            row="copy",
            trivial=True,
            metrics={"scores": {"bleu": 99.0}},
        ),
    ]


def cells(printed: Printed, results: list[RunResult]) -> dict[str, tuple[float | None, str]]:
    (table,) = (table for table in build(printed, results).tables if table.id == "human")
    return {line.label: (line.cells[0].value, line.cells[0].why) for line in table.lines}


def test_without_ratings_every_line_says_so_beside_the_printed_one(human: Printed, runs: list[RunResult]) -> None:
    results = with_judged(human, runs, [], {})
    assert cells(human, results) == {
        "Chain": (3.5, ""), "chain": (None, NO_RATINGS), "other": (None, ""), "Human": (None, ""),
        "talk/human": (None, NO_RATINGS),
    }  # fmt: skip
    # The nursery has no number in the column of the printed one, so both stand together.
    shown = fold(next(table for table in build(human, results).tables if table.id == "human")).shown
    assert [line.label for line in shown.lines[:2]] == ["Chain", "chain"] and shown.lines[0].cells[0].value == 3.5
    for page in (render_html(build(human, results)), render_markdown(build(human, results))):
        assert NO_RATINGS in page and "3.50" in page and "Judged by people" not in page


def test_scores_of_people_stand_in_the_table_with_their_interval(human: Printed, runs: list[RunResult]) -> None:
    results = with_judged(human, runs, [study()], {"chain": "sha"})
    found = cells(human, results)
    assert found["chain"] == (2.25, "") and found["talk/human"] == (2.25, "")
    assert results[0].scores == {"bleu": 12.0, "judged_fluency": 2.25, "judged_fluency_1": 20.0}
    assert results[2].scores == {"bleu": 99.0}  # nobody judged the copy
    report = build(human, results, judged=judgings_of([study()], {"chain": "sha"}))
    table = next(table for table in report.tables if table.id == "human")
    assert not any(line.label == "talk/copy" or cell.below for line in table.lines for cell in line.cells)
    page = render_html(report)
    for text in ("2.00–2.50", "Left out, for they failed the attention checks: rater_2", "moderate",
                 "0.50 (0.40 to 0.60)", "chain over tree, fluency", "0.50 (0.25 to 0.75)", "0.013", "holds",
                 "chain 12.500", "0.25 (0.12 to 0.38)"):  # fmt: skip
        assert text in page
    every = judgings_of([study(left_out=False)], {"chain": "sha"})[0]
    assert (every.raters, every.left_out) == (3, ())


def test_ratings_of_other_outputs_are_not_shown(human: Printed, runs: list[RunResult]) -> None:
    found = cells(human, with_judged(human, runs, [study()], {"chain": "another sha"}))
    assert found["chain"] == (None, DECODED_ANEW)
    (line,) = judgings_of([study()], {"chain": "another sha"})
    assert line.stale == ("chain",)


@pytest.mark.parametrize("profile", ["", "profiles/small", "profiles/paper"])
@pytest.mark.parametrize("paper", PAPERS)
def test_every_paper_has_a_protocol_for_the_scores_of_people_that_it_prints(paper: str, profile: str) -> None:
    printed = load_printed(ROOT / f"papers/printed/{paper}.yaml")
    params = load_yaml(ROOT / profile / "params.yaml")
    protocols = [Protocol.model_validate(entry) for entry in params["protocols"].values() if entry["paper"] == paper]
    names = {
        f"{PREFIX}{criterion}{end}"
        for protocol in protocols
        for criterion, settings in protocol.criteria.items()
        for end in (["_win", "_tie", "_loss", "_kappa"] if protocol.design == "pairs" else
                    ["", "_kappa", *(f"_{value}" for value in settings.values)])
    }  # fmt: skip
    columns = {ours.metric for column in printed.columns.values() for ours in column.ours}
    people = {name for name in columns if name.startswith(PREFIX)}
    assert people and people <= names
    # Each stand-in of the papers' tables is one of a protocol.
    tables = [table for table in printed.tables if table.judged]
    near = {printed.columns[name].metric for table in tables for name in table.columns if name.startswith("near_")}
    assert near <= {name for protocol in protocols for each in protocol.criteria.values() for name in each.stand_ins}


@pytest.mark.parametrize(
    ("paper", "table", "row", "column", "value"),
    [
        ("songnet", "table-7", "SongNet-Sonnet", "style", 0.83),
        ("sat", "table-3", "SAT-p²", "matching", 4.01),
        ("cdnpg", "table-4", "Ours vs. Human", "fluency_kappa", 0.095),
        ("guig", "table-3", "template: GuiG.SE + GuiG.TG", "semantic", 3.84),
        ("x2tree", "table-1", "X2Tree", "level_3", 65.53),
    ],
)
def test_the_printed_numbers_are_those_of_the_papers(
    printed_number: Callable[..., float], paper: str, table: str, row: str, column: str, value: float
) -> None:
    assert printed_number(load_printed(ROOT / f"papers/printed/{paper}.yaml"), table, row, column) == value


def test_shares_of_a_pair_sum_to_a_hundred_as_printed() -> None:
    printed = load_printed(ROOT / "papers/printed/cdnpg.yaml")
    rows = next(table for table in printed.tables if table.id == "table-4").rows
    for row in rows:
        for criterion in ("relevance", "fluency"):
            total = sum(row.printed[f"{criterion}_{end}"].value for end in ("win", "tie", "loss"))
            assert total == pytest.approx(100, abs=0.15)


def test_a_page_has_each_printed_row_with_ours_or_that_there_are_no_ratings(human: Printed) -> None:
    assert judged_table(human, {}).splitlines()[2:] == [
        "|  | Human Fluency |",
        "| :-- | --: |",
        "| **Chain** | 3.50 |",
        "| ours | no ratings yet |",
        "| **Human** | — |",
        "| ours | no ratings yet |",
    ]
    ours = {("small", "chain"): {"judged_fluency": 2.25}, ("paper", "chain"): {"judged_fluency": None}}
    lines = judged_table(human, ours).splitlines()
    assert lines[5:7] == ["| `chain` (small) | 2.25 |", "| `chain` (paper) | — |"]
