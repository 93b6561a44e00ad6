from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from espalier.io.errors import ConfigError
from espalier.report import Printed, RunResult, build, load_printed
from espalier.report.studies import Study
from espalier.report.tables import Reading


def _study(pairs: Printed, runs: list[RunResult]) -> Study:
    (study,) = build(pairs, runs).studies
    return study


def test_the_points_of_a_run_are_its_metrics_from_left_to_right(pairs: Printed, pair_runs: list[RunResult]) -> None:
    (panel,) = _study(pairs, pair_runs).panels
    assert panel.ticks == ("3", "4", "full")
    assert panel.lines == (
        ("plain", ((0.0, Reading(2, 1, 3)), (1.0, Reading(4, 3, 5)), (2.0, Reading(8, 7, 9)))),
        ("guided", ((0.0, Reading(1, 0, 2)), (1.0, Reading(2, 1, 3)), (2.0, Reading(6, 5, 7)))),
    )
    assert (panel.heading, panel.better, panel.levels) == ("TED", "lower", ())


def test_a_metric_that_a_run_lacks_leaves_a_gap_and_one_point_draws_no_line(
    pairs: Printed, pair_runs: list[RunResult]
) -> None:
    some = replace(pair_runs[0], metrics={"scores": {"ted_3": 2.0, "ted_full": 8.0}})
    (panel,) = _study(pairs, [some]).panels
    assert [x for x, _ in panel.lines[0][1]] == [0.0, 2.0]
    assert _study(pairs, [replace(some, metrics={"scores": {"ted_3": 2.0}})]).panels == ()


def test_each_profile_has_panels_of_its_own(pairs: Printed, pair_runs: list[RunResult]) -> None:
    small = [replace(run, profile="small") for run in pair_runs]
    assert [panel.heading for panel in _study(pairs, [*pair_runs, *small]).panels] == ["TED · nursery", "TED · small"]


def test_missing_runs_are_named(pairs: Printed, pair_runs: list[RunResult]) -> None:
    assert _study(pairs, pair_runs[:1]).missing == ("guided",)
    assert _study(pairs, []).missing == ("plain", "guided")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("runs: [plain, guided]", "runs: [plain]\n    beside: guided", "beside: only a figure against a setting"),
        ('{"3": ted_3, "4": ted_4, full: ted_full}', '{"3": ted_3}', "figures.0.points.0.metrics"),
        ("points: [{name", "panels: [bleu]\n    points: [{name", "panels or points: give one of the two"),
    ],
)
def test_a_figure_that_cannot_be_drawn_is_refused(
    write: Callable[[str], Path], pairs_text: str, old: str, new: str, said: str
) -> None:
    assert old in pairs_text
    with pytest.raises(ConfigError) as caught:
        load_printed(write(pairs_text.replace(old, new, 1)))
    assert said in str(caught.value)
