"""Training times as multiples of one model's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from espalier.io.errors import ConfigError
from espalier.report import TrainingResult, build, load_printed, render_html, render_markdown
from espalier.report.trainings import relative

PAPER = """
paper: {key: toy, title: A toy paper, authors: A. Nobody, venue: Nowhere 2020, url: "https://example.org/toy"}
columns:
  hours: {group: "", name: Hours, ours: [{metric: hours}]}
  ratio: {group: Multiple, name: in all, ours: [{metric: time_ratio}]}
  token: {group: Multiple, name: a token, ours: [{metric: token_time_ratio}]}
tables:
  - id: table-1
    title: Table 1
    caption: Times
    about: trainings
    unit: plain
    columns: [hours, ratio, token]
    rows:
      - {label: Plain, printed: {hours: 1.2}, runs: [{run: plain}]}
      - {label: Slow, printed: {hours: 3.6}, runs: [{run: slow, note: R}, {run: lost}]}
"""


def training(
    key: str, hours: float, speed: float, machine: str = "a processor", profile: str = "small"
) -> TrainingResult:
    return TrainingResult(
        key=key, profile=profile, machine=machine, scores={"hours": hours, "tokens_per_second": speed}
    )


def test_ratios_are_of_hours_and_of_the_time_for_a_token() -> None:
    # Slow takes 1.5 times the hours, and three times as long for a token: it stopped after half of the tokens.
    plain, slow = relative([training("plain", 2.0, 900.0), training("slow", 3.0, 300.0)], "plain")
    assert (plain.scores["time_ratio"], plain.scores["token_time_ratio"]) == (1, 1)
    assert (slow.scores["time_ratio"], slow.scores["token_time_ratio"]) == (1.5, 3)


def test_times_of_two_machines_or_of_two_profiles_are_not_compared() -> None:
    found = relative(
        [
            training("plain", 2.0, 900.0),
            training("slow", 3.0, 300.0, "a GPU"),
            training("slow", 4.0, 9.0, profile="paper"),
        ],
        "plain",
    )
    for each, why in zip(found[1:], ("on another machine: a processor", "plain was not measured"), strict=True):
        assert "time_ratio" not in each.scores and why in each.undefined["time_ratio"]
    assert [each.scores["hours"] for each in found] == [2, 3, 4]


def test_a_table_has_the_printed_hours_the_machine_and_what_was_not_measured(write: Callable[[str], Path]) -> None:
    report = build(load_printed(write(PAPER)), [], trainings=[training("plain", 2.0, 9.0), training("slow", 5.0, 3.0)])
    lines = report.tables[0].lines
    assert [(line.kind, line.label, line.tags, line.note) for line in lines] == [
        ("paper", "Plain", (), ""),
        ("run", "plain", ("small",), "a processor"),
        ("paper", "Slow", (), ""),
        ("run", "slow", ("small",), "R; a processor"),
        ("absent", "lost", ("not measured",), ""),
    ]
    assert [[cell.value for cell in line.cells] for line in (lines[2], lines[3])] == [[3.6, None, None], [5, 2.5, 3]]
    assert report.missing == ()
    assert "2.50" in render_markdown(report) and "a processor" in render_html(report)


@pytest.mark.parametrize(("old", "new"), [("    unit: plain\n", ""), ("    about: trainings\n", "")])
def test_a_table_about_trainings_and_no_other_has_a_unit(write: Callable[[str], Path], old: str, new: str) -> None:
    with pytest.raises(ConfigError, match="names the model whose time is 1"):
        load_printed(write(PAPER.replace(old, new)))
