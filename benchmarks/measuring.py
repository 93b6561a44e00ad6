"""Rates in alternating rounds, and their tables: printed, and with `--record` kept in `benchmarks/results/<name>.json`.

`espalier pages` writes `benchmarks/README.md` from what is kept.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import Any

from torch.profiler import ProfilerActivity, profile

from espalier.io.files import atomic_file
from espalier.report.benchmarks import BenchmarkResult, BenchmarkTable, Column, Spread

sys.path.append(str(Path(__file__).resolve().parents[1]))  # `pipeline` is in the clone, and not installed
from pipeline.records.measured import hardware

RECORD = "--record"
#: The distributions whose versions are kept with what was measured.
COMPARED = ("torch", "transformers", "apted", "benepar", "ctranslate2", "edist", "llguidance", "outlines-core",
            "rouge-score", "rouge-score-rs", "spacy", "x-ted", "x-transformers", "xgrammar")  # fmt: skip


def words() -> list[str]:
    """The words on the command line, without `RECORD`."""
    return [word for word in sys.argv[1:] if word != RECORD]


def arguments(*defaults: int) -> list[int]:
    """The numbers on the command line; the last defaults for those that are not there."""
    given = words()
    if wrong := [value for value in given if not value.isdecimal()]:
        usage = f"python {sys.argv[0]}{' [NUMBER]' * len(defaults)} [{RECORD}]"
        sys.exit(f"{wrong[0]!r} is not a number; usage: {usage}")
    return [*map(int, given), *defaults[len(given) :]]


def folder(sources: str) -> Path:
    """The folder on the command line, which has these sources."""
    if len(given := words()) != 1:
        sys.exit(f"python {sys.argv[0]} MIRROR: the folder of the sources {sources}")
    return Path(given[0])


def mirror_folder() -> Path:
    """The folder of the published files that ESPALIER_MIRROR names."""
    folder = os.environ.get("ESPALIER_MIRROR")
    if not folder:
        sys.exit("ESPALIER_MIRROR is not set; set it to the folder of the published files")
    return Path(folder)


def can_compile() -> bool:
    """Whether `torch.compile` finds a C++ compiler; a note says so if not."""
    if shutil.which(os.environ.get("CXX", "clang++" if sys.platform == "darwin" else "g++")):
        return True
    print("no C++ compiler: what torch.compile compiles is left out")
    return False


def rounds(contestants: dict[str, Callable[[], float]], count: int, warm_up: int = 2) -> dict[str, list[float]]:
    """Run all in turn, A B C A B C ..., so that a machine that slows down slows all; each returns tokens a second."""
    found: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(warm_up + count):
        for name, run in contestants.items():
            rate = run()
            if number >= warm_up:
                found[name].append(rate)
    return found


def timed(run: Callable[[], int], clock: Callable[[], float] = time.perf_counter) -> Callable[[], float]:
    """Tokens a second of a callable that returns how many tokens it handled."""

    def rate() -> float:
        started = clock()
        tokens = run()
        return tokens / (clock() - started)

    return rate


#: PyTorch's names of matrix products.
PRODUCTS = ("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "mkldnn::_linear_pointwise")


def only(operators: Collection[str], rate: Callable[[], float]) -> Callable[[], float]:
    """The rate of a run if all but some of PyTorch's operators took no time, Python neither.

    Their share is that of a run under PyTorch's profiler. What the profiler adds to the others makes the share too
    small, and the rate too high.
    """

    def limit() -> float:
        with profile(activities=[ProfilerActivity.CPU]) as profiled:
            started = time.perf_counter()
            rate()
            seconds = time.perf_counter() - started
        found = sum(event.self_cpu_time_total for event in profiled.key_averages() if event.key in operators)
        if not found:
            sys.exit(f"PyTorch ran none of {', '.join(operators)}")
        return rate() * seconds * 1e6 / found

    return limit


def spread(values: Sequence[float], low: float = 0.0, high: float = 1.0) -> Spread:
    """The median, and two quantiles: the least and the largest unless others are named."""
    if (low, high) == (0.0, 1.0):
        return Spread(statistics.median(values), min(values), max(values))
    quarters = statistics.quantiles(values, n=100, method="inclusive")
    return Spread(statistics.median(values), quarters[round(100 * low) - 1], quarters[round(100 * high) - 1])


def ratios(found: Mapping[str, Sequence[float]], ours: str) -> dict[str, Spread | str]:
    """By name, how many times its rate ours is, round by round; nothing for ours itself."""
    return {
        name: "" if name == ours else spread([mine / its for mine, its in zip(found[ours], rates, strict=True)])
        for name, rates in found.items()
    }


def rate_table(title: str, found: Mapping[str, Sequence[float]], ours: str, unit: str = "tokens/s") -> BenchmarkTable:
    """Median rates, and the ratios of ours to each."""
    columns = (Column(heading=unit, digits=0), Column(heading="ours / this (min to max)"))
    more = ratios(found, ours)
    rows = {name: (statistics.median(rates), more[name]) for name, rates in found.items()}
    return BenchmarkTable(title=title, columns=columns, rows=rows)


def step_table(
    title: str, seconds: Mapping[str, Sequence[float]], base: str, parameters: Mapping[str, int] | None = None
) -> BenchmarkTable:
    """Median milliseconds of a step, and the middle half of the ratios to the steps of `base`."""
    columns = [Column(heading="ms a step", digits=1), Column(heading=f"/ {base} (middle half)")]
    rows: dict[str, list[Spread | float | str | None]] = {}
    for name, taken in seconds.items():
        quotients = [its / other for its, other in zip(taken, seconds[base], strict=True)]
        rows[name] = [1000 * statistics.median(taken), spread(quotients, 0.25, 0.75)]
    if parameters is not None:
        columns.insert(0, Column(heading="parameters", digits=0))
        rows = {name: [parameters[name], *cells] for name, cells in rows.items()}
    return BenchmarkTable(title=title, columns=columns, rows=rows)


class Record:
    """Prints each table; at the end keeps them all if the command line says so: `with Record(__file__) as record`."""

    def __init__(self, file: str, given: str | None = None) -> None:
        """`given` is what the command to be kept is given; what this run was given if None."""
        self.name, self.given = Path(file).stem, given
        self.tables: list[BenchmarkTable] = []

    def add(self, table: BenchmarkTable) -> None:
        """Print a table."""
        print(table.markdown(), "\n", flush=True)
        self.tables.append(table)

    def __enter__(self) -> Record:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None or RECORD not in sys.argv:
            return
        given = words() if self.given is None else [self.given]
        command = " ".join(["python", f"benchmarks/{self.name}.py", *given])
        result = BenchmarkResult(command=command, machine=_machine(), tables=self.tables)
        path = Path(__file__).parent / "results" / f"{self.name}.json"
        path.parent.mkdir(exist_ok=True)
        with atomic_file(path) as part:
            part.write_text(result.model_dump_json(indent=1) + "\n", encoding="utf-8")


def _machine() -> dict[str, Any]:
    """Hardware, threads, how memory is allocated if that is set, and the versions of what is compared and installed."""
    import torch

    found: dict[str, Any] = {"hardware": hardware(), "cores": os.cpu_count(), "threads": torch.get_num_threads()}
    found |= {name: os.environ[name] for name in ("GLIBC_TUNABLES", "OPENBLAS_CORETYPE") if name in os.environ}
    for name in COMPARED:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
