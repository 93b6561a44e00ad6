"""Corpora of many rows through the stages: processor time and memory, each stage and size in a process of its own.

    python benchmarks/many_rows.py [LARGEST] [--record]

The corpora have 10,000 rows and ten times as many up to the largest. Rows are pairs of random words in a file of tabs;
every tenth repeats an earlier pair. The parser is the trivial one, with trees.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import yaml
from measuring import Record, arguments

from espalier.io.files import write_json
from espalier.report.benchmarks import BenchmarkTable, Column
from espalier.syntax.parsers.registry import MODEL, save_parser
from pipeline import layout

ROOT = Path(__file__).resolve().parents[1]
SMALLEST: Final = 10_000
CORPUS: Final = "many"


class Stage(NamedTuple):
    """A row of the table for each size.

    Attributes:
        code: what its process runs in the folder of the project.
    """

    name: str
    code: str


def stage(module: str) -> str:
    """The code of a stage of the pipeline."""
    return f"from pipeline.stages import {module}; {module}.run({CORPUS!r})"


#: In the order in which they run; a stage reads what those above it wrote.
STAGES: Final = (
    Stage("imports alone", "import pipeline.stages.parse, pipeline.stages.filter"),
    Stage("read and parse", stage("parse")),
    Stage("filter and split", stage("filter")),
)


def pairs(count: int) -> Iterator[str]:
    """Lines of a source and a target of six to ten words, of 20,000."""
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 8))) for _ in range(20_000)]
    earlier = list[str]()
    for number in range(count):
        if number % 10 == 9:
            yield draw.choice(earlier)
            continue
        sides = (" ".join(draw.choices(words, k=draw.randint(6, 10))) for _ in range(2))
        line = "\t".join(sides)
        if len(earlier) < 10_000:
            earlier.append(line)
        yield line


def project(folder: Path, count: int) -> None:
    """A project with one corpus of so many rows, and its parser."""
    os.chdir(folder)
    (folder / "pipeline").symlink_to(ROOT / "pipeline")
    file = layout.raw("many") / "file" / "pairs.tsv"
    file.parent.mkdir(parents=True)
    with file.open("w", encoding="utf-8") as lines:
        lines.writelines(f"{line}\n" for line in pairs(count))
    parser = layout.parser("trivial")
    write_json(parser / MODEL / "trivial.json", {"tags": {}, "tag": "NN", "root": "S", "label": "NP"})
    save_parser(parser, "trivial", None, {})
    named = {"language": "en", "backend": "trivial", "model": "made-up", "treebank": "none"}
    corpus = {"language": "en", "reader": "tsv", "options": {}, "shelf": "many", "also_1": "none", "also_2": "none"}
    rules = {"without_identical": True, "deduplicate": True, "min_words": 2}
    split = {"kind": "group", "seed": 1, "dev": count // 100, "test": count // 100}
    tree = {
        "root": ".", "versions": layout.VERSIONS.as_posix(), "catalogue": layout.CATALOGUE.as_posix(),
        "profile": "nursery", "plugins": [],
        "sources": {"published": {}, "local": {"file": {"shelf": "many", "file": "pairs.tsv"}}},
        "parsers": {"trivial": {**named, "seed": 1, "options": {}, "training": {}}},
        "corpora": {CORPUS: {**corpus, "parser": "trivial", "filters": rules, "split": split}},
        "datasets": {"linearize": {}, "canonicalize": {}},
        "presets": {}, "models": {}, "runs": {}, "baselines": {}, "annotations": {}, "reports": [],
    }  # fmt: skip
    (folder / "params.yaml").write_text(yaml.safe_dump(tree), encoding="utf-8")


def measured(code: str) -> tuple[float, float]:
    """Processor seconds of a process that runs the code, and megabytes at the most."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    environment = {**os.environ, "PYTHONPATH": paths, "ESPALIER_WORKERS": "1", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{code}: it ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def table(sizes: Sequence[int]) -> BenchmarkTable:
    """Each stage on each size."""
    rows: dict[str, tuple[float, ...]] = {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            project(Path(name), size)
            for each in STAGES:
                seconds, megabytes = measured(each.code)
                rows[f"{each.name}, {size:,} rows"] = (seconds, 1e6 * seconds / size, megabytes)
                print(f"{each.name}, {size:,} rows: {seconds:.1f} s, {megabytes:.0f} MB", file=sys.stderr, flush=True)
            os.chdir(ROOT)
    columns = (
        Column(heading="processor seconds", digits=1),
        Column(heading="microseconds a row", digits=0),
        Column(heading="MB at the most", digits=0),
    )
    return BenchmarkTable(title="", columns=columns, rows=rows)


def main() -> None:
    """Print the table."""
    (largest,) = arguments(1_000_000)
    sizes = [size for power in range(9) if (size := SMALLEST * 10**power) <= largest]
    with Record(__file__) as record:
        record.add(table(sizes))


if __name__ == "__main__":
    main()
