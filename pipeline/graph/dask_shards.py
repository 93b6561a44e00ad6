"""Parsing of shards by Dask, on the cores of this machine or on a cluster. It imports Dask, which takes a second."""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

import dask
from distributed import Client, Future, KilledWorker, LocalCluster, as_completed
from distributed.comm.addressing import get_address_host_port

from espalier.io.errors import ArtifactError, ConfigError
from espalier.syntax.parsers.parser import Sentence
from pipeline.graph.stage_run import ONE_THREAD
from pipeline.layout import ROOT

Row = TypeVar("Row")

#: Where a worker finds this project.
PATHS: Final = (str(ROOT), str(ROOT / "src"))
#: Shards submitted per worker: enough that none is idle, few enough to keep the scheduler's memory small.
SHARDS_PER_WORKER = 2
#: Seconds to wait for a scheduler.
TIMEOUT = 10
#: The bytes of free memory that the C library of a worker keeps.
KEPT_MEMORY = str(2**25)


def by_dask(
    parse: Callable[[str, list[Sentence]], list[Row]],
    parts: Iterator[tuple[int, list[Sentence]]],
    parser: Path,
    scheduler: str | None,
    processes: int,
) -> Iterator[tuple[int, list[Row]]]:
    """Shards in the order in which they finish. If a worker dies, another worker gets its shard.

    Args:
        parse: importable function from the folder of a parser and the sentences of a shard to their parses.
        scheduler: address of a cluster; None for the cores of this machine.
        processes: number of processes on this machine.

    Raises:
        ConfigError: no scheduler answers.
        ArtifactError: a worker was killed several times.
    """
    with _client(scheduler, processes) as client:
        numbers: dict[Future, int] = {}

        def submitted() -> Iterator[Future]:
            for number, sentences in parts:
                future = client.submit(parse, str(parser.resolve()), sentences, pure=False, retries=2)
                numbers[future] = number
                yield future

        def more() -> list[Future]:
            # Workers of a cluster come and go. A list, since `as_completed` holds a lock that the client waits for.
            workers = len(client.scheduler_info(n_workers=-1)["workers"])
            return list(islice(queue, max(0, SHARDS_PER_WORKER * max(1, workers) - len(numbers))))

        queue = submitted()
        ended = as_completed(more())
        for future in ended:
            try:
                rows = future.result()
            except KilledWorker as error:
                raise ArtifactError(
                    "a worker was killed several times, perhaps for lack of memory",
                    where="parse",
                    remedy="run again with fewer --workers; finished shards are kept",
                ) from error
            yield numbers.pop(future), rows
            ended.update(more())


def scheduler_client(address: str, *, timeout: float, where: str, remedy: str) -> Client:
    """The client of a Dask scheduler that runs.

    Args:
        timeout: seconds to wait for it.

    Raises:
        ConfigError: no scheduler answers.
    """
    try:
        # A client of a malformed address is never closed. Its finalizer waits for a lock that the next client may hold.
        get_address_host_port(address)
        return Client(address, timeout=timeout)
    except (OSError, ValueError) as error:
        raise ConfigError("no Dask scheduler answers there", where=where, remedy=remedy) from error


@contextmanager
def _client(scheduler: str | None, processes: int) -> Iterator[Client]:
    logging.getLogger("distributed").setLevel(logging.ERROR)  # the shard of a worker that dies is parsed by another
    if scheduler is not None:
        remedy = "start 'dask scheduler' and 'dask worker' there, or leave --scheduler out to use this machine"
        with scheduler_client(scheduler, timeout=TIMEOUT, where=scheduler, remedy=remedy) as client:
            yield client
        return
    # Who reaches a scheduler can run code: other users of this machine have no keys for TLS.
    # Workers import this project from the same paths. Dask's default makes them return free memory at once, so that
    # tensors allocate it again: a third slower.
    paths = os.pathsep.join([*PATHS, os.environ.get("PYTHONPATH", "")])
    before = {**ONE_THREAD, "MALLOC_TRIM_THRESHOLD_": KEPT_MEMORY, "MALLOC_MMAP_THRESHOLD_": KEPT_MEMORY}
    with (
        dask.config.set({"distributed.nanny.pre-spawn-environ": before}),
        LocalCluster(
            n_workers=processes, threads_per_worker=1, processes=True, host="127.0.0.1",
            dashboard_address="127.0.0.1:0", env={"PYTHONPATH": paths}, security=True, protocol="tls://",
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        yield client
