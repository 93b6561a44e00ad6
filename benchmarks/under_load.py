"""Files of many lines, long chats, and a model that many share: seconds and memory, on one thread.

    python benchmarks/under_load.py [LINES] [LINES_OF_A_MODEL] [CALLS] [--record]

The models are those of the nursery. A command runs as a process whose standard output is a pipe; the first line is
timed when its reader sees it.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
from measuring import Record, arguments

import espalier
from espalier.inference.system import System
from espalier.report.benchmarks import BenchmarkTable, Column

ROOT = Path(__file__).resolve().parents[1]
CHARACTERS = "春江花月夜灯照山水风云雪明空寒"
SHARED = 60  # calls by threads and processes
CHAT = 500
FORMATS = ("2。", "3。", "2，2。")
Row = tuple[float, ...]

_system: System


def texts(count: int) -> Sequence[str]:
    """Lines of a format, mostly without sense."""
    rng = random.Random(1)
    return ["".join(rng.choices(CHARACTERS, k=2)) + "。" for _ in range(count)]


def command(lines: Sequence[str], *given: str) -> Row:
    """Seconds until the first line of output and until the end, megabytes at the most, and lines of output."""
    with TemporaryDirectory() as folder:
        asked = Path(folder) / "lines.txt"
        asked.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        start = time.perf_counter()
        with asked.open("rb") as stdin:
            process = subprocess.Popen(
                [sys.executable, str(ROOT / "pipeline"), *[str(asked) if each == "FILE" else each for each in given]],
                cwd=ROOT, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        assert process.stdout is not None
        first, count = 0.0, 0
        for _ in process.stdout:
            first, count = first or time.perf_counter() - start, count + 1
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return first, time.perf_counter() - start, used.ru_maxrss / 1024, count


def files_table(many: int, of_a_model: int) -> BenchmarkTable:
    """Commands of files of a tenth of the lines, and of all."""
    check = ("check", "--format", FORMATS[0], "--json", "--file", "FILE")
    generate = ("generate", "--profile", "nursery", "--json", "-q", "--file", "FILE")
    rows: dict[str, Row] = {}
    for size in (many // 10, many):
        rows[f"`check`, {size:,} lines"] = command(texts(size), *check)
    for size in (of_a_model // 10, of_a_model):
        rows[f"`generate`, {size:,} lines"] = command([FORMATS[0]] * size, *generate)
    for size in (CHAT // 10, CHAT):
        rows[f"`chat`, {size:,} lines"] = command(
            ["你喜欢吃什么？"] * size, "chat", "--profile", "nursery", "-q", "--beam", "2"
        )
    columns = (
        Column(heading="seconds to the first line", digits=1), Column(heading="seconds", digits=1),
        Column(heading="MB at the most", digits=0), Column(heading="lines of output", digits=0),
    )  # fmt: skip
    return BenchmarkTable(title="", columns=columns, rows=rows)


def answers(place: int) -> list[str]:
    """The text of a call that differs by its place."""
    return [poem.text for poem in _system.generate([FORMATS[place % 3]], seed=place)]


def opened(folder: str | None) -> None:
    """Load the model in a process that has none."""
    global _system
    if folder is not None:
        _system = espalier.load(folder, device="cpu")


def shared_table() -> BenchmarkTable:
    """The answers of threads and processes, against those of one thread."""
    folder = str(ROOT / "data/models/songnet")
    opened(folder)
    start = time.perf_counter()
    alone = [answers(place) for place in range(SHARED)]
    rows: dict[str, tuple[float | str, ...]] = {"alone": (SHARED, SHARED, time.perf_counter() - start)}
    fork, spawn = (multiprocessing.get_context(way) for way in ("fork", "spawn"))
    ways: dict[str, Callable[[], Executor]] = {
        "4 threads": lambda: ThreadPoolExecutor(4),
        "2 processes, forked": lambda: ProcessPoolExecutor(2, fork),
        "2 processes, spawned": lambda: ProcessPoolExecutor(2, spawn, opened, (folder,)),
    }
    for name, way in ways.items():
        start = time.perf_counter()
        with way() as pool:
            found = [*pool.map(answers, range(SHARED))]
        equal = sum(one == other for one, other in zip(found, alone, strict=True))
        rows[name] = (SHARED, equal, time.perf_counter() - start)
    columns = (
        Column(heading="calls", digits=0),
        Column(heading="equal answers", digits=0),
        Column(heading="seconds", digits=1),
    )
    return BenchmarkTable(title="", columns=columns, rows=rows)


def calls_table(calls: int) -> BenchmarkTable:
    """Megabytes of the process after some of the calls, and after all."""
    process, rows = psutil.Process(), dict[str, Row]()
    start = time.perf_counter()
    for call in range(1, calls + 1):
        answers(call)
        if call in (calls // 10, calls // 2, calls):
            rows[f"{call:,} calls"] = (time.perf_counter() - start, process.memory_info().rss / 2**20)
    columns = (Column(heading="seconds", digits=1), Column(heading="MB", digits=0))
    return BenchmarkTable(title="", columns=columns, rows=rows)


def main() -> None:
    """Print the tables."""
    many, of_a_model, calls = arguments(100_000, 2_000, 3_000)
    with Record(__file__) as record:
        record.add(shared_table())
        record.add(calls_table(calls))
        record.add(files_table(many, of_a_model))


if __name__ == "__main__":
    main()
