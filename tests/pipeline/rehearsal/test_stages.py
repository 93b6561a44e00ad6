"""Stages without DVC: what follows from a failure, and what is tried when memory runs out."""

from __future__ import annotations

from espalier.cli.failures import NO_MEMORY
from pipeline.graph.rehearsal.stages import Outcome, run_possible, shrink
from pipeline.graph.stage_graph import Stage


def test_what_needs_a_failed_stage_is_not_run_and_the_rest_is() -> None:
    graph: dict[Stage, set[Stage]] = {
        ("a", "1"): set(),
        ("b", "1"): {("a", "1")},
        ("c", "1"): {("b", "1")},
        ("b", "2"): set(),
        ("d", "1"): {("z", "0")},
    }
    ran = []

    def run(stage: Stage) -> Outcome:
        ran.append(stage)
        return Outcome(stage, "broken" if stage == ("a", "1") else None)

    outcomes = {outcome.stage: outcome for outcome in run_possible(graph, run, 2, failed=[("z", "0")])}
    assert sorted(ran) == [("a", "1"), ("b", "2")]
    assert {stage: outcome.failure for stage, outcome in outcomes.items()} == {
        ("a", "1"): "broken",
        ("b", "1"): "not run, for a 1 failed",
        ("c", "1"): "not run, for a 1 failed",
        ("b", "2"): None,
        ("d", "1"): "not run, for z 0 failed",
    }


def shrunk(fitting: int, shape: int | None, least: int = 1) -> tuple[Outcome, list[int | None]]:
    """The outcome for a stage that fits in memory up to a shape, and the shapes that were tried."""
    now, tried = [shape], list[int | None]()

    def run() -> Outcome:
        tried.append(now[0])
        fits = now[0] is not None and now[0] <= fitting
        return Outcome(("train", "m"), None if fits else f"{NO_MEMORY}; less", memory=now[0] or 0)

    return shrink(run, shape, lambda smaller: now.__setitem__(0, smaller), least=least), tried


def test_a_shape_is_halved_until_it_fits() -> None:
    outcome, tried = shrunk(fitting=300, shape=1024)
    assert tried == [1024, 512, 256]
    assert (outcome.failure, outcome.asked, outcome.fits) == (f"{NO_MEMORY}; less", 1024, 256)
    assert outcome.memory == 256  # of the run that fits


def test_the_least_shape_may_not_fit_either() -> None:
    outcome, tried = shrunk(fitting=10, shape=128, least=32)
    assert tried == [128, 64, 32]
    assert (outcome.asked, outcome.fits) == (128, 0)


def test_a_stage_without_a_shape_and_one_that_fits_are_run_once() -> None:
    assert shrunk(fitting=0, shape=None)[1] == [None]
    outcome, tried = shrunk(fitting=99, shape=99)
    assert (tried, outcome.failure, outcome.asked) == ([99], None, None)
