from __future__ import annotations

import math
from collections.abc import Callable

from espalier.judging.result import PREFIX
from espalier.report.build import build
from espalier.report.printed import Printed
from espalier.report.results import CorpusResult, Curve, Provenance, RunResult
from espalier.report.tables import Reading, margin, number
from tests.metrics.keys import INTEGRITY, LITERALS, PROSODY, VERSE, VERSE_DEV, VERSE_PARTS

MakeRun = Callable[..., RunResult]
FullSet = tuple[list[RunResult], list[Curve], list[CorpusResult]]


def _lines(printed: Printed, *runs: RunResult) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(line.kind, line.label, line.tags) for line in build(printed, runs).tables[0].lines]


def test_a_run_stands_under_its_row_with_profile_and_protocol(toy: Printed, a_run: MakeRun) -> None:
    assert _lines(toy, a_run()) == [
        ("paper", "Baseline", ()),
        ("paper", "System", ()),
        ("run", "toy_free", ("nursery", "free")),
        ("also", "as released", ()),
        ("absent", "toy_frame", ("not run",)),
    ]


def test_a_cell_holds_our_value_and_its_interval_and_the_papers_its_spread(toy: Printed, a_run: MakeRun) -> None:
    _, paper, ours, released, absent = build(toy, [a_run()]).tables[0].lines
    assert paper.cells == (Reading(12.5, spread=0.25), Reading(99.0))
    assert ours.cells == (Reading(21.25), Reading(98.5, 97.25, 99.5))
    assert released.cells == (Reading(None), Reading(99.125))
    assert [cell.value for cell in absent.cells] == [None, None]


def test_without_runs_every_place_says_not_run(toy: Printed) -> None:
    report = build(toy, [])
    assert report.missing == ("toy_free", "toy_frame")
    assert [line.kind for line in report.tables[0].lines] == ["paper", "paper", "absent", "absent"]
    assert (report.runs, report.poems, report.curves, report.computations) == ((), (), (), ())
    assert report.studies[0].missing == ("toy_k1", "toy_free", "toy_beam")


def test_a_run_that_no_table_names_is_listed_all_the_same(toy: Printed, a_run: MakeRun) -> None:
    report = build(toy, [a_run("another")])
    assert [run.key for run in report.runs] == ["another"]
    assert report.missing == ("toy_free", "toy_frame")


def test_runs_that_no_table_names_stand_in_a_table_of_their_own(toy: Printed, a_run: MakeRun) -> None:
    (table,) = build(toy, [a_run("another"), a_run()]).tables[1:]
    assert (table.id, [column.name for column in table.columns]) == ("other-runs", ["Test", "Ma-F1"])
    run, released = table.lines
    assert (run.kind, run.label, [cell.value for cell in run.cells]) == ("run", "another", [21.25, 98.5])
    assert (released.kind, released.label, released.cells[1].value) == ("also", "as released", 99.125)
    assert [table.id for table in build(toy, [a_run()]).tables] == ["table-1"]


def test_metrics_that_no_table_names_stand_in_a_table_of_their_own(toy: Printed, a_run: MakeRun) -> None:
    scores = {"ppl_released": 21.25, "rhyme": 40.5, "empty": None}
    metrics = {"scores": scores, "intervals": {"rhyme": [39.0, 42.0]}}
    (table,) = build(toy, [a_run(), a_run("toy_frame", metrics=metrics)]).tables[1:]
    assert (table.id, [column.name for column in table.columns]) == ("other-metrics", ["rhyme"])
    (line,) = table.lines  # the other run has no such metric, and no run has the empty one
    assert (line.label, line.cells) == ("toy_frame", (Reading(40.5, 39.0, 42.0),))


def test_profiles_are_ordered_and_never_merged(toy: Printed, a_run: MakeRun) -> None:
    runs = [a_run(profile="paper"), a_run("toy_frame"), a_run(profile="mine"), a_run(), a_run(profile="small")]
    kinds = [(label, tags[0]) for kind, label, tags in _lines(toy, *runs) if kind == "run"]
    assert kinds == [
        ("toy_free", "nursery"),
        ("toy_frame", "nursery"),
        ("toy_free", "small"),
        ("toy_free", "paper"),
        ("toy_free", "mine"),
    ]


def test_a_run_made_elsewhere_with_fewer_steps_is_marked_in_the_table(toy: Printed, a_run: MakeRun) -> None:
    made = Provenance(hardware="one GPU", hours=2.0, steps=4000, steps_asked=10000, commit="0123456789abcdef")
    assert ("run", "toy_free", ("nursery", "free", "made elsewhere", "4,000 of 10,000 steps")) in _lines(
        toy, a_run(provenance=made)
    )
    assert str(made) == "one GPU, 2.0 h, 4,000 of 10,000 steps, commit 0123456789"
    assert str(Provenance(hardware="one GPU", weights=False)) == "one GPU, without its weights"
    assert str(Provenance(hardware="a node", processes={"8": 900, "16": 100})) == "a node, 8 and 16 processes"
    assert str(Provenance(hardware="one GPU", compiled=4000, hours=2.0)) == "one GPU, compiled, 2.0 h"


def test_a_run_with_all_its_steps_is_marked_as_made_elsewhere_only(toy: Printed, a_run: MakeRun) -> None:
    made = Provenance(steps=10000, steps_asked=10000)
    assert ("run", "toy_free", ("nursery", "free", "made elsewhere")) in _lines(toy, a_run(provenance=made))


def test_a_metric_that_a_run_lacks_is_blank_and_says_why(toy: Printed, a_run: MakeRun) -> None:
    metrics = {"scores": {"ppl_released": None}, "undefined": {"ppl_released": "no likelihoods of a model"}}
    ours = next(line for line in build(toy, [a_run(metrics=metrics)]).tables[0].lines if line.kind == "run")
    assert [(cell.value, cell.why) for cell in ours.cells] == [
        (None, "no likelihoods of a model"),
        (None, "not computed"),
    ]


def test_a_score_that_is_not_finite_is_never_shown(toy: Printed, a_run: MakeRun) -> None:
    for value in (math.nan, math.inf):
        ours = build(toy, [a_run(metrics={"scores": {"ppl_released": value}})]).tables[0].lines[2]
        assert ours.cells[0].value is None


def test_a_signature_that_differs_names_its_runs(toy: Printed, a_run: MakeRun) -> None:
    other = a_run("toy_frame", metrics={"signatures": {"format_f1": "format|delta:1"}})
    found = [(entry.signature, entry.runs) for entry in build(toy, [a_run(), other]).computations]
    assert found == [("format|delta:0", ("toy_free (nursery)",)), ("format|delta:1", ("toy_frame (nursery)",))]
    assert build(toy, [a_run()]).computations[0].runs == ()


def test_only_names_in_use_are_explained(toy: Printed, a_run: MakeRun) -> None:
    report = build(toy, [a_run()])
    assert report.profiles == (("nursery", "grown here"),)
    assert report.protocols == (("free", "everything is predicted"), ("as released", "by the released code"))


def test_a_study_needs_two_settings_and_keeps_profiles_apart(toy: Printed, full_set: FullSet) -> None:
    runs, _, _ = full_set
    (study,) = build(toy, runs).studies
    (panel,) = study.panels
    assert [(profile, [x for x, _ in points]) for profile, points in panel.lines] == [("nursery", [1.0, 32.0])]
    assert [profile for profile, _ in panel.levels] == ["nursery"]
    assert build(toy, runs[:1]).studies[0].panels == ()


def test_a_table_of_corpora_reads_their_counts(songnet: Printed) -> None:
    corpus = CorpusResult(key="songci", profile="small", counts={"train": 19240, "dev": 851, "words": 5300})
    lines = build(songnet, [], corpora=[corpus]).tables[3].lines
    assert [(line.kind, line.label) for line in lines[:5]] == [
        ("paper", "SongCi"),
        ("run", "songci"),
        ("absent", "songci_authors"),
        ("absent", "songnet_released"),
        ("absent", "verse_zh"),
    ]
    assert [cell.value for cell in lines[1].cells] == [19240, 851, None, 5300]


def test_every_metric_that_songnet_reads_exists(songnet: Printed) -> None:
    corpora = {"train", "dev", "test", "words"}
    read = {reading.metric for column in songnet.columns.values() for reading in column.ours} - corpora
    read = {name for name in read if not name.startswith(PREFIX)}  # people's: test_judged.py
    assert read <= {*VERSE, *VERSE_DEV, *VERSE_PARTS, *INTEGRITY, *PROSODY, *LITERALS}


def test_numbers_keep_their_digits() -> None:
    assert [number(17.0, 2), number(19244, 0), number(None, 2)] == ["17.00", "19,244", "—"]
    assert margin(Reading(2.14, spread=0.1), 2) == "± 0.10"
    assert margin(Reading(98.5, 97.25, 99.5), 1) == "97.2–99.5"
    assert margin(Reading(98.5), 2) == ""
