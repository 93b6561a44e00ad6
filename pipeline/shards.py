"""Sentences through a parser, shard by shard: each is on disk when it is done, so a kill loses only those under way.

Shards are parsed in this process, or by Dask: on this machine's cores, or on a cluster whose scheduler is named. How
many work on it changes the speed, never a parse. A cluster's workers need this project and the parser's folder at the
same paths; sentences and parses travel with the tasks.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from espalier.io.errors import ConfigError
from espalier.io.hashing import digest
from espalier.io.tables import read_table, write_table
from espalier.syntax.parse import COLUMNS, Parse, columns_of, parse_of
from espalier.syntax.parsers.parser import Parser, Refused
from pipeline.layout import ROOT
from pipeline.progress import progress_bar

if TYPE_CHECKING:
    from distributed import Client, Future

#: Sentences a shard: a few seconds of work.
SHARD = 512
#: Shards that wait at each worker: enough that none is idle, few enough that a scheduler holds little.
WAITING = 2
#: Shards for which a process of its own is worth its start, unless somebody says how many there shall be.
WORTH = 8
#: Seconds in which a scheduler must answer.
PATIENCE = 10
#: The environment of a process: one thread in each library, and the bytes of free memory that it keeps (the C library
#: takes no more).
THREADS = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
KEPT = str(2**25)

#: A parse as a row: the five columns of `espalier.syntax.parse`, then the reason if there is none.
Row = tuple[str, ...]


class Parsed(NamedTuple):
    """Answers in the order of their sentences, and how fast they came."""

    answers: list[Parse | Refused]
    #: Distinct sentences parsed in this call, the seconds that they took, loading counted, and one by the other.
    speed: dict[str, float]


def parse_all(sentences: Sequence[str], parser: Path, scratch: Path) -> Parsed:
    """One answer a sentence, in their order; equal sentences are parsed once.

    Args:
        parser: the folder of a parser as `train_parser` made it.
        scratch: where finished shards wait; the caller removes it when the whole is written.

    `ESPALIER_SCHEDULER` is the address of a Dask cluster, such as tcp://127.0.0.1:8786; without it, `ESPALIER_WORKERS`
    is the number of processes on this machine; if unset, as many as are worth it, one for each core at most.

    Raises:
        ConfigError: nobody answers at that address.
    """
    # By length, so that a shard's sentences fit one batch and the longest shards come first.
    distinct = sorted(set(sentences), key=lambda text: (-len(text), text))
    shards = [distinct[start : start + SHARD] for start in range(0, len(distinct), SHARD)]
    files = [scratch / f"{digest(shard)}.parquet" for shard in shards]
    todo = [number for number, file in enumerate(files) if not file.exists()]
    scheduler, workers = os.environ.get("ESPALIER_SCHEDULER") or None, _workers(len(todo))
    with progress_bar() as bar:
        started, done = time.monotonic(), 0
        task = bar.add_task("parse", total=len(distinct), completed=len(distinct) - sum(len(shards[n]) for n in todo))
        parts = ((number, shards[number]) for number in todo)
        local = scheduler is None and workers <= 1
        for number, rows in _here(parts, parser) if local else _by_dask(parts, parser, scheduler, workers):
            write_table(files[number], pd.DataFrame(rows, columns=[*COLUMNS, "reason"]))
            done += len(rows)
            bar.update(task, advance=len(rows), note=f"{done / (time.monotonic() - started):,.0f} sentences/s")
        seconds = time.monotonic() - started
    found = dict(zip(distinct, (answer for file in files for answer in _answers(file)), strict=True))
    speed = {"sentences": done, "seconds": round(seconds, 1), "sentences_per_second": round(done / seconds, 1)}
    return Parsed([found[text] for text in sentences], speed)


def parse_shard(parser: str, sentences: Sequence[str]) -> list[Row]:
    """One shard, in whichever process; the parser is loaded once in each."""
    return [_row(answer) for answer in _loaded(parser).parse(sentences)]


@cache
def _loaded(folder: str) -> Parser:
    from espalier.syntax.parsers.registry import load_parser

    return load_parser(Path(folder))


def _here(parts: Iterator[tuple[int, list[str]]], parser: Path) -> Iterator[tuple[int, list[Row]]]:
    for number, sentences in parts:
        yield number, parse_shard(str(parser), sentences)


def _by_dask(
    parts: Iterator[tuple[int, list[str]]], parser: Path, scheduler: str | None, workers: int
) -> Iterator[tuple[int, list[Row]]]:
    """In whichever order they end; a shard whose worker dies goes to another."""
    from distributed import as_completed

    with _client(scheduler, workers) as client:
        numbers: dict[Future, int] = {}

        def submitted() -> Iterator[Future]:
            for number, sentences in parts:
                future = client.submit(parse_shard, str(parser.resolve()), sentences, pure=False, retries=2)
                numbers[future] = number
                yield future

        queue = submitted()
        room = WAITING * max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
        ended = as_completed([future for _, future in zip(range(room), queue, strict=False)])
        for future in ended:
            yield numbers.pop(future), future.result()
            if (following := next(queue, None)) is not None:
                ended.add(following)


@contextmanager
def _client(scheduler: str | None, workers: int) -> Iterator[Client]:
    import logging

    import dask
    from distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.ERROR)  # a worker that dies is not news: its shard goes elsewhere
    if scheduler is not None:
        try:
            client = Client(scheduler, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            raise ConfigError(
                "no Dask scheduler answers there",
                where=scheduler,
                remedy="start 'dask scheduler' and 'dask worker' there, or leave --scheduler out to use this machine",
            ) from error
        with client:
            yield client
        return
    # A worker imports what we import, from where we do; each has one thread, in its libraries too. Dask would have them
    # give every piece of free memory back at once, and tensors ask for it again: they would be a third slower.
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    before = {**THREADS, "MALLOC_TRIM_THRESHOLD_": KEPT, "MALLOC_MMAP_THRESHOLD_": KEPT}
    with (
        dask.config.set({"distributed.nanny.pre-spawn-environ": before}),
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0", host="127.0.0.1",
            env={"PYTHONPATH": paths},
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        yield client


def _workers(shards: int) -> int:
    text = os.environ.get("ESPALIER_WORKERS", "")
    if not text:
        return min(os.cpu_count() or 1, shards // WORTH)
    if not text.isdecimal() or int(text) < 1:
        raise ConfigError(f"'{text}' is no number of workers", where="ESPALIER_WORKERS", remedy="1 or more")
    return min(int(text), shards)


def _row(answer: Parse | Refused) -> Row:
    if isinstance(answer, Refused):
        return (*("" for _ in COLUMNS), answer.reason)
    return (*columns_of(answer, "_").values(), "")


def _answers(file: Path) -> Iterator[Parse | Refused]:
    table = read_table(file).rename(columns={name: f"__{name}" for name in COLUMNS})
    for row in table.to_dict("records"):
        yield Refused(row["reason"]) if row["reason"] else parse_of(row, "_")
