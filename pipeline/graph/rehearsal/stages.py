"""Running stages in their order, without DVC."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter

from espalier.cli.failures import NO_MEMORY
from pipeline.graph.stage_graph import Stage


@dataclass(frozen=True)
class Outcome:
    """How a stage ended.

    Attributes:
        failure: its one line; None if it succeeded.
        memory: the peak of its process, in bytes; 0 if the system ended it.
        asked: the shape that did not fit in memory, if that is why it failed.
        fits: the largest shape that fits then; 0 if none does.
        note: what else is to be said.
        unrun: it was not run, for a stage that it needs failed.
    """

    stage: Stage
    failure: str | None
    seconds: float = 0.0
    memory: int = 0
    asked: int | None = None
    fits: int | None = None
    note: str = ""
    unrun: bool = False

    @property
    def out_of_memory(self) -> bool:
        """Whether it failed because memory ran out."""
        return self.failure is not None and NO_MEMORY in self.failure


def shrink(
    run: Callable[[], Outcome], shape: int | None, set_shape: Callable[[int], None], *, least: int = 1
) -> Outcome:
    """Run a stage; if memory runs out, halve its shape until it fits.

    Args:
        run: runs the stage as it is set now.
        shape: a batch or a beam; None if the stage has none.
        set_shape: changes it.
        least: the smallest shape that is tried.

    Returns:
        The first outcome. If memory ran out, `fits` is the largest shape that fits, of those tried, and `memory` is
        what the last of them took.
    """
    first = outcome = run()
    if not first.out_of_memory or shape is None:
        return first
    fits = shape
    while outcome.out_of_memory and fits // 2 >= least:
        fits //= 2
        set_shape(fits)
        outcome = run()
    return replace(first, memory=outcome.memory, asked=shape, fits=0 if outcome.failure else fits)


def run_all(
    graph: Mapping[Stage, set[Stage]], run: Callable[[Stage], Outcome], jobs: int, failed: Iterable[Stage] = ()
) -> Iterator[Outcome]:
    """Run stages, several at once; outcomes as they end. What needs a stage that failed is not run, and fails too.

    Args:
        failed: stages that others need, and that have failed already.
    """
    sorter, running, missing = TopologicalSorter(graph), set[Future[Outcome]](), {stage: stage for stage in failed}
    sorter.prepare()
    ready: list[Stage] = []
    with ThreadPoolExecutor(jobs) as pool:
        while sorter.is_active():
            ready += sorter.get_ready()
            while ready and len(running) < jobs:
                stage = ready.pop(0)
                if stage in missing:
                    sorter.done(stage)
                    ready += sorter.get_ready()
                    continue
                lacking = next((missing[need] for need in sorted(graph.get(stage, ())) if need in missing), None)
                if lacking is not None:
                    missing[stage] = lacking
                    sorter.done(stage)
                    yield Outcome(stage, f"not run, for {' '.join(lacking)} failed", unrun=True)
                    ready += sorter.get_ready()
                else:
                    running.add(pool.submit(run, stage))
            if not running:
                continue
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for outcome in (future.result() for future in done):
                if outcome.failure is not None and not outcome.fits:
                    missing[outcome.stage] = outcome.stage
                sorter.done(outcome.stage)
                yield outcome
