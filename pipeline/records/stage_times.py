"""Expected durations of stages, and the remaining time of a run of stages."""

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from heapq import heappop, heappush
from pathlib import Path
from statistics import mean
from typing import Any, TypeVar

from espalier.io.errors import ArtifactError
from espalier.io.files import Finite, read_json, write_json
from pipeline import layout

Stage = TypeVar("Stage", bound=Hashable)

#: Seconds of an hour.
HOUR = 3600.0
#: Bytes of a gigabyte.
GIGABYTE = 1e9
#: Default seconds of a stage without known times, and of a training.
SECONDS, TRAINING_SECONDS = 5.0, 45.0
#: Times of each stage measured by `espalier repro`, in seconds, and expected by a rehearsal, in hours.
RUNS, REHEARSAL = layout.measured("repro", "stages"), layout.scratch("rehearsal.json")
#: The contents of these files: numbers by stage; empty after a run with all outputs from the cache.
Times = dict[str, Finite]


@dataclass(frozen=True)
class Known:
    """The seconds of a stage, and their source: "earlier run", whatever its settings were, or "rehearsal"."""

    seconds: float
    source: str


class StageTimes:
    """Known durations of the stages of the profile in the present folder.

    Attributes:
        now: seconds of the stages of this run.
    """

    def __init__(self, *, strict: bool = False) -> None:
        """Read the times.

        Args:
            strict: whether a damaged file is an error; else it is ignored.

        Raises:
            ArtifactError: a file is damaged.
        """
        self.strict = strict
        self.runs: dict[str, float] = self._read(RUNS, Times)
        self.rehearsed = {stage: HOUR * hours for stage, hours in self._read(REHEARSAL, Times).items()}
        self.now: dict[str, float] = {}
        self._expected: dict[str, float] = {}

    def known(self, stage: str) -> Known | None:
        """The seconds of a stage in an earlier run, else in the last rehearsal, else None."""
        if stage in self.runs:
            return Known(self.runs[stage], "earlier run")
        name, _, key = stage.partition("@")
        if seconds := _seconds_of(self._read(layout.measured(name, key), dict[str, Any])):
            return Known(max(seconds), "earlier run")
        if stage in self.rehearsed:
            return Known(self.rehearsed[stage], "rehearsal")
        return None

    def expected(self, stage: str) -> float:
        """The known seconds of a stage, else the mean over its kind in earlier runs, else a constant.

        Durations are read once, so that ended stages do not change expectations.
        """
        if stage not in self._expected:
            self._expected[stage] = self._known_or_usual(stage)
        return self._expected[stage]

    def _known_or_usual(self, stage: str) -> float:
        if (known := self.known(stage)) is not None:
            return known.seconds
        kind = stage.partition("@")[0]
        alike = [seconds for name, seconds in self.runs.items() if name.partition("@")[0] == kind]
        return mean(alike) if alike else TRAINING_SECONDS if kind.startswith("train") else SECONDS

    def record(self, stage: str, seconds: float) -> None:
        """Record the seconds of a stage in this run."""
        self.now[stage] = seconds

    def save(self) -> None:
        """Save the seconds of this run, replacing those of earlier runs."""
        write_json(RUNS, {stage: round(seconds, 2) for stage, seconds in {**self.runs, **self.now}.items()})

    def left(self, needs: Mapping[str, Collection[str]], jobs: int) -> float:
        """Seconds until all stages are done, at the pace of this run.

        Args:
            needs: unfinished stages, each with the stages that it waits for.
        """
        before = sum(map(self.expected, self.now))
        pace = sum(self.now.values()) / before if before else 1.0
        return pace * makespan(needs, jobs, self.expected)

    def _read(self, file: Path, kind: object) -> dict[str, Any]:
        try:
            return dict(read_json(file, kind)) if file.is_file() else {}
        except ArtifactError:
            if self.strict:
                raise
            return {}


def chain_seconds(needs: Mapping[Stage, Collection[Stage]], seconds: Callable[[Stage], float]) -> dict[Stage, float]:
    """The length in seconds of the longest chain that begins with each stage."""
    costs = {stage: seconds(stage) for stage in needs}
    lengths = dict(costs)
    for stage in reversed(list(TopologicalSorter(needs).static_order())):
        for before in needs[stage]:
            lengths[before] = max(lengths[before], costs[before] + lengths[stage])
    return lengths


def makespan(needs: Mapping[Stage, Collection[Stage]], jobs: int, seconds: Callable[[Stage], float]) -> float:
    """The seconds that `run_all` of `pipeline.graph.scheduler` takes, if each stage takes what is expected.

    Args:
        needs: stages, each with those that it needs; those that are no keys have ended.
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


def spoken(seconds: float) -> str:
    """A duration in words: "about 4 min", "under 1 min", "about 2 h 10 min"."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return "under 1 min"
    return f"about {minutes} min" if minutes < 100 else f"about {minutes // 60} h {minutes % 60} min"


def _seconds_of(measurement: Mapping[str, Any]) -> list[float]:
    """The seconds of a stage; for a training, of each seed.

    A resumed training only has the seconds since it was resumed; its seeds have all seconds.
    """
    seeds = measurement.get("seeds")
    every = [measurement, *(seeds.values() if isinstance(seeds, Mapping) else ())]
    found = [each.get("seconds") for each in every if isinstance(each, Mapping)]
    return [float(seconds) for seconds in found if isinstance(seconds, int | float)]
