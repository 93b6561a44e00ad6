"""How probable a model finds what a corpus has, batch by batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from espalier.datasets.batching import length_batches
from espalier.datasets.dialogue.data import DialogueData
from espalier.datasets.pairs.data import PairData
from pipeline.stage import device, followed

#: Tokens a batch. It changes the speed, not what a text's own are.
BUDGET = 8192


def nats_of(model: Any, data: PairData | DialogueData, losses: Callable[[Any], Tensor]) -> npt.NDArray[np.float64]:
    """(examples,) nats of each example.

    Args:
        losses: (batch,) nats of a batch's rows.
    """
    view, nats = model.config.view, np.zeros(len(data))
    with torch.inference_mode():
        batches = length_batches(data.sizes(view), budget=BUDGET)
        for indices in followed(batches, len(batches), "likelihood"):
            nats[indices] = losses(data.batch(indices, view).to(device())).double().cpu().numpy()
    return nats
