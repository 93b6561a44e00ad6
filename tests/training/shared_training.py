"""What each process of a launch does for test_ranks.py: `torchrun shared_training.py FOLDER TASK...`."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from each_system import system
from toy_training import CONFIG, DEV, TRAINING, toy_model, weights_sha256

from espalier.io.errors import EspalierError
from espalier.training.config import TrainingConfig
from espalier.training.loop import Progress, train

FOLDER, RANK = Path(sys.argv[1]), os.environ["RANK"]


def told(name: str, value: object) -> None:
    """Write what this process found."""
    (FOLDER / f"{name}.{RANK}.json").write_text(json.dumps(value), encoding="utf-8")


def learn(name: str, kill: int = 0) -> None:
    """Train the toy in the folder `name`, or go on there; the process that may watch is killed after step `kill`."""
    watched: list[int] = []

    def watch(progress: Progress) -> None:
        watched.append(progress.step)
        if progress.step == kill:
            os.kill(os.getpid(), signal.SIGKILL)

    model = toy_model()
    scratch = FOLDER / name
    progress = train(
        model, TRAINING, DEV, CONFIG, width=16, seed=1, scratch=scratch, cpu=True, watch=watch, checkpoint_seconds=-1
    )
    told(name, {"history": progress.history, "tokens": progress.tokens, "processes": progress.processes,
                "watched": watched, "weights": weights_sha256(model)})  # fmt: skip


def wrapped() -> None:
    """A few steps of a model that a wrapper must not disturb."""
    given = system("X2Tree")
    config = TrainingConfig(steps=4, batch_tokens=120, evaluate_every=2, schedule="constant", rate=0.01, warmup=1,
                            precision="fp32")  # fmt: skip
    progress = train(given.model, given, given, config, width=12, seed=1, scratch=FOLDER / "x2tree", cpu=True)
    told("x2tree", progress.history)


def refused() -> None:
    """The lines of trainings that these processes cannot share."""
    small = CONFIG.model_copy(update={"batch_tokens": 20})
    for name, config, scratch in (("small", small, FOLDER / "small"), ("apart", CONFIG, FOLDER / f"apart{RANK}")):
        try:
            train(toy_model(), TRAINING, DEV, config, width=16, seed=1, scratch=scratch, cpu=True)
        except EspalierError as error:
            told(name, str(error))


for task in sys.argv[2:]:
    name, _, step = task.partition("@")
    if name in ("wrapped", "refused"):
        {"wrapped": wrapped, "refused": refused}[name]()
    else:
        learn(name, int(step or 0))
