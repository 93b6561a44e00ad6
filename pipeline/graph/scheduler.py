"""Running stages in the order of their dependencies, several at once."""

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from graphlib import TopologicalSorter
from typing import TypeVar

from pipeline.records.stage_times import chain_seconds

Stage = TypeVar("Stage", bound=Hashable)
Outcome = TypeVar("Outcome")


def run_all(
    needs: Mapping[Stage, Collection[Stage]],
    start: Callable[[Stage], Future[Outcome] | None],
    jobs: int,
    seconds: Callable[[Stage], float] = lambda stage: 1.0,
) -> Iterator[Outcome]:
    """Start each stage when the stages that it needs have ended, and yield the outcomes as they end.

    Of the stages that can start, the one with the longest chain of stages behind it starts first.

    Args:
        needs: stages, each with those among them that it needs.
        start: function that starts a stage, or returns None for a stage that must not run any more.
        seconds: function from a stage to its expected duration in seconds.
    """
    sorter, heights = TopologicalSorter(needs), chain_seconds(needs, seconds)
    sorter.prepare()
    ready, running = list[Stage](), dict[Future[Outcome], Stage]()
    while sorter.is_active():
        ready = sorted([*ready, *sorter.get_ready()], key=heights.__getitem__)
        while ready and len(running) < jobs:
            stage = ready.pop()
            if (future := start(stage)) is None:
                sorter.done(stage)
            else:
                running[future] = stage
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            sorter.done(running.pop(future))
            yield future.result()
