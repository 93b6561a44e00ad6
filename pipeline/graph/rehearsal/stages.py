"""Running the stages of a rehearsal, without DVC."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

from espalier.cli.failures import NO_MEMORY
from pipeline.graph.scheduler import run_all
from pipeline.graph.stage_graph import Stage


@dataclass(frozen=True)
class Outcome:
    """The result of a stage.

    Attributes:
        failure: the error in one line; None on success.
        memory: peak memory of its process, in bytes; 0 if the system killed it.
        asked: the shape that did not fit into memory, if this is the reason for the failure.
        fits: the largest shape that fits; 0 if none does.
        note: further remarks.
        unrun: whether it was not run because a stage that it needs failed.
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
        run: function that runs the stage with its present settings.
        shape: a batch or a beam; None if the stage has none.

    Returns:
        The first outcome. If memory ran out, `fits` is the largest tried shape that fits, and `memory` is the memory of
        the last attempt.
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


def run_possible(
    needs: Mapping[Stage, set[Stage]], run: Callable[[Stage], Outcome], jobs: int, failed: Iterable[Stage] = ()
) -> Iterator[Outcome]:
    """Run stages, several at once, and yield outcomes as they end. Stages that need a failed stage are not run.

    Args:
        needs: stages, each with the stages that it needs. Needed stages that are not among them have been run.
        failed: those of them that have failed.
    """
    missing = {stage: stage for stage in failed}
    with ThreadPoolExecutor(jobs) as pool:

        def start(stage: Stage) -> Future[Outcome]:
            lacking = next((missing[need] for need in sorted(needs[stage]) if need in missing), None)
            if lacking is None:
                return pool.submit(run, stage)
            missing[stage] = lacking
            unrun = Future[Outcome]()
            unrun.set_result(Outcome(stage, f"not run, for {' '.join(lacking)} failed", unrun=True))
            return unrun

        for outcome in run_all({stage: before & needs.keys() for stage, before in needs.items()}, start, jobs):
            if outcome.failure is not None and not outcome.fits:
                missing.setdefault(outcome.stage, outcome.stage)
            yield outcome
