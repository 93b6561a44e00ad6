"""Random pairs as long as Quora's questions, and the timed training steps of the models that read them."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext

import numpy as np
import torch
from torch import nn

from espalier.datasets.pairs.data import PairBatch, PairData
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.training.config import TrainingConfig
from espalier.training.optimization import Optimizer


class Pieces(PairVocabulary):
    """As many ids as are wanted, none of which is ever a text."""

    @property
    def text_size(self) -> int:
        return int(self.pieces)


def corpus(pieces: int, pairs: int) -> PairData:
    """Random pairs whose lengths are spread as those of the questions are: 5 to 19 pieces, 11 mostly."""
    rng = np.random.default_rng(0)

    def rows() -> list[np.ndarray]:
        lengths = np.clip(rng.lognormal(2.4, 0.35, pairs), 5, 19).astype(int)
        return [rng.integers(4, pieces, length) for length in lengths]

    none = [np.zeros(0, dtype=np.int64)] * pairs
    columns = {"source": rows(), "target": rows(), "source_tree": none, "target_tree": none}
    return PairData.of([str(n) for n in range(pairs)], columns, Pieces(str(pieces), None, "en", True))


def stepper(model: nn.Module, config: TrainingConfig, bf16: bool) -> Callable[[PairBatch], float]:
    """Seconds of one training step: forward, backward, clipping and AdamW."""
    optimizer = Optimizer(model, config)

    def step(batch: PairBatch) -> float:
        started = clock(batch.device)
        with torch.autocast(batch.device.type, torch.bfloat16) if bf16 else nullcontext():
            loss = model(batch)
        (loss.total / loss.targets).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        return clock(batch.device) - started

    return step


def clock(device: torch.device) -> float:
    """Seconds: of the process on a CPU, which other processes change less than those of the wall."""
    if device.type == "cpu":
        return time.process_time()
    torch.cuda.synchronize()
    return time.perf_counter()
