"""Training the seeds of a model in parallel, each in its own process, with the same bits as alone."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Callable, Sequence
from multiprocessing import connection, get_context
from typing import TYPE_CHECKING, Any, TypeAlias

from espalier.io.errors import ArtifactError, EspalierError
from pipeline.graph.parent import end_with_parent

if TYPE_CHECKING:
    from ctypes import Array, c_double
    from multiprocessing.context import SpawnProcess

    Answer: TypeAlias = connection.Connection[Any, Any]

#: Shows people how far a training is: its seed, its step, tokens per second, and the last dev loss or NaN.
Show = Callable[[int, int, float, float], None]
#: Trains a model with a seed, and shows each step.
Training = Callable[[str, int, Show], object]

#: Seconds between two looks at the processes.
LOOK = 0.2


def side_by_side(train: Training, key: str, seeds: Sequence[int], processes: int, show: Show) -> None:
    """Train a model with each seed up to its last checkpoint, which is written to its scratch folder.

    Args:
        train: function at the top level of a module, which the processes import.
        processes: number of trainings at once.
        show: called in this process, from time to time, with the last step of each seed.

    Raises:
        EspalierError: raised by a training.
        ArtifactError: a process was killed.
        RuntimeError: a training raised another error, whose traceback is printed.
    """
    context = get_context("spawn")
    # Without locks, which a killed process would keep.
    board = context.RawArray("d", 3 * len(seeds))
    waiting = list(enumerate(seeds))
    # From a process's sentinel to the process and the pipe of its answer.
    running: dict[Any, tuple[SpawnProcess, Answer]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < processes:
                place, seed = waiting.pop(0)
                answer, told = context.Pipe(duplex=False)
                process = context.Process(target=_train, args=(train, key, seed, board, place, told), daemon=True)
                process.start()
                told.close()
                running[process.sentinel] = process, answer
            ended = connection.wait(list(running), timeout=LOOK)
            for place, seed in enumerate(seeds):
                if board[3 * place]:
                    show(seed, int(board[3 * place]), board[3 * place + 1], board[3 * place + 2])
            for sentinel in ended:
                _require_success(key, *running.pop(sentinel))
    finally:
        for process, _ in running.values():
            process.kill()  # checkpoints are whole at any moment
            process.join()


def _require_success(key: str, process: SpawnProcess, answer: Answer) -> None:
    """Raise the error that an ended process has sent, if any."""
    process.join()
    try:
        kind, text = answer.recv()
    except EOFError:
        raise ArtifactError(
            "the process of a seed was killed",
            where=f"train {key}",
            remedy="run it again, with fewer ESPALIER_WORKERS if memory ran out; it goes on from its checkpoints",
        ) from None
    if kind == "user":
        raise EspalierError(text)
    if kind == "bug":
        raise RuntimeError(text)


def _train(train: Training, key: str, seed: int, board: Array[c_double], place: int, told: Answer) -> None:
    """Train in a separate process, and send its result."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends this process
    end_with_parent()

    def show(seed: int, step: int, rate: float, loss: float) -> None:
        board[3 * place : 3 * place + 3] = [step, rate, loss]

    answer = ("done", "")
    try:
        train(key, seed, show)
    except EspalierError as error:
        answer = ("user", str(error))
    except MemoryError:
        answer = ("bug", "out of memory")
    except Exception as error:
        traceback.print_exc()
        answer = ("bug", f"{type(error).__name__}: {error}")
    told.send(answer)
