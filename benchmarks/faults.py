"""The trials of `tests/faults` as a table: how many of each kind ended with one clear line, well, or badly.

    python benchmarks/faults.py [NUMBER] [KIND ...] [--record]

At most NUMBER trials of each kind, by default all, which takes hours. If kinds are named, the others keep the counts
that were recorded before.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from measuring import Record, words

from espalier.report.benchmarks import BenchmarkTable, Column, load_benchmark

ROOT = Path(__file__).resolve().parents[1]
#: What a trial can end as, and the headings.
ENDS = {
    "line": "one clear line",
    "well": "ended well",
    "traceback": "traceback",
    "never": "never ended",
    "wrong": "wrong",
}


def tried(most: str, kinds: Sequence[str]) -> dict[str, Mapping[str, int]]:
    """How the trials of each kind ended."""
    test = f"{ROOT}/tests/faults/test_faults.py::test_no_traceback_nothing_wrong_and_an_end"
    chosen = [f"{test}[{kind}]" for kind in kinds] or [test]
    with TemporaryDirectory() as folder:
        counts = Path(folder) / "counts.json"
        environment = {**os.environ, "FAULTS": most, "FAULTS_COUNTS": str(counts), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:xdist", *chosen]
        subprocess.run(command, cwd=ROOT, env=environment, check=False)
        found: dict[str, Mapping[str, int]] = json.loads(counts.read_text(encoding="utf-8"))
        return found


def main() -> None:
    """Print the table."""
    given = words()
    most = given.pop(0) if given and given[0].isdecimal() else "all"
    counts, path = tried(most, given), Path(__file__).parent / "results" / "faults.json"
    rows = dict(load_benchmark(path).tables[0].rows) if given and path.exists() else {}
    for kind, ends in counts.items():
        rows[kind] = (sum(ends.values()), *(ends.get(end, 0) for end in ENDS))
    columns = tuple(Column(heading=heading, digits=0) for heading in ("tried", *ENDS.values()))
    with Record(__file__, "[NUMBER] [KIND ...]") as record:
        record.add(BenchmarkTable(title="", names="trial", columns=columns, rows=rows))


if __name__ == "__main__":
    main()
