"""Processes that train one model: parts of a batch add up to the whole, and what cannot be shared is refused."""

from __future__ import annotations

import json
import shutil
import socket
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import shared_training
import torch
from each_system import SYSTEMS, system
from torch.multiprocessing.spawn import ProcessExitedException, start_processes

from espalier.datasets.part import computing
from espalier.io.errors import ConfigError
from espalier.training.loop import _step
from espalier.training.optimization import Optimizer
from espalier.training.ranks import NUMBERS, joined, launched, own_part


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_parts_of_a_batch_have_the_losses_and_gradients_of_the_whole_and_its_dropout(name: str) -> None:
    given = system(name)
    model = given.model.train()
    batch = given.collate(np.arange(11), np.random.default_rng(3))

    def learned(ranks: int) -> tuple[float, int, list[Any]]:
        total, targets, ends = 0.0, 0, []
        model.zero_grad()
        for rank in range(ranks):
            torch.manual_seed(7)
            own, part, weight = own_part(batch, rank, ranks)
            with computing(part):
                loss = model(own, 0.1)
            (weight * loss.total).backward()
            total, targets = total + weight * loss.total.item(), targets + weight * int(loss.targets)
            ends.append(torch.rand(1).item())
        assert len({*ends}) == 1  # all have drawn equally many numbers
        return total, targets, [parameter.grad for parameter in model.parameters()]

    whole = learned(1)
    for ranks in (2, 3, 13):
        parts = learned(ranks)
        assert parts[1] == whole[1]
        assert parts[0] == pytest.approx(whole[0], rel=1e-6)
        for ours, theirs in zip(parts[2], whole[2], strict=True):
            assert ours is not None
            assert (ours - theirs).abs().max() < 1e-5 * max(1.0, theirs.abs().max().item())


def launch(number: int, folder: Path, *tasks: str) -> None:
    """Do tasks of `shared_training.py` with several forks: importing torch would take longer than the tasks."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # What torch has begun on a GPU does not survive a fork.
    method = "fork" if sys.platform == "linux" and not torch.cuda.is_available() else "spawn"
    start_processes(shared_training.work, (number, port, folder, tasks), number, start_method=method)


def found(folder: Path, name: str, rank: int) -> Any:
    return json.loads((folder / f"{name}.{rank}.json").read_text(encoding="utf-8"))


def same_curve(one: list[dict[str, float]], other: list[dict[str, float]]) -> bool:
    """Whether two histories differ by rounding only; their values have six decimals."""
    return [list(a) for a in one] == [list(b) for b in other] and all(
        a[name] == pytest.approx(b[name], abs=3e-6) for a, b in zip(one, other, strict=True) for name in a
    )


def test_two_processes_learn_what_one_does_and_a_kill_may_change_their_number(
    toy: Any, straight: tuple[Any, str], tmp_path: Path
) -> None:
    alone = straight[0]
    with pytest.raises(ProcessExitedException, match="SIGKILL"):
        launch(2, tmp_path, "whole", "wrapped", "killed@12")
    first, second = (found(tmp_path, "whole", rank) for rank in (0, 1))
    assert same_curve(first["history"], alone.history)
    assert (first["tokens"], first["processes"]) == (alone.tokens, {"2": 40})
    assert (first["watched"], second["watched"]) == (list(range(1, 41)), [])  # one log
    assert (first["history"], first["weights"]) == (second["history"], second["weights"])
    assert found(tmp_path, "x2tree", 0) == found(tmp_path, "x2tree", 1)
    assert not (tmp_path / "killed.0.json").exists()

    shutil.copytree(tmp_path / "killed", tmp_path / "by three")
    progress, _ = toy.train(tmp_path / "killed")
    assert progress.processes == {"2": 11, "1": 29}
    assert same_curve(progress.history, alone.history)

    (tmp_path / "apart1").mkdir()
    toy.train(tmp_path / "apart0", config=toy.config.model_copy(update={"steps": 3}))
    launch(3, tmp_path, "by three", "refused")
    third = found(tmp_path, "by three", 2)
    assert third["processes"] == {"2": 11, "3": 29}
    assert same_curve(third["history"], alone.history)
    assert found(tmp_path, "small", 1).startswith("training.batch_tokens: 3 processes for batches of at most 1 rows;")
    assert "the processes go on from steps 3, 0, 0; give all machines one folder" in found(tmp_path, "apart", 2)


TOLD = {"WORLD_SIZE": "2", "RANK": "1", "LOCAL_RANK": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"}


def test_a_launch_that_says_all_is_of_so_many_processes_and_none_is_of_one() -> None:
    assert launched({}) == launched({"WORLD_SIZE": "1"}) == launched({"WORLD_SIZE": "1", "RANK": "0"}) == 1
    assert launched(TOLD) == 2


@pytest.mark.parametrize("missing", TOLD)
def test_a_launch_that_says_a_part_is_refused(missing: str) -> None:
    """`accelerate launch --cpu --num_processes 2` says the address alone, and starts one process."""
    with pytest.raises(ConfigError, match=rf"set without {missing}; launch with torchrun --nproc-per-node N, or unset"):
        launched({name: value for name, value in TOLD.items() if name != missing})
    with pytest.raises(ConfigError, match=r"^MASTER_ADDR: set without WORLD_SIZE, RANK, LOCAL_RANK; launch"):
        launched({"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"})


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("number", ["two", "-1", "²"])
def test_what_is_told_and_is_no_number_is_refused(name: str, number: str) -> None:
    with pytest.raises(ConfigError, match=f"{name}: '{number}' is not a number; launch with torchrun"):
        launched(TOLD | {name: number})


@pytest.mark.parametrize(("rank", "number"), [("0", "0"), ("2", "2"), ("5", "2")])
def test_a_process_that_is_none_of_its_launch_is_refused_and_does_not_wait(rank: str, number: str) -> None:
    with pytest.raises(ConfigError, match=rf"^RANK: no process {rank} of {number}, which count from 0; launch with"):
        launched(TOLD | {"RANK": rank, "WORLD_SIZE": number})


def test_more_processes_than_gpus_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (TOLD | {"LOCAL_WORLD_SIZE": "2"}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(ConfigError, match="2 processes on this machine, which has 1 GPUs; start one process for each"):
        joined(cpu=False)


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_parameter_without_a_gradient_is_refused_if_several_processes_train(toy: Any, ranks: int) -> None:
    """Torch says so at the next step alone, in ten lines."""
    model, batch = toy.model(), toy.training.collate(np.arange(4), None)
    model.idle = torch.nn.Parameter(torch.zeros(1))
    here: Any = SimpleNamespace(
        device=torch.device("cpu"), num_processes=ranks, autocast=nullcontext, reduce=lambda x, _: x,
        backward=lambda loss: loss.backward(),
    )  # fmt: skip
    refused = pytest.raises(ConfigError, match=r"^network: the loss does not depend on idle, which several processes")
    with refused if ranks > 1 else nullcontext():
        _step(here, model, Optimizer(model, toy.config), (batch, None, 1), toy.config, 0.1)
