"""Heatmaps of the first examples of a report."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from espalier.io.errors import ArtifactError, ConfigError
from espalier.report.build import build
from espalier.report.html import render_html
from espalier.report.printed import Printed, load_printed
from espalier.report.results import RunResult

HEATMAPS = """
drawings:
  - {id: figure-2, title: Figure 2, caption: Of each piece, of: granularity, examples: table-2, count: 1,
     runs: {guided: G, plain: P}}
"""


@pytest.fixture
def drawn(write: Callable[[str], Path], pairs_text: str) -> Printed:
    return load_printed(write(pairs_text + HEATMAPS))


def keeps(run: RunResult, z: float) -> RunResult:
    """The run with a granularity of its first two texts, under two seeds."""
    levels = {"source_pieces": ["▁source", "▁0"], "text_pieces": ["[BOS]"], "decoder": {}}
    rows: list[dict[str, str]] = [
        {**row, "seed": str(seed), "granularity": json.dumps({**levels, "encoder": {"2": [z, z / seed]}})}
        if place < 2
        else {**row, "seed": str(seed), "granularity": ""}
        for seed in (1, 2)
        for place, row in enumerate(run.rows)
    ]
    return replace(run, rows=rows)


def test_heatmaps_are_of_the_first_examples_and_of_the_first_seed(drawn: Printed, pair_runs: list[RunResult]) -> None:
    runs = [keeps(run, z) for run, z in zip(pair_runs[:2], (0.25, 0.75), strict=True)]
    report = build(drawn, runs)
    (group,) = report.drawings[0].groups
    assert [(label, each.source, each.text) for label, each in group.texts] == [
        ("G", "source 0", "guided 0"),
        ("P", "source 0", "plain 0"),
    ]
    assert [each.encoder for _, each in group.texts] == [{2: (0.75, 0.75)}, {2: (0.25, 0.25)}]
    page = render_html(report)
    assert "G, encoder: source 0" in page and "layer 2" in page and ">0.75<" in page and 'href="#figure-2"' in page


def test_runs_without_granularity_are_named(drawn: Printed, pair_runs: list[RunResult]) -> None:
    plain, guided, _ = pair_runs
    report = build(drawn, [plain, keeps(guided, 0.5)])
    assert report.drawings[0].missing == ("plain",)
    assert [label for label, _ in report.drawings[0].groups[0].texts] == ["G"]
    assert "No run of these has kept it: guided, plain." in render_html(build(drawn, [plain, guided]))


@pytest.mark.parametrize("text", ["{", "[]", '{"source_pieces": ["a"]}', '{"encoder": 3}'])
def test_a_granularity_that_cannot_be_read_is_one_line(drawn: Printed, pair_runs: list[RunResult], text: str) -> None:
    broken: list[dict[str, Any]] = [{**row, "granularity": text} for row in pair_runs[0].rows]
    with pytest.raises(ArtifactError, match=r"outputs of plain: row r0 has no granularity .*; decode again"):
        build(drawn, [replace(pair_runs[0], rows=broken), pair_runs[1]])


def test_heatmaps_of_no_examples_are_refused(write: Callable[[str], Path], pairs_text: str) -> None:
    with pytest.raises(ConfigError, match=r"drawings\.figure-2\.examples: no examples 'table-9'; allowed: table-2"):
        load_printed(write(pairs_text + HEATMAPS.replace("examples: table-2", "examples: table-9")))
