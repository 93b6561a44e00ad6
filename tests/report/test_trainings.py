"""Tables about trainings: hours, and the time of a step as a multiple of another model's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from espalier.io.errors import ConfigError
from espalier.report.benchmarks import load_benchmark
from espalier.report.build import build
from espalier.report.html import render_html
from espalier.report.markdown import render_markdown
from espalier.report.printed import load_printed
from espalier.report.results import TrainingResult

PAPER = """
paper: {key: toy, title: A toy paper, authors: A. Nobody, venue: Nowhere 2020, url: "https://example.org/toy"}
columns:
  hours: {group: "", name: Hours, ours: [{metric: hours}]}
  ratio: {group: "", name: Multiple, ours: [{metric: step_ratio}]}
tables:
  - id: table-1
    title: Table 1
    caption: Times
    about: trainings
    benchmark: steps
    columns: [hours, ratio]
    rows:
      - {label: Plain, printed: {hours: 1.2}, runs: [{run: plain}]}
      - {label: Slow, printed: {hours: 3.6, ratio: 3.0}, runs: [{run: slow, note: R}, {run: lost}]}
"""


def training(key: str, machine: str = "", **scores: float) -> TrainingResult:
    return TrainingResult(key=key, profile="small", machine=machine, scores=scores)


def test_a_table_has_the_printed_hours_the_machine_and_what_was_not_measured(write: Callable[[str], Path]) -> None:
    trainings = [training("plain", "a processor", hours=2.0, step_ratio=1.0), training("slow", step_ratio=2.5)]
    report = build(load_printed(write(PAPER)), [], trainings=trainings)
    lines = report.tables[0].lines
    assert [(line.kind, line.label, line.tags, line.note) for line in lines] == [
        ("paper", "Plain", (), ""),
        ("run", "plain", ("small",), "a processor"),
        ("paper", "Slow", (), ""),
        ("run", "slow", ("small",), "R"),
        ("absent", "lost", ("not measured",), ""),
    ]
    assert [[cell.value for cell in line.cells] for line in (lines[2], lines[3])] == [[3.6, 3.0], [None, 2.5]]
    assert report.missing == ()
    assert "2.50" in render_markdown(report) and "a processor" in render_html(report)


@pytest.mark.parametrize(("old", "new"), [("    benchmark: steps\n", ""), ("    about: trainings\n", "")])
def test_a_table_about_trainings_and_no_other_has_a_benchmark(write: Callable[[str], Path], old: str, new: str) -> None:
    with pytest.raises(ConfigError, match="names that of their steps"):
        load_printed(write(PAPER.replace(old, new)))


def test_ratios_are_the_medians_of_the_table_of_their_profile(tmp_path: Path) -> None:
    def table(title: str, ratio: float) -> dict[str, object]:
        rows = {"Plain": [9.0, [1.0, 1.0, 1.0]], "Slow": [9.0, [ratio, 0.5, 9.0]], "Unknown": [9.0, None]}
        return {"title": title, "columns": [{"heading": "ms"}, {"heading": "/ Plain"}], "rows": rows}

    record = {"command": "", "machine": {}, "tables": [table("small: 2 layers", 2.5), table("paper: 6 layers", 3.0)]}
    (tmp_path / "steps.json").write_text(json.dumps(record))
    found = load_benchmark(tmp_path / "steps.json")
    assert found.ratios("small") == {"Plain": 1.0, "Slow": 2.5}
    assert found.ratios("paper")["Slow"] == 3.0
    assert found.ratios("nursery") == {}
