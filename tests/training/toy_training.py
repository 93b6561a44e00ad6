"""A model, and examples, so small that forty steps take a moment; they have all that can go wrong in a resume:

dropout and random collating, batches of different lengths, several epochs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from safetensors.torch import save as to_bytes
from torch import Tensor, nn

from espalier.datasets.batch import Batch
from espalier.layers.dropout import dropout
from espalier.models.contract import Loss
from espalier.training.config import TrainingConfig

WORDS = 12


@dataclass(frozen=True)
class ToyBatch(Batch):
    """(batch, time) ids; 0 is padding."""

    ids: Tensor

    @property
    def target(self) -> Tensor:  # type: ignore[override]
        return self.ids[:, 1:]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class ToyExamples:
    rows: list[npt.NDArray[np.int64]]

    @classmethod
    def drawn(cls, count: int, seed: int) -> ToyExamples:
        rng = np.random.default_rng(seed)
        return cls([np.sort(rng.integers(1, WORDS, rng.integers(2, 9))) for _ in range(count)])

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        return np.array([len(row) for row in self.rows], dtype=np.int64)

    def collate(self, indices: npt.NDArray[np.int64], rng: np.random.Generator | None) -> ToyBatch:
        ids = np.zeros((len(indices), max(len(self.rows[i]) for i in indices)), dtype=np.int64)
        for place, index in enumerate(indices):
            ids[place, : len(self.rows[index])] = self.rows[index]
        if rng is not None:  # as literals are drawn for SongNet
            ids = np.where((ids > 0) & (rng.random(ids.shape) < 0.1), 1, ids)
        return ToyBatch(torch.from_numpy(ids))


class ToyModel(nn.Module):
    """The next id from the present one."""

    def __init__(self, dropout: float = 0.2) -> None:
        super().__init__()
        self.table, self.out = nn.Embedding(WORDS, 16), nn.Linear(16, WORDS)
        self.dropout = dropout

    def forward(self, batch: ToyBatch, smoothing: float = 0.0) -> Loss:
        x = dropout(self.table(batch.ids[:, :-1]), self.dropout, self.training)
        real, target = batch.real, batch.target
        losses = F.cross_entropy(self.out(x)[real].float(), target[real], reduction="sum", label_smoothing=smoothing)
        return Loss(losses, real.sum())


def toy_model(seed: int = 1) -> ToyModel:
    torch.manual_seed(seed)
    return ToyModel()


def weights_sha256(model: nn.Module) -> str:
    return hashlib.sha256(to_bytes({k: v.contiguous() for k, v in sorted(model.state_dict().items())})).hexdigest()


TRAINING, DEV = ToyExamples.drawn(60, 1), ToyExamples.drawn(20, 2)
CONFIG = TrainingConfig(
    steps=40,
    batch_tokens=240,
    schedule="linear",
    rate=0.02,
    warmup=5,
    smoothing=0.1,
    evaluate_every=7,
    precision="fp32",
)  # about five batches an epoch


@dataclass
class Toy:
    """What the tests of this folder take from here."""

    training: ToyExamples = TRAINING
    dev: ToyExamples = DEV
    config: TrainingConfig = CONFIG
    examples: type[ToyExamples] = ToyExamples
    model: Callable[..., ToyModel] = toy_model
    sha256: Callable[[nn.Module], str] = weights_sha256

    def train(self, scratch: Path, *, seed: int = 1, config: TrainingConfig = CONFIG, **other: Any) -> tuple[Any, str]:
        """A training from the start or a checkpoint: where it ended, and the hash of its weights."""
        from espalier.training.loop import train

        model = toy_model(seed)
        progress = train(model, TRAINING, DEV, config, width=16, seed=seed, scratch=scratch, cpu=True, **other)
        return progress, weights_sha256(model)
