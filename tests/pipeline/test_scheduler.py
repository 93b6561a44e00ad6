"""Stages in the order of their dependencies, several at once."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor

from pipeline.graph.scheduler import run_all
from pipeline.records.stage_times import chain_seconds, makespan

CHAIN = {"b1": set[str](), "b2": {"b1"}, "b3": {"b2"}}
GRAPH = {"parse": set[str](), "train@a": {"parse"}, **CHAIN, "train@b": set[str]()}


def seconds(stage: str) -> float:
    return 10 if stage.startswith("train") else 1


def ended(stage: str) -> Future[str]:
    future = Future[str]()
    future.set_result(stage)
    return future


def test_a_chain_with_a_training_starts_before_a_chain_of_more_stages() -> None:
    lengths = {"parse": 11, "train@a": 10, "b1": 3, "b2": 2, "b3": 1, "train@b": 10}
    assert chain_seconds(GRAPH, seconds) == lengths
    started = list(run_all(GRAPH, ended, 1, seconds))
    assert started[0] == "parse" and {*started[1:3]} == {"train@a", "train@b"} and started[3:] == [*CHAIN]


def test_no_more_than_so_many_stages_run_at_once_and_none_before_its_needs() -> None:
    done, most = list[str](), 0

    def run(stage: str) -> str:
        nonlocal most
        assert GRAPH[stage] <= {*done}
        most = max(most, len(running) + 1)
        running.add(stage)
        time.sleep(0.01)
        running.remove(stage)
        return stage

    running = set[str]()
    with ThreadPoolExecutor(8) as pool:
        for stage in run_all(GRAPH, lambda stage: pool.submit(run, stage), 2):
            done.append(stage)
    assert sorted(done) == sorted(GRAPH) and most == 2


def test_what_may_not_start_any_more_and_what_needs_it_are_left_out() -> None:
    assert list(run_all(CHAIN, lambda stage: None if stage == "b2" else ended(stage), 2)) == ["b1", "b3"]


def test_the_seconds_of_all_stages_are_those_of_the_schedule() -> None:
    # One at once: 1 + 10 + 10 + 3. Two: parse and train@b begin, then train@a; the chain follows at 10. Many: 11.
    assert [makespan(GRAPH, jobs, seconds) for jobs in (1, 2, 9)] == [24, 13, 11]
    assert makespan({}, 2, seconds) == 0
    # What has ended is not waited for.
    assert makespan({"train@a": {"parse"}}, 1, seconds) == 10
