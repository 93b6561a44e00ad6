"""How long commands take that do little: seconds until they end, and of the processor, with the processes they start.

    python benchmarks/starts.py [rounds] [--record]

The nursery must be built (`make repro`): `espalier repro` finds nothing to do there. Each command is a process of its
own; files are in the system's memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from measuring import Record, arguments, spread

from espalier.report.benchmarks import BenchmarkTable, Column, Spread

ROOT = Path(__file__).resolve().parents[1]
ESPALIER = (sys.executable, str(ROOT / "pipeline"))
#: Commands, by what they do.
COMMANDS: dict[str, tuple[str, ...]] = {
    "Python": (sys.executable, "-c", "pass"),
    "`import torch`": (sys.executable, "-c", "import torch"),
    "`espalier --version`": (*ESPALIER, "--version"),
    "`espalier check`, a format": (*ESPALIER, "check", "--format", "5,5。", "江上一灯明，照我过长桥。"),
    "`espalier generate`, a released model": (*ESPALIER, "generate", "--format", "5,5。", "--model", "songci"),
    "`espalier repro`, nothing to do": (*ESPALIER, "repro"),
}


def taken(command: tuple[str, ...]) -> tuple[float, float]:
    """Seconds until a command ends, and of the processor."""
    before, started = os.times(), time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    seconds, after = time.perf_counter() - started, os.times()
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return seconds, used


def main() -> None:
    [count] = arguments(7)
    if not (ROOT / "reports" / "index.html").exists():
        sys.exit("the nursery is not built; make repro")
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
    for number in range(count + 1):
        for name, command in COMMANDS.items():
            pair = taken(command)
            if number:
                found[name].append(pair)
    rows: dict[str, tuple[Spread, Spread]] = {}
    for name, pairs in found.items():
        walls, used = zip(*pairs, strict=True)
        rows[name] = spread(walls), spread(used)
    columns = (Column(heading="seconds (min to max)"), Column(heading="of the processor"))
    with Record(__file__) as record:
        record.add(BenchmarkTable(title="", columns=columns, rows=rows))


if __name__ == "__main__":
    main()
