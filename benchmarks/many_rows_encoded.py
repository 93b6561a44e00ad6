"""Time and memory of encoding a corpus and of an epoch of batches, by the number of pairs.

`python benchmarks/many_rows_encoded.py [PAIRS] [--record]` makes corpora of 10,000 pairs, ten times as many, and so on
up to PAIRS, each with trees of its own. Every stage has a process of its own. Mapped files are told apart from the rest
of its memory, as other processes share them and the system takes them back where memory is short.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
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
from pipeline import layout
from pipeline.records.artifacts import read_train
from pipeline.records.ready import make_ready

SCRATCH: Final = Path(__file__).resolve().parents[1] / ".scratch" / "many_rows_encoded"
FIRST: Final = 10_000
CORPUS: Final = "a corpus"
DEV: Final = 200
#: Sentences by their trees, with a place for a word of their own: each tree of a corpus is another.
SHAPES: Final = (
    "(S (NP (DT the) (JJ {0}) (NN {1})) (VP (VBZ {2}) (PP (IN near) (NP (DT the) (NN {3})))) (. .))",
    "(S (NP (PRP she)) (VP (VBD {0}) (NP (DT a) (NN {1})) (PP (IN in) (NP (DT the) (JJ {2}) (NN {3})))) (. .))",
    "(SBARQ (WHADVP (WRB how)) (SQ (VBP do) (NP (PRP you)) (VP (VB {0}) (NP (DT a) (NN {1}) (NN {2})))) (. {3}))",
)
WORDS: Final = 4_000
PLAIN: Final = PairSettings(pieces=8_000, min_length=1, trees=False, both_directions=False)
TREES: Final = PairSettings(pieces=8_000, min_length=1, both_directions=False)


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


def corpus(count: int) -> None:
    """Write a corpus, and what its stages tell of it."""
    for split in SPLITS:
        with table_writer(layout.corpus("made") / f"{split}.parquet", schema_of(Pair)) as write:
            for chunk in in_chunks(pairs(count if split == "train" else DEV, split), 10_000):
                write(chunk_of(chunk, Pair))
    write_json(layout.details("corpora", "made"), {"rows": {}, "quarantined": {}, "origins": {}})
    write_json(layout.details("parsing", "made"), {"parser": "made", "quarantined": {}})


def linearize(key: str, settings: PairSettings) -> None:
    """Encode the corpus."""
    params: Any = SimpleNamespace(corpora={"made": SimpleNamespace(language="en")})
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


STAGES: Final[dict[str, Callable[[], object]]] = {
    "linearize, texts": lambda: linearize("texts", PLAIN),
    "linearize, trees": lambda: linearize("trees", TREES),
    "the first epoch": epoch,
    "another epoch": epoch,
}


def measured(*command: str) -> tuple[float, int, int]:
    """Run a stage in a process of its own: its CPU seconds, its largest memory, and the files mapped at its end.

    Both are in bytes. The process tells them, as what the system tells of its end begins with the memory of this one.
    """
    child = subprocess.Popen([sys.executable, __file__, *command], stdout=subprocess.DEVNULL)
    _, child.returncode, usage = os.wait4(child.pid, 0)
    if child.returncode:
        sys.exit(f"{' '.join(command)} failed")
    peak, mapped = map(int, Path("memory").read_text(encoding="utf-8").split())
    return usage.ru_utime + usage.ru_stime, peak, mapped


def table(sizes: Sequence[int]) -> BenchmarkTable:
    """Measure all stages for corpora of these sizes."""
    rows, first = dict[str, tuple[float | None, ...]](), dict[str, tuple[int, int]]()
    for size in sizes:
        shutil.rmtree(SCRATCH, ignore_errors=True)
        SCRATCH.mkdir(parents=True)
        os.chdir(SCRATCH)
        measured(CORPUS, str(size))
        for stage in STAGES:
            seconds, peak, mapped = measured(stage)
            pairs_before, peak_before = first.setdefault(stage, (size, peak))
            more = (peak - peak_before) / (size - pairs_before) if size > pairs_before else None
            rows[f"{stage}, {size:,} pairs"] = (
                seconds, 1e6 * seconds / size, peak / 2**20, mapped / 2**20, more,
            )  # fmt: skip
            print(stage, size, rows[f"{stage}, {size:,} pairs"], file=sys.stderr, flush=True)
    os.chdir(SCRATCH.parent)  # libraries are loaded from where a process stands
    shutil.rmtree(SCRATCH)
    columns = (
        Column(heading="CPU seconds", digits=1), Column(heading="µs a pair", digits=0),
        Column(heading="largest memory, MiB", digits=0), Column(heading="mapped files in it, MiB", digits=0),
        Column(heading=f"bytes for each pair over {sizes[0]:,}", digits=0),
    )  # fmt: skip
    return BenchmarkTable(title="Pairs with trees as ids, and an epoch of batches", columns=columns, rows=rows)


def stage_alone(name: str, *size: str) -> None:
    """What the process of one stage does."""
    kept: object = None
    if name == CORPUS:
        corpus(int(size[0]))
    else:
        kept = STAGES[name]()
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    found = dict(re.findall(r"^(\w+):\s+(\d+) kB$", status, re.MULTILINE))
    Path("memory").write_text(f"{int(found['VmHWM']) * 1024} {int(found['RssFile']) * 1024}", encoding="utf-8")
    del kept


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in (CORPUS, *STAGES):
        stage_alone(*sys.argv[1:])
    else:
        (most,) = arguments(1_000_000)
        with Record(__file__) as record:
            record.add(table([size for size in (FIRST * 10**n for n in range(9)) if size <= most]))
