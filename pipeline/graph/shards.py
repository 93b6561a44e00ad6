"""Parsing of many sentences in shards. Finished shards are written to disk, so that a killed stage can resume.

Shards are parsed in this process, or by Dask on the cores of this machine or on a cluster. The number of workers
changes the speed but not the parses. The workers of a cluster need this project and the parser's folder at the same
paths; sentences and parses are sent with the tasks.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import pandas as pd

from espalier.cli.progress import progress_bar
from espalier.corpora.stored import in_chunks
from espalier.io.hashing import digest, file_sha256
from espalier.io.tables import read_table, write_table
from espalier.syntax.parse import COLUMNS, Parse, columns_of, parse_of
from espalier.syntax.parsers.parser import Parser, Refused, Sentence
from espalier.syntax.parsers.registry import load_parser
from espalier.tasks.data import TEXT_COLUMNS
from pipeline.records.machine import cores, workers

#: Sentences per shard: a few seconds of work.
SHARD_SIZE = 512
#: Shards for which starting another process pays, unless the number of workers is given.
SHARDS_PER_PROCESS = 8

#: The column of the reason.
REASON: Final = "reason"
#: A parse as a row: the five columns of `espalier.syntax.parse`, and the reason if it was refused.
Row = tuple[str, ...]


class Parsed(NamedTuple):
    """The parses of sentences, in order, and the speed."""

    answers: list[Parse | Refused]
    #: Distinct sentences parsed in this call, seconds with loading, and sentences per second.
    speed: dict[str, float]


def parse_all(sentences: Sequence[Sentence], parser: Path, scratch: Path) -> Parsed:
    """Parse sentences that are in memory. Equal sentences are parsed once. Arguments and errors: see `parse_shards`.

    Args:
        sentences: texts, or tuples of words; not both.
    """
    distinct = sorted(set(sentences), key=by_length)
    files, speed = parse_shards(lambda: in_chunks(distinct, SHARD_SIZE), parser, scratch)
    answers = dict(zip(distinct, (answer for file in files for answer in _answers(file)), strict=True))
    return Parsed([answers[sentence] for sentence in sentences], speed)


def by_length(sentence: Sentence) -> tuple[int, Sentence]:
    """A sort key by which the sentences of a shard fit into one batch, and the longest shards come first."""
    return -len(sentence), sentence


class Shards(NamedTuple):
    """The files of shards, in order, each with the rows of `parse_shard` as columns; and the speed as in `Parsed`."""

    files: list[Path]
    speed: dict[str, float]


def parse_shards(shards: Callable[[], Iterable[Sequence[Sentence]]], parser: Path, scratch: Path) -> Shards:
    """Parse shards of sentences. Some of them are in memory at a time.

    `ESPALIER_SCHEDULER` is the address of a Dask cluster, such as tcp://127.0.0.1:8786. Without it, `ESPALIER_WORKERS`
    is the number of processes on this machine; by default as many as are useful, at most one per core.

    Args:
        shards: function that makes the shards anew; it is called twice.
        parser: folder of a parser, written by `train_parser`.
        scratch: folder for finished shards, which are reused for the same sentences and the same `parser.json`. The
            caller deletes it after writing the result.

    Raises:
        ConfigError: no scheduler answers at that address, or the number of workers is invalid.
        ArtifactError: the folder is not a parser's.
    """
    parsed_by = file_sha256(parser / "parser.json")
    sizes = {_file(scratch, digest(parsed_by, shard)): len(shard) for shard in shards()}
    files = list(sizes)
    todo = {number for number, file in enumerate(files) if not file.exists()}
    scheduler, processes = os.environ.get("ESPALIER_SCHEDULER") or None, _processes(len(todo))
    with progress_bar() as bar:
        started, done = time.monotonic(), 0
        completed = sum(size for number, size in enumerate(sizes.values()) if number not in todo)
        task = bar.add_task("parse", total=sum(sizes.values()), completed=completed)
        parts = ((number, list(shard)) for number, shard in enumerate(shards()) if number in todo)
        ended: Iterator[tuple[int, list[Row]]]
        if scheduler is None and processes <= 1:
            ended = ((number, parse_shard(str(parser), shard)) for number, shard in parts)
        else:
            from pipeline.graph.dask_shards import by_dask

            ended = by_dask(parse_shard, parts, parser, scheduler, processes)
        for number, rows in ended:
            write_table(files[number], pd.DataFrame(rows, columns=[*COLUMNS, REASON]))
            done += len(rows)
            bar.update(task, advance=len(rows), note=f"{done / (time.monotonic() - started):,.0f} sentences/s")
        seconds = time.monotonic() - started
    return Shards(
        files, {"sentences": done, "seconds": round(seconds, 1), "sentences_per_second": round(done / seconds, 1)}
    )


def annotated(texts: pd.DataFrame, parser: Path, scratch: Path, *, words: bool) -> pd.DataFrame:
    """The parses of texts, one row per text under its `id`, `seed` and `sample`, with columns for its grammar.

    A text that cannot be parsed has a `reason` and empty columns: hypotheses are scored, never dropped.

    Args:
        words: whether the texts are words joined by spaces. Such words are passed to the parser, which might segment
            the text differently.
    """
    sentences = [tuple(text.split()) if words else text for text in texts["text"]]
    answers, _ = parse_all(sentences, parser, scratch)
    parses = [Parse(()) if isinstance(answer, Refused) else answer for answer in answers]
    columns = pd.DataFrame([columns_of(parse, "target") for parse in parses]).astype("str")
    reasons = [answer.reason if isinstance(answer, Refused) else "" for answer in answers]
    keys = texts[list(TEXT_COLUMNS)].reset_index(drop=True)
    return pd.concat([keys, columns], axis=1).assign(reason=reasons)


def parse_shard(parser: str, sentences: Sequence[Sentence]) -> list[Row]:
    """Parse one shard. The parser is loaded once per process."""
    return [_row(answer) for answer in _loaded(parser).parse(sentences)]


def _file(scratch: Path, name: str) -> Path:
    """The file of a shard, in one of 256 folders: writing a file looks at all of its folder for what was left there."""
    return scratch / name[:2] / f"{name}.parquet"


@cache
def _loaded(folder: str) -> Parser:
    return load_parser(Path(folder))


def _processes(shards: int) -> int:
    return min(workers(min(cores(), shards // SHARDS_PER_PROCESS)), shards)


def _row(answer: Parse | Refused) -> Row:
    if isinstance(answer, Refused):
        return (*("" for _ in COLUMNS), answer.reason)
    return (*columns_of(answer, "_").values(), "")


def _answers(file: Path) -> Iterator[Parse | Refused]:
    table = read_table(file).rename(columns={name: f"__{name}" for name in COLUMNS})
    for row in table.to_dict("records"):
        yield Refused(row["reason"]) if row["reason"] else parse_of(row, "_")
