"""Two large corpora through the stages before a training, by a hundredth of each.

    python benchmarks/hundredth.py [--record]

Rows are random words. Each stage has a process of its own, as in `many_rows.py`,
whose results say what memory grows by. The hours of parsers are by their speeds: benepar's by `parse_processes.py`,
that of Chinese words and trees by the rehearsal in `profiles/paper`.
"""

from __future__ import annotations

import os
import random
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from many_rows import ROOT, measured, stage
from measuring import Record, arguments

from espalier.corpora.records import Pair
from espalier.datasets.dialogue.encode import DialogueSettings
from espalier.io.files import read_json
from espalier.report.benchmarks import BenchmarkTable, Column, load_benchmark
from pipeline import layout
from pipeline.records.ready import make_ready
from pipeline.records.stage_times import HOUR, REHEARSAL

RESULTS: Final = ROOT / "benchmarks/results"
DAY: Final = 24
#: English words.
WORDS: Final = tuple(f"{first}{last}" for first in ("ba", "do", "ki", "lu", "me") for last in range(4_000))


def _words(draw: random.Random, least: int, most: int) -> str:
    return " ".join(draw.choices(WORDS, k=draw.randint(least, most)))


def _chinese(draw: random.Random, least: int, most: int) -> str:
    return " ".join(chr(0x4E00 + int(3_000 * draw.random() ** 2)) for _ in range(draw.randint(least, most)))


def paranmt(count: int) -> Iterator[str]:
    """Lines of two fields and one tab, as in ParaNMT-50M; twelve words to a side."""
    draw = random.Random(1)
    return (f"{_words(draw, 5, 19)}\t{_words(draw, 5, 19)}" for _ in range(count))


def weibo(count: int) -> Iterator[str]:
    """Lines of a post and a response, with a space between all characters; three responses to a post."""
    draw, post = random.Random(1), ""
    for number in range(count):
        post = post if number % 3 else _chinese(draw, 8, 32)
        yield f"{post}\t{_chinese(draw, 5, 25)}"


def replies(count: int, split: str) -> Iterator[Pair]:
    """Posts and replies as their parser leaves them."""
    draw = random.Random(split)
    for number in range(count):
        source, target = _chinese(draw, 5, 20), _chinese(draw, 3, 15)
        heads = " ".join(map(str, range(len(target.split()))))  # each word's is the word before it
        sides = {"source": source.replace(" ", ""), "target": target.replace(" ", "")}
        words = {"source_words": source, "target_words": target, "target_heads": heads}
        yield Pair(id=f"{split}-{number:08}", origin="made", language="zh", **sides, **words)


@dataclass(frozen=True)
class Corpus:
    """A corpus, and the code of its stages.

    Attributes:
        raw: code that makes a project of so many rows.
        parsed: code that makes a corpus of so many rows as a parser leaves them.
        encode: name and code of what encodes them.
        parser: the parser, and its sentences a second on a core.
    """

    title: str
    rows: int
    raw: str
    parsed: str
    encode: tuple[str, str]
    parser: tuple[str, float]


def corpora() -> tuple[Corpus, ...]:
    """The two corpora, with the speeds of their parsers."""
    parse = load_benchmark(RESULTS / "parse_processes.json").tables[0].rows["1 process"][0]
    pairs = read_json(ROOT / "profiles/small" / layout.metrics("parsing", "weibo"))["kept"]
    rehearsed = 2 * pairs / (HOUR * read_json(ROOT / "profiles/paper" / REHEARSAL)["parse@weibo"])
    return (
        Corpus(
            "ParaNMT-50M", 50_000_000,
            _own("many_rows.project({}, hundredth.paranmt, reader='paranmt', name='paranmt.txt', parsed=False)"),
            _own("many_rows.filtered({})"), ("linearize, with trees", _own("many_rows.linearize('trees', trees=True)")),
            ("benepar", float(parse) if isinstance(parse, float) else 0.0),
        ),
        Corpus(
            "Weibo", 14_000_000,
            _own("many_rows.project({}, hundredth.weibo, language='zh', reader='weibo', name='toy_train.txt', "
                 "parsed=False)"),
            _own("many_rows.filtered({}, hundredth.replies)"), ("canonicalize", _own("hundredth.canonicalize()")),
            ("spaCy, as rehearsed", rehearsed),
        ),
    )  # fmt: skip


def _own(call: str) -> str:
    return f"import many_rows, hundredth; {call}"


def canonicalize() -> None:
    """Encode the replies."""
    params: Any = SimpleNamespace(corpora={"made": SimpleNamespace(language="zh")})
    dataset: Any = SimpleNamespace(
        encoding="dialogue", corpus="made", vocab_from="none", pieces_from="none", settings=DialogueSettings()
    )
    make_ready("made", dataset, params)


def corpus_table(corpus: Corpus) -> BenchmarkTable:
    """Core-hours, memory and disk of a corpus, by a hundredth of it."""
    rows: dict[str, tuple[float | str | None, ...]] = {}
    few = corpus.rows // 100
    with tempfile.TemporaryDirectory(dir=ROOT / layout.scratch()) as name:
        os.chdir(name)
        measured(corpus.raw.format(few))
        rows["read, by its reader"] = _row(corpus, stage("parse"), layout.parsed("many"), "read and parse")
        rows["filter, split"] = _row(corpus, stage("filter"), layout.corpus("many"), "filter and split")
        measured(corpus.parsed.format(few))
        parsed, speed = _bytes(layout.corpus("made")), corpus.parser[1]
        hours = 2 * corpus.rows / speed / HOUR
        rows[f"parse, by {corpus.parser[0]}"] = hours, hours / DAY, None, None, 100 * parsed / 1e9
        encoding, code = corpus.encode
        rows[encoding] = _row(corpus, code, layout.ready(""), "linearize, trees")
        os.chdir(ROOT)
    columns = (
        Column(heading="core-hours", digits=1), Column(heading="cores for one day", digits=2),
        Column(heading="memory of a hundredth, GiB", digits=1), Column(heading="of the whole, GiB", digits=1),
        Column(heading="written, GB", digits=1),
    )  # fmt: skip
    return BenchmarkTable(title=f"{corpus.title}: {corpus.rows:,} pairs", columns=columns, rows=rows)


def _row(corpus: Corpus, code: str, written: Path, alike: str) -> tuple[float | None, ...]:
    """A stage's core-hours and disk, a hundred times those of a hundredth, and its memory.

    Memory grows as that of a stage of `many_rows` does from a million rows to ten.
    """
    seconds, peak, _ = measured(code)
    many = load_benchmark(RESULTS / "many_rows.json").tables[0].rows
    found = [_peak(many, alike, size) for size in (1_000_000, 10_000_000)]
    whole = found[1] + (found[1] - found[0]) * (corpus.rows - 10_000_000) / 9_000_000
    hours = 100 * seconds / HOUR
    print(corpus.title, code, seconds, peak, file=sys.stderr, flush=True)
    return hours, hours / DAY, peak / 1024, max(peak, whole) / 1024, 100 * _bytes(written) / 1e9


def _peak(rows: Mapping[str, tuple[Any, ...]], name: str, size: int) -> float:
    """The largest memory of a stage of `many_rows` on so many rows, in MiB."""
    (found,) = (cells[2] for row, cells in rows.items() if re.fullmatch(f"{name}, {size:,} (rows|pairs)", row))
    return float(found)


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*.parquet"))


def main() -> None:
    """Print the tables."""
    arguments()
    (ROOT / layout.scratch()).mkdir(exist_ok=True)
    with Record(__file__) as record:
        for corpus in corpora():
            record.add(corpus_table(corpus))


if __name__ == "__main__":
    main()
