"""Running one stage: exclusively, with unchanged code, and with bytes that do not depend on threads."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager

from espalier.io.errors import ArtifactError, MissingError
from espalier.io.hashing import digest
from espalier.io.locks import exclusive
from pipeline import layout
from pipeline.graph.code_guard import unchanged_code

#: For numpy and torch, which read it when they are imported.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
#: The stages that compute with as many threads as `OMP_NUM_THREADS` says, and record it.
TRAININGS = ("train", "train_parser")


def run_alone(stage: str, *key: str) -> None:
    """Run a stage in the folder of the present profile.

    Args:
        stage: a module of `pipeline.stages`.
        key: key of its entry, if it has entries.

    Raises:
        EspalierError: another process runs the stage, an input is missing, its code changed, or it failed.
    """
    fix_threads(stage)
    module = importlib.import_module(f"pipeline.stages.{stage}")
    with unchanged_code(), alone(stage, *key), inputs_named("@".join((stage, *key))):
        module.run(*key)


def fix_threads(stage: str) -> None:
    """Use one thread in stages without training, since sums in another order would give other bytes."""
    if stage not in TRAININGS:
        os.environ.update(ONE_THREAD)


@contextmanager
def alone(stage: str, *key: str) -> Iterator[None]:
    """Hold the lock of a stage, or of its entry if it has entries. In distributed training, the first process holds it.

    Raises:
        ArtifactError: another process runs the stage.
    """
    if os.environ.get("RANK", "0") != "0":
        yield
        return
    lock = layout.scratch("locks", f"{digest(stage, *key)}.lock")
    with exclusive(
        lock,
        timeout=0,
        held=ArtifactError("runs in another process", where=" ".join((stage, *key)), remedy="wait for it, or end it"),
    ):
        yield


@contextmanager
def inputs_named(target: str) -> Iterator[None]:
    """Add the command that makes all inputs of the stage to the error for a missing input.

    Raises:
        MissingError: an input is missing.
    """
    try:
        yield
    except MissingError as error:
        from pipeline.params.read import load_params
        from pipeline.records.systems import repro_command

        remedy = f"{repro_command(load_params(), target)} first runs the stages that make it"
        raise MissingError(error.what, where=str(error.where), remedy=remedy) from error
