"""The seeds of one model, trained side by side: each in a process of its own, with the same bits as alone."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from queue import Empty
from typing import Any

from espalier.io.errors import ArtifactError, EspalierError

#: Shows people how far a training is: its seed, its step, and a note.
Show = Callable[[int, int, str], None]
#: Trains a model with a seed, and shows each step.
Training = Callable[[str, int, Show], object]

#: In a worker: where it reports its steps, and whether it shall stop.
_updates: Any = None
_stop: Any = None


class _StoppedError(Exception):
    """Another training failed, or Ctrl-C."""


def side_by_side(train: Training, key: str, seeds: Sequence[int], processes: int, show: Show) -> None:
    """Train a model with each seed up to its last checkpoint, which lies in its scratch folder.

    Args:
        train: a function of a module, which the processes import.
        processes: how many train at once.
        show: called in this process, now and then, with the last step of a seed.

    Raises:
        EspalierError: what a training raised. The others stop.
        ArtifactError: a process was killed.
    """
    context = get_context("spawn")
    updates, stop = context.Queue(), context.Event()
    with ProcessPoolExecutor(min(processes, len(seeds)), context, _begin, (updates, stop)) as pool:
        try:
            pending = {pool.submit(_train, train, key, seed) for seed in seeds}
            while pending:
                done, pending = wait(pending, timeout=0.2)
                for shown in _latest(updates):
                    show(*shown)
                for future in done:
                    if (failure := future.result()) is not None:
                        raise EspalierError(failure)
        except BrokenProcessPool as error:
            raise ArtifactError(
                "the process of a seed was killed",
                where=f"train {key}",
                remedy="run it again, with fewer ESPALIER_WORKERS if memory ran out; it goes on from its checkpoints",
            ) from error
        finally:
            stop.set()


def _begin(updates: Any, stop: Any) -> None:
    """In a new process: Ctrl-C reaches its parent, which stops it."""
    global _updates, _stop
    _updates, _stop = updates, stop
    updates.cancel_join_thread()  # what nobody reads any more must not keep this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _train(train: Training, key: str, seed: int) -> str | None:
    """Train in a worker; an error that a user can correct, as its line."""
    parent = parent_process()

    def show(seed: int, step: int, note: str) -> None:
        if parent is None or not parent.is_alive():
            os._exit(1)  # the pool's own loop would wait for ever
        if _stop.is_set():
            raise _StoppedError
        _updates.put((seed, step, note))

    try:
        train(key, seed, show)
    except EspalierError as error:
        return str(error)
    except _StoppedError:
        pass
    return None


def _latest(updates: Any) -> list[tuple[int, int, str]]:
    """The last update of each seed since the last call."""
    latest: dict[int, tuple[int, int, str]] = {}
    try:
        while True:
            shown = updates.get_nowait()
            latest[shown[0]] = shown
    except Empty:
        return list(latest.values())
