"""The loop: the same bits each time, broken off or not; the best weights; errors in one line."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from espalier.datasets.batch import batch_plan
from espalier.io.errors import DataError, EspalierError
from espalier.models.contract import Loss
from espalier.training.loop import Progress, mean_loss, train
from espalier.training.optimization import computes_bfloat16


class StoppedError(Exception):
    """Stands for a kill."""


def stop_at(step: int) -> Any:
    def watch(progress: Progress) -> None:
        if progress.step == step:
            raise StoppedError

    return watch


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(
    toy: Any, straight: tuple[Any, str], tmp_path: Path
) -> None:
    again, sha256 = toy.train(tmp_path / "again")
    assert (sha256, again.history) == (straight[1], straight[0].history)
    assert toy.train(tmp_path / "other", seed=2)[1] != sha256


def test_checkpoints_at_every_step_change_nothing(toy: Any, straight: tuple[Any, str], tmp_path: Path) -> None:
    assert toy.train(tmp_path, checkpoint_seconds=-1)[1] == straight[1]


def test_batches_differ_from_epoch_to_epoch_and_the_run_spans_several(toy: Any, straight: tuple[Any, str]) -> None:
    plans = [batch_plan(toy.training.lengths, budget=toy.config.batch_tokens, seed=1, epoch=epoch) for epoch in (0, 1)]
    assert [batch.tolist() for batch in plans[0]] != [batch.tolist() for batch in plans[1]]
    assert straight[0].epoch >= 3


# Before the first evaluation; at one; in the middle of an epoch; at the end of one; at the end of all.
@pytest.mark.parametrize("steps", [(2,), (7,), (8,), (3, 4, 5), (5, 10, 15), (12, 33), (39,), (40,)], ids=str)
def test_broken_off_and_begun_again_it_ends_with_the_same_weights(
    toy: Any, straight: tuple[Any, str], tmp_path: Path, steps: tuple[int, ...]
) -> None:
    for step in steps:
        with pytest.raises(StoppedError):
            toy.train(tmp_path, checkpoint_seconds=-1, watch=stop_at(step))
    seen: list[int] = []
    progress, sha256 = toy.train(tmp_path, checkpoint_seconds=-1, watch=lambda progress: seen.append(progress.step))
    assert seen[0] == steps[-1]  # the step that was being saved, no earlier one
    assert sha256 == straight[1]
    assert progress.history == straight[0].history
    assert (progress.tokens, progress.best_step) == (straight[0].tokens, straight[0].best_step)


def test_a_damaged_newest_checkpoint_costs_one_step_and_no_bit(
    toy: Any, straight: tuple[Any, str], tmp_path: Path
) -> None:
    with pytest.raises(StoppedError):
        toy.train(tmp_path, checkpoint_seconds=-1, watch=stop_at(20))
    newest = sorted(tmp_path.glob("*.safetensors"))[-1]
    newest.write_bytes(newest.read_bytes()[:1000])
    seen: list[int] = []
    with pytest.warns(UserWarning, match="step-000000019 is damaged"):
        sha256 = toy.train(tmp_path, watch=lambda progress: seen.append(progress.step))[1]
    assert (seen[0], sha256) == (19, straight[1])


def test_with_no_whole_checkpoint_it_starts_anew(toy: Any, straight: tuple[Any, str], tmp_path: Path) -> None:
    with pytest.raises(StoppedError):
        toy.train(tmp_path, checkpoint_seconds=-1, watch=stop_at(20))
    for path in tmp_path.glob("*.json"):
        path.write_text("{", encoding="utf-8")
    with pytest.warns(UserWarning):
        assert toy.train(tmp_path)[1] == straight[1]


def test_random_numbers_drawn_elsewhere_before_it_change_nothing(
    toy: Any, straight: tuple[Any, str], tmp_path: Path
) -> None:
    model = toy.model(1)
    torch.rand(17)
    np.random.default_rng().random(3)
    train(model, toy.training, toy.dev, toy.config, width=16, seed=1, scratch=tmp_path, cpu=True)
    assert toy.sha256(model) == straight[1]


def backwards(toy: Any) -> Any:
    """What the training examples teach is wrong here: the better it learns them, the worse it does."""
    return toy.examples([row[::-1].copy() for row in toy.dev.rows])


def test_early_stopping_stops_and_gives_the_best_weights_back(toy: Any, tmp_path: Path) -> None:
    config = toy.config.model_copy(update={"patience": 3, "evaluate_every": 2, "steps": 200})
    model = toy.model()
    progress = train(model, toy.training, backwards(toy), config, width=16, seed=1, scratch=tmp_path, cpu=True)
    losses = {line["step"]: line["dev_loss"] for line in progress.history}
    assert progress.step < 200 and progress.stale == 3
    assert progress.best_step == min(losses, key=losses.__getitem__) == progress.step - 6
    assert mean_loss(model, backwards(toy), 160) == pytest.approx(progress.best_loss, rel=1e-6)
    assert losses[progress.best_step] < losses[progress.step]


def test_early_stopping_remembers_the_best_through_a_break(toy: Any, tmp_path: Path) -> None:
    config = toy.config.model_copy(update={"patience": 3, "evaluate_every": 2, "steps": 200})

    def run(scratch: Path, **other: Any) -> tuple[Progress, str]:
        model = toy.model()
        progress = train(
            model, toy.training, backwards(toy), config, width=16, seed=1, scratch=scratch, cpu=True, **other
        )
        return progress, toy.sha256(model)

    whole, sha256 = run(tmp_path / "whole")
    with pytest.raises(StoppedError):
        run(tmp_path / "broken", checkpoint_seconds=-1, watch=stop_at(whole.best_step + 3))
    assert run(tmp_path / "broken")[1] == sha256


def test_evaluations_are_made_on_time_and_at_the_end(straight: tuple[Any, str]) -> None:
    assert [line["step"] for line in straight[0].history] == [7, 14, 21, 28, 35, 40]
    losses = [line["dev_loss"] for line in straight[0].history]
    assert losses[-1] < losses[0] - 0.3  # it learns


def test_the_first_evaluation_may_come_after_the_last_step(toy: Any, tmp_path: Path) -> None:
    progress, _ = toy.train(
        tmp_path, config=toy.config.model_copy(update={"evaluate_every": 1000, "steps": 3}), checkpoint_seconds=-1
    )
    assert [line["step"] for line in progress.history] == [3]


@pytest.mark.parametrize("budget", [1, 9, 40, 10_000])
def test_the_mean_loss_does_not_depend_on_the_batches(toy: Any, budget: int) -> None:
    model = toy.model().train()
    one_by_one = [model.eval()(toy.dev.collate(np.array([i]), None)) for i in range(len(toy.dev.rows))]
    model.train()
    expected = sum(float(loss.total.detach()) for loss in one_by_one) / sum(int(loss.targets) for loss in one_by_one)
    assert mean_loss(model, toy.dev, budget) == pytest.approx(expected, rel=1e-6)
    assert model.training  # as it was before


class Broken(nn.Module):
    """A loss that is no number from the fourth step on, in training or on dev."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self.weight, self.where, self.calls = nn.Parameter(torch.ones(2)), where, 0

    def forward(self, batch: Any, smoothing: float = 0.0) -> Loss:
        self.calls += 1
        bad = (self.where == "training") == self.training and self.calls > 3
        return Loss(self.weight.sum() * (math.nan if bad else 1.0), torch.tensor(4))


@pytest.mark.parametrize("where", ["training", "dev"])
def test_a_loss_that_is_no_number_is_one_line_that_says_when(toy: Any, tmp_path: Path, where: str) -> None:
    with pytest.raises(EspalierError) as caught:
        train(Broken(where), toy.training, toy.dev, toy.config, width=16, seed=1, scratch=tmp_path, cpu=True)
    assert "step 7" in str(caught.value) and "nan" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("empty", ["train", "dev"])
def test_an_empty_split_is_named(toy: Any, tmp_path: Path, empty: str) -> None:
    nothing = toy.examples([])
    splits = (nothing, toy.dev) if empty == "train" else (toy.training, nothing)
    with pytest.raises(DataError, match=f"^{empty} split: no examples"):
        train(toy.model(), *splits, toy.config, width=16, seed=1, scratch=tmp_path, cpu=True)


@pytest.mark.skipif(not computes_bfloat16(torch.device("cpu")), reason="bfloat16 needs AVX512")
def test_bfloat16_repeats_too_and_its_weights_stay_in_32_bits(toy: Any, tmp_path: Path) -> None:
    config = toy.config.model_copy(update={"precision": "bf16", "steps": 12})
    shas = []
    for name in ("a", "b"):
        model = toy.model()
        train(model, toy.training, toy.dev, config, width=16, seed=1, scratch=tmp_path / name, cpu=True)
        shas.append(toy.sha256(model))
        assert {value.dtype for value in model.state_dict().values()} == {torch.float32}
    exact = toy.train(tmp_path / "exact", config=config.model_copy(update={"precision": "fp32"}))[1]
    assert shas[0] == shas[1] != exact


def test_clipping_and_smoothing_change_the_result(toy: Any, straight: tuple[Any, str], tmp_path: Path) -> None:
    for name, value in (("clip", 0.01), ("smoothing", 0.0), ("weight_decay", 0.1)):
        changed = toy.config.model_copy(update={name: value})
        assert toy.train(tmp_path / name, config=changed)[1] != straight[1], name
