"""The command `rehearse`: run every stage of a profile on few rows and steps, and estimate the whole profile."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import yaml
from rich.console import Console
from rich.table import Table

from espalier.cli.failures import NO_MEMORY
from espalier.cli.progress import say
from espalier.io.errors import ConfigError, EspalierError
from espalier.io.files import atomic_file, write_json
from pipeline import layout
from pipeline.graph.rehearsal.cut import CPU_TOKENS, Raw, cut_params, replace_parser, shape_of, with_shape
from pipeline.graph.rehearsal.estimate import Estimate, estimates
from pipeline.graph.rehearsal.process import run_stage
from pipeline.graph.rehearsal.stages import Outcome, run_possible, shrink
from pipeline.graph.rehearsal.synthetic_sources import write_synthetic
from pipeline.graph.stage_graph import Stage, definitions, needs_of
from pipeline.layout import NONE, PROFILES, ROOT
from pipeline.params.entries import Params
from pipeline.params.read import load_params, read_yaml
from pipeline.records.machine import jobs as usual_jobs
from pipeline.records.stage_times import GIGABYTE, REHEARSAL

#: The smallest batch that is tried, in tokens.
LEAST_TOKENS = 32


@dataclass
class Rehearsal:
    """The reduced project of a profile in a separate folder.

    Attributes:
        folder: folder of the profile in it.
        raw: the content of its params.yaml.
        environment: environment variables of its stages.
        synthetic: unavailable sources, whose files are synthetic.
        replaced: unavailable parsers, each with its replacement.
    """

    folder: Path
    raw: Raw
    environment: dict[str, str]
    synthetic: list[str] = field(default_factory=list)
    replaced: dict[str, str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self) -> None:
        """Write params.yaml."""
        with atomic_file(self.folder / layout.PARAMS) as part:
            part.write_text(yaml.safe_dump(self.raw, allow_unicode=True, sort_keys=False), encoding="utf-8")

    def needs(self) -> dict[Stage, set[Stage]]:
        """The stages of its params.yaml, which is validated, with those that each needs; without the site."""
        load_params(self.folder / layout.PARAMS)
        return {stage: needed for stage, needed in needs_of(definitions(self.folder)).items() if stage[1]}

    def is_elsewhere(self, stage: Stage) -> bool:
        """Whether a stage only fetches a source or a published parser."""
        name, key = stage
        return name in ("download", "copy") or (name == "train_parser" and self.raw["parsers"][key]["treebank"] == NONE)

    def without_parser(self, outcome: Outcome) -> Outcome:
        """If a published parser is unavailable, replace it by a trained one, if there is one."""
        name, key = outcome.stage
        if name != "train_parser" or outcome.failure is None:
            return outcome
        other = replace_parser(self.raw, key)
        if other is None:
            return outcome
        self.replaced[key] = other
        self.write()
        return replace(outcome, failure=None, note=f"replaced by {other}: {outcome.failure}")

    def run(self, stage: Stage) -> Outcome:
        """Run a stage; if it runs out of memory, run it again with smaller and smaller shapes."""
        name, key = stage
        if name == "download":
            return self._download(stage)

        def set_shape(shape: int) -> None:
            with self.lock:
                with_shape(self.raw, name, key, shape)
                self.write()

        least = LEAST_TOKENS if name == "train" else 1
        return shrink(
            lambda: run_stage(stage, self.folder, self.environment),
            shape_of(self.raw, name, key),
            set_shape,
            least=least,
        )

    def _download(self, stage: Stage) -> Outcome:
        """Fetch a source, or write synthetic rows in its format."""
        key = stage[1]
        outcome = run_stage(stage, self.folder, self.environment)
        shelf = self.raw["sources"]["published"][key]["shelf"]
        if outcome.failure is None or not write_synthetic(key, self.folder / layout.raw(shelf) / key):
            return outcome
        self.synthetic.append(key)
        return replace(outcome, failure=None, note="synthetic, for it is out of reach")


def rehearse(profile: str, *, folder: Path | None, offline: bool, jobs: int | None) -> None:
    """Rehearse a profile: run each stage on 64 records, with three training steps and two decoded records.

    Prints one line per stage, then the estimated cost of the whole profile on this machine.

    Args:
        folder: folder of the rehearsal, which is kept; None for a temporary folder.
        offline: take sources only from the mirror, and parsers only from the hub's cache.
        jobs: number of stages at once; None for one per core (at most four) on a CPU, and one on a GPU.

    Raises:
        EspalierError: a stage failed.
    """
    params = load_params(PROFILES[profile] / layout.PARAMS)
    gpu = _has_gpu()
    count = jobs or (1 if gpu else usual_jobs())
    outcomes: list[Outcome] = []
    with _folder(folder) as place:
        rehearsal = _prepared(profile, params, place, offline=offline, max_tokens=None if gpu else CPU_TOKENS)
        elsewhere = {stage: set[Stage]() for stage in rehearsal.needs() if rehearsal.is_elsewhere(stage)}
        for outcome in run_possible(elsewhere, rehearsal.run, count):
            outcomes.append(rehearsal.without_parser(outcome))
            say(_line(outcomes[-1]))
        failed = {outcome.stage for outcome in outcomes if outcome.failure is not None}
        rest = {stage: needs for stage, needs in rehearsal.needs().items() if not rehearsal.is_elsewhere(stage)}
        for number, outcome in enumerate(run_possible(rest, rehearsal.run, count, failed), 1):
            outcomes.append(outcome)
            say(f"[{number}/{len(rest)}] {_line(outcome)}")
        made = {outcome.stage: outcome for outcome in outcomes if outcome.failure is None or outcome.fits}
        rows = list(estimates(params, rehearsal.folder, made))
        hours = {"@".join(row.stage): row.hours for row in rows if row.hours is not None}
        write_json(PROFILES[profile] / REHEARSAL, hours)
        _print_table(profile, rows, made, rehearsal)
    _fail_if_any(profile, outcomes)


def _prepared(profile: str, params: Params, place: Path, *, offline: bool, max_tokens: int | None) -> Rehearsal:
    """The project of a rehearsal: the reduced params.yaml, the catalogue and the versions."""
    folder = place / PROFILES[profile].relative_to(ROOT)
    folder.mkdir(parents=True, exist_ok=True)
    raw = cut_params(read_yaml(PROFILES[profile] / layout.PARAMS), params, max_tokens=max_tokens)
    for local in raw["sources"]["local"].values():
        local["file"] = str((PROFILES[profile] / local["file"]).resolve())
    catalogue = read_yaml(ROOT / layout.CATALOGUE)
    for source in catalogue["sources"].values() if offline else ():
        for file in source.get("files", ()):
            file["urls"] = []
        if "git" in source:
            source["git"]["url"] = "file:///offline"
    (place / layout.CATALOGUE).parent.mkdir(parents=True)
    (place / layout.CATALOGUE).write_text(yaml.safe_dump(catalogue, allow_unicode=True), encoding="utf-8")
    shutil.copyfile(ROOT / layout.VERSIONS, place / layout.VERSIONS)
    # A compiler takes longer than the three steps from which the hours are extrapolated.
    environment = {
        "ESPALIER_COMPILE": "0",
        "ESPALIER_WORKERS": "1",
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
    }
    if (mirror := layout.mirror()) is not None:
        environment["ESPALIER_MIRROR"] = str(mirror.resolve())
    if offline:
        environment["HF_HUB_OFFLINE"] = "1"
    rehearsal = Rehearsal(folder, raw, environment)
    rehearsal.write()
    return rehearsal


@contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    """Yield the given folder, or a temporary one."""
    if given is None:
        with tempfile.TemporaryDirectory(prefix="espalier-rehearsal-") as folder:
            yield Path(folder)
        return
    if given.exists() and any(given.iterdir()):
        raise ConfigError("is not empty", where=given, remedy="name a new folder")
    given.mkdir(parents=True, exist_ok=True)
    yield given.resolve()


def _has_gpu() -> bool:
    """Whether stages will compute on a GPU. A separate process checks, to keep torch out of measured memory."""
    if os.environ.get("ESPALIER_DEVICE") == "cpu":
        return False
    look = "import sys, torch; sys.exit(0 if torch.cuda.is_available() else 1)"
    return subprocess.run([sys.executable, "-c", look], check=False).returncode == 0


def _line(outcome: Outcome) -> str:
    """The message at the end of a stage."""
    name, numbers = " ".join(outcome.stage), f"{outcome.seconds:.0f} s, {outcome.memory / GIGABYTE:.1f} GB"
    if outcome.failure is None:
        return f"{name}: {numbers}" + (f" ({outcome.note})" if outcome.note else "")
    return f"{name}: FAILED: {_reason(outcome)}"


def _reason(outcome: Outcome) -> str:
    """The reason why a stage failed; if memory ran out, with the largest shape that fits."""
    if outcome.asked is None:
        return str(outcome.failure)
    what = "batches of {:,} tokens" if outcome.stage[0] == "train" else "a beam of {:,}"
    fits = f"the largest that fits is {outcome.fits:,}" if outcome.fits else "no smaller one that was tried fits"
    return f"{NO_MEMORY} for {what.format(outcome.asked)}; {fits}"


def _print_table(profile: str, rows: list[Estimate], outcomes: Mapping[Stage, Outcome], rehearsal: Rehearsal) -> None:
    """Print the estimate for each long stage of the whole profile, and the replaced sources and parsers."""
    table = Table(title=f"{profile}: the whole, as expected on this machine")
    table.add_column("stage")
    for name in ("rehearsed, s", "GB", "speed", "whole, GB", "whole, hours"):
        table.add_column(name, justify="right")
    for row in rows:
        outcome = outcomes[row.stage]
        table.add_row(
            " ".join(row.stage),
            f"{outcome.seconds:.0f}",
            f"{outcome.memory / GIGABYTE:.1f}",
            f"{row.rate:,.1f} {row.unit}",
            "" if row.memory is None else f"{row.memory / GIGABYTE:.1f}",
            "?" if row.hours is None else f"{row.hours:,.1f}",
        )
    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(table)
    known = [row.hours for row in rows if row.hours is not None]
    unknown = f", without {left} whose rows are not known (?)" if (left := len(rows) - len(known)) else ""
    console.print(
        f"{sum(known):,.0f} hours in all{unknown}, one stage after another; a stage that may stop early counts in full."
    )
    if rehearsal.synthetic:
        console.print(f"Out of reach, so synthetic rows in their formats: {', '.join(sorted(rehearsal.synthetic))}.")
    for parser, other in rehearsal.replaced.items():
        console.print(f"Out of reach: parser {parser}; {other} did its work.")


def _fail_if_any(profile: str, outcomes: list[Outcome]) -> None:
    failures = [outcome for outcome in outcomes if outcome.failure is not None]
    if failures:
        named = "; ".join(f"{' '.join(outcome.stage)}: {_reason(outcome)}" for outcome in failures if not outcome.unrun)
        unrun = sum(outcome.unrun for outcome in failures)
        after = f"; {unrun} more stages that need them were not run" if unrun else ""
        raise EspalierError(f"{named}{after}", where=f"rehearse {profile}")
