"""Models of pairs without trees train on the nursery's pairs, and a killed training ends with the same bits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from espalier.datasets.pairs.data import PairBatch, PairData
from espalier.datasets.pairs.encode import PairEncoding, PairSettings
from espalier.models.registry import ARCHITECTURES
from espalier.nursery.paraphrase_en import grow
from espalier.training.config import TrainingConfig
from espalier.training.loop import Progress, train

SIZES: dict[str, Any] = {"width": 32, "encoder_layers": 1, "layers": 2, "dropout": 0.1}
NETWORKS: dict[str, tuple[str, dict[str, Any]]] = {
    "residual LSTM": ("pair_seq2seq", {**SIZES, "word": 32, "residual": 1}),
    "pointer-generator": (
        "pair_seq2seq",
        {**SIZES, "word": 24, "residual": 0, "bidirectional": True, "attention": True, "copying": True},
    ),
    "DNPG": ("dnpg", {**SIZES, "heads": 4, "inner": 64}),
}


@dataclass(frozen=True)
class Examples:
    data: PairData
    view: Any

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        return self.data.sizes(self.view)

    def collate(self, indices: npt.NDArray[np.int64], rng: np.random.Generator | None) -> PairBatch:
        return self.data.batch(indices, self.view, rng, grain=self.data.GRAIN)


@pytest.fixture(scope="module")
def pairs() -> PairData:
    encoding, settings = PairEncoding(), PairSettings(pieces=400, trees=False, min_length=1)
    records = grow(300, seed=2)
    encoded = encoding.encode(records, encoding.build_vocabulary(records, settings, "en"), settings).split
    assert isinstance(encoded, PairData)
    return encoded


class KilledError(Exception):
    """Stands for a kill."""


@pytest.mark.parametrize("name", NETWORKS)
def test_a_few_steps_lower_the_dev_loss_and_a_kill_changes_no_bit(name: str, pairs: PairData, tmp_path: Path) -> None:
    arch, network = NETWORKS[name]
    entry = ARCHITECTURES[arch]
    config = TrainingConfig(
        steps=24, batch_tokens=1500, evaluate_every=8, schedule="linear", rate=5e-3, warmup=6, precision="fp32"
    )

    def trained(scratch: Path, *, kill: int | None = None) -> tuple[Progress, dict[str, torch.Tensor]]:
        def watch(progress: Progress) -> None:
            if progress.step == kill:
                raise KilledError

        torch.manual_seed(1)
        model = entry.build(entry.config(**network), pairs.vocabulary)
        view: Any = model.config.view  # type: ignore[union-attr]
        split = [Examples(pairs.select(part), view) for part in np.split(np.arange(len(pairs)), [len(pairs) - 40])]
        progress = train(
            model, *split, config, width=32, seed=1, scratch=scratch, watch=watch, checkpoint_seconds=-1, cpu=True
        )
        return progress, model.state_dict()

    progress, weights = trained(tmp_path / "straight")
    losses = [each["dev_loss"] for each in progress.history]
    assert losses[-1] < losses[0] - 0.1 and losses[-1] < math.log(pairs.vocabulary.text_size) - 0.2
    with pytest.raises(KilledError):
        trained(tmp_path / "killed", kill=11)
    again, same = trained(tmp_path / "killed")
    assert again.history == progress.history
    assert all(torch.equal(same[key], value) for key, value in weights.items())
