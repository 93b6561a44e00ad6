"""The processes that train one model together: each computes a part of every batch, and all hold the same weights."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import torch
from accelerate import PartialState
from accelerate.utils import gather_object
from torch import nn

from espalier.datasets.batch import Batch, IntArray
from espalier.datasets.part import Part
from espalier.io.errors import ArtifactError, ConfigError

Batch_ = TypeVar("Batch_", bound=Batch)

#: What a launcher such as torchrun tells each process.
TOLD = ("WORLD_SIZE", "RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")
#: What torchrun tells as a number.
NUMBERS = ("WORLD_SIZE", "RANK", "LOCAL_RANK", "MASTER_PORT", "LOCAL_WORLD_SIZE")
#: The remedy for a launch that does not say how its processes find each other.
TORCHRUN = "launch with torchrun --nproc-per-node N, or unset it to train with one process"


def launched(environment: Mapping[str, str] = os.environ) -> int:
    """The number of processes of this launch.

    Raises:
        ConfigError: a launcher has told this process only a part of what it must know to join the others, or what
            cannot be.
    """
    for name in NUMBERS:
        if (value := environment.get(name)) and not (value.isdecimal() and value.isascii()):
            raise ConfigError(f"'{value}' is not a number", where=name, remedy=TORCHRUN)
    told = {name: environment[name] for name in TOLD if environment.get(name)}
    number, rank = told.get("WORLD_SIZE", "1"), told.get("RANK", "0")
    missing = [name for name in TOLD if name not in told]
    # `accelerate launch --cpu` sets an address, and starts one process whatever number is asked for.
    if missing and told and told.get("WORLD_SIZE") != "1":
        raise ConfigError(f"set without {', '.join(missing)}", where=next(iter(told)), remedy=TORCHRUN)
    if not int(rank) < int(number):  # it would wait for the others without end
        raise ConfigError(f"no process {rank} of {number}, which count from 0", where="RANK", remedy=TORCHRUN)
    return int(number)


def joined(*, cpu: bool) -> PartialState:
    """Join the processes of this launch, or none if there is one process.

    Raises:
        ConfigError: the processes cannot form a group.
    """
    number, here = launched(), int(os.environ.get("LOCAL_WORLD_SIZE") or 1)
    if number > 1 and not cpu and here > torch.cuda.device_count():
        raise ConfigError(
            f"{here} processes on this machine, which has {torch.cuda.device_count()} GPUs",
            where="LOCAL_WORLD_SIZE",
            remedy="start one process for each GPU, or set ESPALIER_DEVICE=cpu",
        )
    try:
        state = PartialState(cpu=cpu)
    except RuntimeError as error:
        said = str(error).partition("\n")[0]
        raise ConfigError(f"the processes form no group: {said}", where="MASTER_ADDR", remedy=TORCHRUN) from error
    if state.num_processes != number:
        raise ConfigError(f"{number} processes were launched, which form no group", where="WORLD_SIZE", remedy=TORCHRUN)
    return state


def own_part(batch: Batch_, rank: int, ranks: int) -> tuple[Batch_, Part | None, int]:
    """The part of a batch that a process computes, its places in the batch, and the weight of its loss.

    Parts differ by at most one row. If there are fewer rows than processes, some compute the first row with weight 0.
    """
    if ranks == 1:
        return batch, None, 1
    rows = slice(len(batch) * rank // ranks, len(batch) * (rank + 1) // ranks)
    weight = int(rows.stop > rows.start)
    return *batch.part(rows if weight else slice(0, 1)), weight


def require_rows(plan: Sequence[IntArray], ranks: int) -> None:
    """Refuse more processes than any batch has rows.

    Raises:
        ConfigError: a process would never have a row.
    """
    most = max(map(len, plan))
    if ranks > most:
        raise ConfigError(
            f"{ranks} processes for batches of at most {most} rows",
            where="training.batch_tokens",
            remedy=f"at most {most} processes, or larger batches",
        )


def require_same(step: int, scratch: Path) -> None:
    """Refuse processes that have read different checkpoints.

    Raises:
        ArtifactError: the steps of the processes differ.
    """
    steps = gather_object([step])
    if len({*steps}) > 1:
        raise ArtifactError(
            f"the processes go on from steps {', '.join(map(str, steps))}",
            where=scratch,
            remedy="give all machines one folder of checkpoints",
        )


def require_gradients(model: nn.Module) -> None:
    """Refuse a model of which the loss of a part leaves parameters out: its processes would wait for their gradients.

    Raises:
        ConfigError: a parameter has no gradient.
    """
    for name, parameter in model.named_parameters():
        if parameter.requires_grad and parameter.grad is None:
            raise ConfigError(
                f"the loss does not depend on {name.removeprefix('module.')}, which several processes cannot share",
                where="network",
                remedy="leave it out of the model, or train with one process",
            )
