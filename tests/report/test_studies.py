from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from espalier.io.errors import ConfigError
from espalier.report.build import build
from espalier.report.html import render_html
from espalier.report.printed import Printed, load_printed
from espalier.report.results import CorpusResult, RunResult
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
        ("points: [{name", "panels: [bleu]\n    points: [{name", "panels, points or measured: give one of the three"),
    ],
)
def test_a_figure_that_cannot_be_drawn_is_refused(
    write: Callable[[str], Path], pairs_text: str, old: str, new: str, said: str
) -> None:
    assert old in pairs_text
    with pytest.raises(ConfigError) as caught:
        load_printed(write(pairs_text.replace(old, new, 1)))
    assert said in str(caught.value)


# --- What is measured of corpora -------------------------------------------------------------------------------------

STEPS = {
    "10": {"chain": 5.5, "tree": 3.0, "sentences": 2.0},
    "2": {"chain": 1.5, "tree": 1.5, "sentences": 40.0},
    "3": {"chain": 2.0, "tree": 1.75, "sentences": 7.0},
}


def _corpora(**steps: object) -> list[CorpusResult]:
    return [CorpusResult(key=key, profile="nursery", measures={"depths": found}) for key, found in steps.items()]  # type: ignore[dict-item]


def test_what_corpora_measure_of_themselves_is_a_panel_each_and_numbers_stand_in_their_own_order(talk: Printed) -> None:
    (study,) = build(talk, [], corpora=[*_corpora(posts=STEPS), CorpusResult(key="other", profile="nursery")]).studies
    (panel,) = study.panels
    assert panel.lines == (
        ("a chain", ((2.0, Reading(1.5)), (3.0, Reading(2.0)), (10.0, Reading(5.5)))),
        ("a tree", ((2.0, Reading(1.5)), (3.0, Reading(1.75)), (10.0, Reading(3.0)))),
    )
    assert (panel.heading, panel.rows) == ("posts · nursery", ((2.0, 40.0), (3.0, 7.0), (10.0, 2.0)))
    assert (study.sampled, study.missing) == (False, ())


def test_a_column_that_is_not_measured_everywhere_leaves_a_gap_and_one_point_draws_no_line(talk: Printed) -> None:
    some = {"1": {"chain": 1.0}, "2": {"chain": 1.5, "tree": 1.5}}
    (panel,) = build(talk, [], corpora=_corpora(posts=some)).studies[0].panels
    assert [name for name, _ in panel.lines] == ["a chain"]
    assert panel.rows == ((1.0, None), (2.0, None))
    assert build(talk, [], corpora=_corpora(posts={})).studies[0].panels == ()


def test_a_measured_figure_is_drawn_and_its_numbers_can_be_read(talk: Printed) -> None:
    html = render_html(build(talk, [], corpora=_corpora(posts=STEPS, more=STEPS)))
    figure = html[html.index('id="figure-1"') :]
    assert "95 %" not in figure[: figure.index("</figcaption>")]
    assert "a chain</text>" in figure and "posts · nursery</text>" in figure
    words = " ".join(re.sub(r"<[^>]*>", " ", figure[figure.index("its numbers") :]).split())
    assert "posts · nursery words a chain a tree mean of 2 1.500 1.500 40 3 2.000 1.750 7 10 5.500 3.000 2" in words


def test_a_figure_of_which_nothing_is_measured_says_so(talk: Printed) -> None:
    assert "Nothing has been measured for it yet." in render_html(build(talk, []))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("setting: words\n", "setting: words\n    runs: [tree]\n", "a measured figure has none"),
        ("setting: words\n", "setting: words\n    panels: [bleu]\n", "give one of the three"),
        ("    measured: {name", "    points: [{name: B, metrics: {a: b, c: d}}]\n    #", "runs: a figure needs some"),
        ("lines: {chain: a chain, tree: a tree}", "lines: {}", "figures.0.measured.lines"),
    ],
)
def test_a_measured_figure_that_cannot_be_is_refused(
    write: Callable[[str], Path], talk_text: str, old: str, new: str, said: str
) -> None:
    assert old in talk_text
    with pytest.raises(ConfigError) as caught:
        load_printed(write(talk_text.replace(old, new, 1)))
    assert said in str(caught.value)
