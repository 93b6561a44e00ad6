"""Corpora of many rows through the stages, and an epoch of batches: processor time and memory by the number of rows.

    python benchmarks/many_rows.py [LARGEST] [--record]

The corpora have 10,000 rows and ten times as many up to the largest. Rows to be parsed are pairs of random words in a
file of tabs; every tenth repeats an earlier pair, and the parser is the trivial one, with trees. Pairs to be encoded
have trees of their own.

Every stage has a process of its own, in which mapped files are told apart: other processes share them, and the system
takes them back where memory is short.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import numpy as np
import yaml
from measuring import Record, arguments

from espalier.corpora.record_tables import chunk_of, schema_of
from espalier.corpora.records import Pair
from espalier.corpora.splits import SPLITS
from espalier.corpora.stored import in_chunks
from espalier.datasets.batch import batch_plan
from espalier.datasets.pairs.data import PairView
from espalier.datasets.pairs.encode import PairEncoding, PairSettings
from espalier.io.chunks import table_writer
from espalier.io.files import write_json
from espalier.report.benchmarks import BenchmarkTable, Column
from espalier.syntax.parsers.registry import MODEL, save_parser
from pipeline import layout
from pipeline.records.artifacts import read_train
from pipeline.records.ready import make_ready

ROOT: Final = Path(__file__).resolve().parents[1]
SMALLEST: Final = 10_000
DEV: Final = 200
#: Sentences by their trees, with a place for a word of their own: each tree of a corpus is another.
SHAPES: Final = (
    "(S (NP (DT the) (JJ {0}) (NN {1})) (VP (VBZ {2}) (PP (IN near) (NP (DT the) (NN {3})))) (. .))",
    "(S (NP (PRP she)) (VP (VBD {0}) (NP (DT a) (NN {1})) (PP (IN in) (NP (DT the) (JJ {2}) (NN {3})))) (. .))",
    "(SBARQ (WHADVP (WRB how)) (SQ (VBP do) (NP (PRP you)) (VP (VB {0}) (NP (DT a) (NN {1}) (NN {2})))) (. {3}))",
)
WORDS: Final = 4_000
#: What a process tells of its memory: the most, and the files mapped at its end, in kB.
TOLD: Final = r"""
import re
found = dict(re.findall(r"(\w+):\s+(\d+) kB", open("/proc/self/status").read()))
open("memory", "w").write(f"{found['VmHWM']} {found['RssFile']}")
"""


class Series(NamedTuple):
    """Stages of one corpus.

    Attributes:
        unit: what a row is.
        corpus: code that makes one of so many rows, in a folder of its own.
        stages: code by name, in the order in which they run; a stage reads what those above it wrote.
    """

    unit: str
    corpus: str
    stages: dict[str, str]


def own(call: str) -> str:
    """The code of a function of this script. What it returns stays mapped."""
    return f"import many_rows; kept = many_rows.{call}"


def stage(module: str) -> str:
    """The code of a stage of the pipeline."""
    return f"from pipeline.stages import {module}; {module}.run('many')"


SERIES: Final = (
    Series(
        "rows",
        own("project({})"),
        {
            "imports alone": "import pipeline.stages.parse, pipeline.stages.filter",
            "read and parse": stage("parse"),
            "filter and split": stage("filter"),
        },
    ),
    Series(
        "pairs",
        own("filtered({})"),
        {
            "linearize, texts": own("linearize('texts', trees=False)"),
            "linearize, trees": own("linearize('trees', trees=True)"),
            "the first epoch": own("epoch()"),
            "another epoch": own("epoch()"),
        },
    ),
)


def lines(count: int) -> Iterator[str]:
    """A source and a target of six to ten words, of 20,000."""
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


def project(
    count: int,
    made: Callable[[int], Iterable[str]] | None = None,
    *,
    language: str = "en",
    reader: str = "tsv",
    name: str = "pairs.tsv",
    parsed: bool = True,
) -> None:
    """A project with one corpus of so many rows, and its parser.

    Args:
        made: the lines of so many rows; `lines` if None.
        name: the name of the file that the reader reads.
        parsed: whether the parser parses the corpus.
    """
    Path("pipeline").symlink_to(ROOT / "pipeline")
    file = layout.raw("many") / "file" / name
    file.parent.mkdir(parents=True)
    with file.open("w", encoding="utf-8") as raw:
        raw.writelines(f"{line}\n" for line in (made or lines)(count))
    parser = layout.parser("trivial")
    write_json(parser / MODEL / "trivial.json", {"tags": {}, "tag": "NN", "root": "S", "label": "NP"})
    save_parser(parser, "trivial", None, {})
    named = {"language": language, "backend": "trivial", "model": "made-up", "treebank": "none"}
    corpus = {
        "language": language,
        "reader": reader,
        "options": {},
        "shelf": "many",
        "also_1": "none",
        "also_2": "none",
    }
    rules = {"without_identical": True, "deduplicate": True, "min_words": 2}
    split = {"kind": "group", "seed": 1, "dev": count // 100, "test": count // 100}
    tree = {
        "root": ".", "versions": layout.VERSIONS.as_posix(), "catalogue": layout.CATALOGUE.as_posix(),
        "profile": "nursery", "plugins": [],
        "sources": {"published": {}, "local": {"file": {"shelf": "many", "file": name}}},
        "parsers": {"trivial": {**named, "seed": 1, "options": {}, "training": {}}},
        "corpora": {"many": {**corpus, "parser": "trivial" if parsed else "none", "filters": rules, "split": split}},
        "datasets": {"linearize": {}, "canonicalize": {}},
        "presets": {}, "models": {}, "runs": {}, "baselines": {}, "annotations": {}, "reports": [],
    }  # fmt: skip
    Path("params.yaml").write_text(yaml.safe_dump(tree), encoding="utf-8")


def pairs(count: int, split: str) -> Iterator[Pair]:
    """Made-up pairs with trees; the same each time."""
    numbers = random.Random(split)
    words = [f"{first}{last}" for first in ("ba", "do", "ki", "lu") for last in range(WORDS // 4)]

    def side() -> tuple[str, str]:
        tree = numbers.choice(SHAPES).format(*(words[int(numbers.random() * WORDS)] for _ in range(4)))
        return tree, " ".join(re.findall(r"([^ ()]+)\)", tree))

    for number in range(count):
        (one, source), (other, target) = side(), side()
        yield Pair(id=f"{split}-{number:08}", origin="made", language="en", source=source, source_words=source,
                   source_tree=one, target=target, target_words=target, target_tree=other)  # fmt: skip


def filtered(count: int, made: Callable[[int, str], Iterable[Pair]] | None = None) -> None:
    """Write a corpus of such pairs, or of `pairs` if None, and what its stages tell of it."""
    for split in SPLITS:
        with table_writer(layout.corpus("made") / f"{split}.parquet", schema_of(Pair)) as write:
            for chunk in in_chunks((made or pairs)(count if split == "train" else DEV, split), 10_000):
                write(chunk_of(chunk, Pair))
    write_json(layout.details("corpora", "made"), {"rows": {}, "quarantined": {}, "origins": {}})
    write_json(layout.details("parsing", "made"), {"parser": "made", "quarantined": {}})


def linearize(key: str, *, trees: bool) -> None:
    """Encode the corpus."""
    params: Any = SimpleNamespace(corpora={"made": SimpleNamespace(language="en")})
    settings = PairSettings(pieces=8_000, min_length=1, trees=trees, both_directions=False)
    dataset: Any = SimpleNamespace(
        encoding="pairs", corpus="made", vocab_from="none", pieces_from="none", settings=settings
    )
    make_ready(key, dataset, params)


def epoch() -> object:
    """Make the batches of an epoch as a training does, without a model. Returns what stays mapped."""
    data, view = read_train("trees", PairEncoding()), PairView(("source", "target_tree"), boundary_ids=True)
    data.longest(view)
    lengths = data.sizes(view)
    for index, rows in enumerate(batch_plan(lengths, budget=8_000, seed=1, epoch=0)):
        data.batch(rows, view, np.random.default_rng([1, 0, index]), grain=data.GRAIN)
    return data


def measured(code: str) -> tuple[float, float, float]:
    """Processor seconds of a process that runs the code, MiB at the most, and MiB of files mapped at its end."""
    paths = os.pathsep.join(str(ROOT / folder) for folder in (".", "src", "benchmarks"))
    environment = {**os.environ, "PYTHONPATH": paths, "ESPALIER_WORKERS": "1", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen([sys.executable, "-c", code + TOLD], env=environment, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{code}: it ended with {process.returncode}")
    peak, mapped = (int(size) / 1024 for size in Path("memory").read_text(encoding="utf-8").split())
    return used.ru_utime + used.ru_stime, peak, mapped


def table(largest: int) -> BenchmarkTable:
    """Each stage on each size."""
    rows = dict[str, tuple[float | None, ...]]()
    (ROOT / layout.scratch()).mkdir(exist_ok=True)
    for series in SERIES:
        first = dict[str, float]()
        for size in (size for power in range(9) if (size := SMALLEST * 10**power) <= largest):
            with tempfile.TemporaryDirectory(dir=ROOT / layout.scratch()) as name:  # a disk, to map files of
                os.chdir(name)
                measured(series.corpus.format(size))
                for each, code in series.stages.items():
                    seconds, peak, mapped = measured(code)
                    more = max(0.0, peak - first.setdefault(each, peak))
                    growth = 2**20 * more / (size - SMALLEST) if size > SMALLEST else None
                    row = f"{each}, {size:,} {series.unit}"
                    rows[row] = seconds, 1e6 * seconds / size, peak, mapped, growth
                    print(row, rows[row], file=sys.stderr, flush=True)
                os.chdir(ROOT)  # libraries are loaded from where a process stands
    columns = (
        Column(heading="processor seconds", digits=1), Column(heading="µs a row", digits=0),
        Column(heading="largest memory, MiB", digits=0), Column(heading="mapped files in it, MiB", digits=0),
        Column(heading=f"bytes for each row over {SMALLEST:,}", digits=0),
    )  # fmt: skip
    return BenchmarkTable(title="", columns=columns, rows=rows)


if __name__ == "__main__":
    (most,) = arguments(1_000_000)
    with Record(__file__) as record:
        record.add(table(most))
