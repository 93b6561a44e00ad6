"""A training step on a device that has no data: what would wait for the device raises an error there."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from each_system import SYSTEMS, System, system
from torch.utils._python_dispatch import TorchDispatchMode

from espalier.layers.readout import LOGITS, ROWS, Readout, slice_rows
from espalier.training.config import TrainingConfig
from espalier.training.loop import _step
from espalier.training.optimization import Optimizer

META = torch.device("meta")


class Seen(TorchDispatchMode):
    """Counts operations, and refuses a copy to the device for which the host would wait."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = func.overloadpacket.__name__, kwargs or {}
        self.counts[name] += 1
        moved = name == "_to_copy" and args[0].device.type == "cpu" and kwargs.get("device") == META
        assert not moved or kwargs.get("non_blocking"), "a copy that blocks"
        return func(*args, **kwargs)


def stepped(given: System, rows: int) -> Seen:
    """One step on the few shortest rows."""
    model = given.model.to(META)
    config = TrainingConfig(steps=2, clip=1.0, smoothing=0.1, precision="fp32")
    whole = given.collate(np.argsort(given.lengths, kind="stable")[:rows], np.random.default_rng(1))
    here: Any = SimpleNamespace(
        device=META, process_index=0, num_processes=1, autocast=nullcontext, backward=lambda loss: loss.backward()
    )
    seen = Seen()
    with seen:
        _step(here, model, Optimizer(model, config), (whole, None, 1), config, 0.1)
    return seen


@pytest.mark.usefixtures("without_autocast")
@pytest.mark.parametrize("name", SYSTEMS)
def test_no_system_waits_for_the_device_in_a_step(name: str) -> None:
    assert stepped(system(name), 3).counts["mm"]


@pytest.mark.usefixtures("without_autocast")
def test_the_output_layer_of_a_device_is_one_slice_whatever_the_rows() -> None:
    layer = Readout(8, 5000, device=META)
    for rows in (1, ROWS - 1, 20 * ROWS):
        with Seen() as seen:
            loss = layer.loss(torch.empty(rows, 8, device=META), torch.empty(rows, dtype=torch.long, device=META), 0.1)
            loss.backward()
        assert (seen.counts["addmm"], seen.counts["mm"]) == (1, 2)
    assert slice_rows(torch.empty(20 * ROWS, 1), 5000) == ROWS
    assert slice_rows(torch.empty(0, 1, device=META), 5000) == 1
    most = slice_rows(torch.empty(10**6, 1, device=META), 5000)
    assert most * 5000 <= LOGITS < (most + 1) * 5000
