"""Compiled losses: one graph for batches of all shapes, with the losses, gradients and tensors of the model."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from each_system import SYSTEMS, system
from torch import Tensor, nn
from toy_training import CONFIG, DEV, TRAINING, ToyBatch, ToyModel, weights_sha256

from espalier.io.errors import ConfigError, EspalierError
from espalier.layers import attention, dropout, readout
from espalier.models.contract import Loss
from espalier.training import loop
from espalier.training.compiled import compiled, is_recurrent
from espalier.training.loop import Progress, train

#: The systems whose steps are compiled, with fewer layers, since compiling takes long.
COMPILED: dict[str, dict[str, int]] = {
    "SongNet": {"layers": 1},
    "GuiG": {"layers": 1},
    "GuiG's expander": {"layers": 1},
    "C-DNPG": {"layers": 1, "encoder_layers": 1, "first_layer": 1},
    "Transformer and copying": {"layers": 1, "encoder_layers": 1, "first_layer": 1},
    "SAT": {"layers": 1},
}
#: Rows of batches whose shapes differ in all dimensions.
SHAPES = ([0, 1, 2, 3, 4], [5, 30, 7], [*range(8, 40)])


class Whole(ToyModel):
    """The toy without an index whose size depends on values."""

    def forward(self, batch: ToyBatch, smoothing: float = 0.0) -> Loss:
        x = dropout.dropout(self.table(batch.ids[:, :-1]), self.dropout, self.training)
        logits, target = self.out(batch.unpadded(x)), batch.unpadded(batch.target)
        return Loss(F.cross_entropy(logits, target, reduction="sum", label_smoothing=smoothing), batch.real.sum())


@pytest.fixture(autouse=True)
def _no_graphs_of_other_tests() -> None:
    torch.compiler.reset()
    torch._dynamo.utils.counters.clear()


def test_all_systems_are_compiled_but_those_with_recurrent_layers() -> None:
    assert {name for name in SYSTEMS if not is_recurrent(system(name).model)} == COMPILED.keys()
    assert is_recurrent(nn.Sequential(nn.GRUCell(2, 2)))


#: Those whose losses and gradients are compared: each kind of attention and of output once, one in half precision.
COMPARED = {"SongNet": False, "GuiG": False, "C-DNPG": False, "SAT": False, "Transformer and copying": True}


@pytest.mark.parametrize(("name", "half"), COMPARED.items())
def test_a_loss_is_one_graph_for_all_shapes_with_the_losses_gradients_and_dropout_of_the_model(
    name: str, half: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (attention, dropout, readout):  # the model computes as on a GPU, as graphs do on all devices
        monkeypatch.setattr(module, "on_host", lambda x: False)
    given = system(name, **COMPILED[name])
    model = given.model.train()

    def learned(losses: Any, rows: list[int]) -> tuple[float, list[Tensor]]:
        batch = given.collate(np.array(rows), np.random.default_rng(3))
        torch.manual_seed(7)
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            loss = losses(batch, 0.1)
        model.zero_grad()
        loss.total.backward()
        return loss.total.item(), [parameter.grad for parameter in model.parameters() if parameter.grad is not None]

    losses, rounding = compiled(model, "aot_eager"), 2e-2 if half else 1e-5
    for rows in SHAPES:
        ours, theirs = learned(losses, rows), learned(model, rows)
        assert ours[0] == pytest.approx(theirs[0], rel=rounding / 10)
        for one, other in zip(ours[1], theirs[1], strict=True):
            assert (one - other).norm() <= rounding * max(1.0, other.norm().item())
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


@pytest.mark.usefixtures("without_autocast")
@pytest.mark.parametrize("name", COMPILED)
def test_a_loss_is_one_graph_on_a_device_whose_values_are_not_at_hand(name: str) -> None:
    given = system(name, **COMPILED[name])
    losses = compiled(given.model.train().to("meta"), "eager")
    for rows in SHAPES:
        losses(given.collate(np.array(rows), np.random.default_rng(3)).to("meta"), 0.1).total.backward()
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


class StoppedError(Exception):
    """Stands for a kill."""


def trained(scratch: Path, stop: int = 0, compiles: bool = True, dropped: float = 0.2) -> tuple[Progress, nn.Module]:
    torch.manual_seed(1)
    model = Whole(dropped)

    def watch(progress: Progress) -> None:
        if progress.step == stop:
            raise StoppedError

    progress = train(
        model, TRAINING, DEV, CONFIG, width=16, seed=1, scratch=scratch, watch=watch, checkpoint_seconds=-1, cpu=True,
        compiles=compiles,
    )  # fmt: skip
    return progress, model


def test_a_killed_compiled_training_ends_with_the_same_weights_under_their_own_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "compiled", partial(compiled, backend="aot_eager"))
    straight, model = trained(tmp_path / "straight")
    assert straight.compiled == straight.step == 40
    assert model.state_dict().keys() == {"table.weight", "out.weight", "out.bias"}
    with pytest.raises(StoppedError):
        trained(tmp_path / "killed", stop=13)
    again, other = trained(tmp_path / "killed")
    assert (again.compiled, again.history) == (40, straight.history)
    assert weights_sha256(other) == weights_sha256(model)

    with pytest.raises(StoppedError):
        trained(tmp_path / "eager", stop=13, compiles=False)
    assert trained(tmp_path / "eager")[0].compiled == 28  # the checkpoint is of step 12


@pytest.mark.skipif(not shutil.which("g++"), reason="no C++ compiler")
def test_kernels_of_a_compiler_train_as_the_model_itself(tmp_path: Path) -> None:
    with_kernels, _ = trained(tmp_path / "compiled", dropped=0.0)  # whose masks would be others
    assert with_kernels.compiled == 40
    alone, _ = trained(tmp_path / "alone", compiles=False, dropped=0.0)
    for one, other in zip(with_kernels.history, alone.history, strict=True):
        assert one == pytest.approx(other, abs=1e-4)


def test_recurrent_layers_are_trained_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "compiled", None)
    given = system("NRM")
    config = CONFIG.model_copy(update={"steps": 1})
    progress = train(given.model, given, given, config, width=12, seed=1, scratch=tmp_path, cpu=True, compiles=True)
    assert (progress.step, progress.compiled) == (1, 0)


def test_a_loss_that_looks_at_values_is_refused_in_a_line() -> None:
    class Looking(Whole):
        def forward(self, batch: ToyBatch, smoothing: float = 0.0) -> Loss:
            return super().forward(batch, smoothing if (batch.ids > 3).any() else 0.0)

    refused = "^ESPALIER_COMPILE: torch.compile fails: Data-dependent branching; unset it to train without a compiler$"
    with pytest.raises(EspalierError, match=refused):
        compiled(Looking(), "eager")(TRAINING.collate(np.arange(4), None), 0.1)


def test_a_machine_without_a_compiler_is_told_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._inductor.utils import fresh_cache

    monkeypatch.setattr(torch._inductor.config.cpp, "cxx", ("no-such-compiler",))
    refused = pytest.raises(EspalierError, match=r"^ESPALIER_COMPILE: torch.compile fails: .*No working C\+\+ compiler")
    with fresh_cache(), refused:
        compiled(Whole())(TRAINING.collate(np.arange(4), None), 0.1)


def test_several_processes_are_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"^ESPALIER_COMPILE: 2 processes, whose steps are not compiled; unset it, or"
    ):
        loop._compiled(Whole(), 2)
