"""The time that a run of stages still needs, from what each of them took the last time."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from statistics import mean

from espalier.io.errors import ArtifactError
from espalier.io.files import Numbers, read_json, write_json

#: Seconds of a stage of which nothing is known, and of a training.
SECONDS, TRAINING_SECONDS = 5.0, 45.0


class Stopwatch:
    """The seconds of each stage: those of earlier runs, from a file, and those of this one."""

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            self.earlier: dict[str, float] = dict(read_json(file, Numbers)) if file.exists() else {}
        except ArtifactError:  # it only makes estimates better
            self.earlier = {}
        self.now: dict[str, float] = {}

    def expected(self, stage: str) -> float:
        """The seconds of a stage in earlier runs: its own, else the mean of its kind, else a constant."""
        if stage in self.earlier:
            return self.earlier[stage]
        kind = stage.partition("@")[0]
        alike = [seconds for name, seconds in self.earlier.items() if name.partition("@")[0] == kind]
        return mean(alike) if alike else TRAINING_SECONDS if kind.startswith("train") else SECONDS

    def record(self, stage: str, seconds: float) -> None:
        """What a stage took."""
        self.now[stage] = seconds

    def save(self) -> None:
        """Write the seconds of this run over those of earlier ones."""
        write_json(self.file, {stage: round(seconds, 2) for stage, seconds in {**self.earlier, **self.now}.items()})

    def left(self, needs: Mapping[str, Collection[str]], jobs: int) -> float:
        """Seconds until all stages are done, at the pace of this run.

        Args:
            needs: the stages that are not done, each with those that it waits for.
            jobs: how many run at once.
        """
        seconds = {stage: self.expected(stage) for stage in needs}
        before = sum(map(self.expected, self.now))
        pace = sum(self.now.values()) / before if before else 1.0
        ends: dict[str, float] = {}

        def end(stage: str) -> float:
            if stage not in ends:
                start = max((end(each) for each in needs[stage] if each in needs), default=0.0)
                ends[stage] = start + seconds[stage]
            return ends[stage]

        longest = max(map(end, needs), default=0.0)
        return pace * max(longest, sum(seconds.values()) / jobs)


def spoken(seconds: float) -> str:
    """ "about 4 min", "under 1 min", "about 2 h 10 min"."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return "under 1 min"
    return f"about {minutes} min" if minutes < 100 else f"about {minutes // 60} h {minutes % 60} min"
