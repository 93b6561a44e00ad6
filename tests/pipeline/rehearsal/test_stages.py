"""Stages without DVC: their order, what follows from a failure, and what is tried when memory runs out."""

from __future__ import annotations

import pytest

from espalier.cli.failures import NO_MEMORY
from pipeline.graph.rehearsal.stages import Outcome, run_all, shrink
from pipeline.graph.stage_graph import Stage, graph_of
from pipeline.layout import PROFILES
from pipeline.params.read import load_params

yaml = pytest.importorskip("yaml")


@pytest.mark.parametrize("profile", PROFILES)
def test_the_stages_are_those_of_dvc_yaml(profile: str) -> None:
    """Of every profile, for dvc.yaml's `foreach` over its params.yaml."""
    folder = PROFILES[profile]
    params = yaml.safe_load((folder / "params.yaml").read_text(encoding="utf-8"))
    expected = set()
    for stage, value in yaml.safe_load((folder / "dvc.yaml").read_text(encoding="utf-8"))["stages"].items():
        if "foreach" not in value:  # the page over all papers, which a rehearsal does not need
            continue
        entries = params
        for name in value["foreach"].removeprefix("${").removesuffix("}").split("."):
            entries = entries[name]
        expected |= {(stage, key) for key in entries}
    graph = graph_of(load_params(folder / "params.yaml"))
    assert graph.keys() == expected
    assert set().union(*graph.values()) <= expected


def test_a_guided_run_needs_its_guide_and_a_tuned_model_its_start() -> None:
    graph = graph_of(load_params(PROFILES["paper"] / "params.yaml"))
    assert graph["decode", "guig_se_tg"] == {
        ("linearize", "guig"), ("train", "guig_tg"), ("decode", "guig_se"), ("download", "wordnet")
    }  # fmt: skip
    assert graph["train", "sonnet"] == {("linearize", "sonnet"), ("train", "sonnet_pretrained")}
    judged = {("linearize", "sonnet"), ("train", "judge_sonnet")}
    assert graph["decode", "sonnet_tuned"] == judged | {("train", "sonnet")} and graph["baselines", "sonnet"] == judged
    assert graph["baselines", "songnet_released"] == {
        ("linearize", "songnet_released"), ("linearize", "songci_authors"), ("train", "judge_authors"),
        ("download", "couyun"), ("download", "songnet_released"),
    }  # fmt: skip
    assert graph["linearize", "brown"] == {("filter", "brown"), ("linearize", "sonnets_others")}
    assert graph["parse", "weibo"] == {("download", "weibo_lccc"), ("download", "weibo_cdial"), ("train_parser", "ltp")}
    assert graph["score", "guig_tg"] == {("decode", "guig_tg"), ("annotate", "guig_tg"), ("download", "wordnet")}


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

    outcomes = {outcome.stage: outcome for outcome in run_all(graph, run, 2, failed=[("z", "0")])}
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
