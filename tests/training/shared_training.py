"""What each process of a launch does for test_ranks.py."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from accelerate import PartialState
from accelerate.state import AcceleratorState
from each_system import system
from toy_training import CONFIG, DEV, TRAINING, toy_model, weights_sha256

from espalier.io.errors import EspalierError
from espalier.training.config import TrainingConfig
from espalier.training.loop import Progress, train


def work(rank: int, number: int, port: int, folder: Path, tasks: tuple[str, ...]) -> None:
    """Do tasks as one of a number of processes, with what torchrun would tell it."""
    told = {"WORLD_SIZE": number, "LOCAL_WORLD_SIZE": number, "RANK": rank, "LOCAL_RANK": rank, "MASTER_PORT": port}
    os.environ.update({name: str(value) for name, value in told.items()}, MASTER_ADDR="127.0.0.1")
    AcceleratorState._reset_state(reset_partial_state=True)  # of the process that this one is a fork of
    for task in tasks:
        name, _, step = task.partition("@")
        if name == "wrapped":
            wrapped(folder)
        elif name == "refused":
            refused(folder)
        else:
            learn(folder, name, int(step or 0))
    PartialState().destroy_process_group()


def told(folder: Path, name: str, value: object) -> None:
    """Write what this process found."""
    (folder / f"{name}.{os.environ['RANK']}.json").write_text(json.dumps(value), encoding="utf-8")


def learn(folder: Path, name: str, kill: int) -> None:
    """Train the toy in the folder `name`, or go on there; the process that may watch is killed after step `kill`."""
    watched: list[int] = []

    def watch(progress: Progress) -> None:
        watched.append(progress.step)
        if progress.step == kill:
            os.kill(os.getpid(), signal.SIGKILL)

    model = toy_model()
    scratch = folder / name
    progress = train(
        model, TRAINING, DEV, CONFIG, width=16, seed=1, scratch=scratch, cpu=True, watch=watch, checkpoint_seconds=-1
    )
    told(folder, name, {"history": progress.history, "tokens": progress.tokens, "processes": progress.processes,
                        "watched": watched, "weights": weights_sha256(model)})  # fmt: skip


def wrapped(folder: Path) -> None:
    """A few steps of a model that a wrapper must not disturb."""
    given = system("X2Tree")
    config = TrainingConfig(steps=4, batch_tokens=120, evaluate_every=2, schedule="constant", rate=0.01, warmup=1,
                            precision="fp32")  # fmt: skip
    progress = train(given.model, given, given, config, width=12, seed=1, scratch=folder / "x2tree", cpu=True)
    told(folder, "x2tree", progress.history)


def refused(folder: Path) -> None:
    """The lines of trainings that these processes cannot share."""
    small = CONFIG.model_copy(update={"batch_tokens": 20})
    tried = (("small", small, "small"), ("apart", CONFIG, f"apart{os.environ['RANK']}"))
    for name, config, scratch in tried:
        try:
            train(toy_model(), TRAINING, DEV, config, width=16, seed=1, scratch=folder / scratch, cpu=True)
        except EspalierError as error:
            told(folder, name, str(error))
