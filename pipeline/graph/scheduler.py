"""Running stages in the order of their dependencies, several at once."""

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from graphlib import TopologicalSorter
from heapq import heappop, heappush
from typing import TypeVar

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


def chain_seconds(needs: Mapping[Stage, Collection[Stage]], seconds: Callable[[Stage], float]) -> dict[Stage, float]:
    """The length in seconds of the longest chain that begins with each stage."""
    costs = {stage: seconds(stage) for stage in needs}
    lengths = dict(costs)
    for stage in reversed(list(TopologicalSorter(needs).static_order())):
        for before in needs[stage]:
            lengths[before] = max(lengths[before], costs[before] + lengths[stage])
    return lengths


def makespan(needs: Mapping[Stage, Collection[Stage]], jobs: int, seconds: Callable[[Stage], float]) -> float:
    """The seconds that `run_all` takes for these stages, if each takes what is expected.

    Args:
        needs: as for `run_all`; stages that are no keys have ended.
    """
    needs = {stage: [each for each in before if each in needs] for stage, before in needs.items()}
    sorter, heights = TopologicalSorter(needs), chain_seconds(needs, seconds)
    sorter.prepare()
    ready, running, now = list[Stage](), list[tuple[float, int, Stage]](), 0.0
    while sorter.is_active():
        ready = sorted([*ready, *sorter.get_ready()], key=heights.__getitem__)
        while ready and len(running) < jobs:
            stage = ready.pop()
            heappush(running, (now + seconds(stage), len(ready), stage))
        now, _, stage = heappop(running)
        sorter.done(stage)
    return now
