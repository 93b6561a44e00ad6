"""Schedules against numbers worked out by hand, and which weights decay."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest
import torch
from pydantic import ValidationError
from torch import nn

from espalier.io.errors import ConfigError
from espalier.training.config import TrainingConfig
from espalier.training.optimization import Optimizer, computes_bfloat16, precision_of, rate_at


def config(**values: object) -> TrainingConfig:
    return TrainingConfig.model_validate({"steps": 100, **values})


@pytest.mark.parametrize(
    ("factor", "warmup", "width", "peak"),
    [
        (2.0, 12_800, 256, 0.00110485),  # 2 / 16 / sqrt(12800)
        (0.5, 8_000, 768, 0.000201717),  # 0.5 / sqrt(768 * 8000)
        (1.0, 10_000, 768, 0.000360844),
        (1.0, 4_000, 512, 0.000698771),
    ],
)
def test_noam_has_its_peak_where_warmup_ends(factor: float, warmup: int, width: int, peak: float) -> None:
    noam = config(schedule="noam", rate=factor, warmup=warmup)
    assert rate_at(warmup, noam, width) == pytest.approx(peak, rel=1e-5)
    assert rate_at(warmup - 1, noam, width) < rate_at(warmup, noam, width) > rate_at(warmup + 1, noam, width)
    assert rate_at(warmup // 4, noam, width) == pytest.approx(peak / 4, rel=1e-5)  # straight up
    assert rate_at(4 * warmup, noam, width) == pytest.approx(peak / 2, rel=1e-5)  # down as the root


@pytest.mark.parametrize(
    ("step", "rate"), [(1, 0.02), (5, 0.1), (10, 0.2), (11, 0.2 * 89 / 90), (55, 0.1), (99, 0.2 / 90), (100, 0.0)]
)
def test_linear_rises_over_warmup_then_falls_to_zero_at_the_last_step(step: int, rate: float) -> None:
    assert rate_at(step, config(schedule="linear", rate=0.2, warmup=10), 999) == pytest.approx(rate)


@pytest.mark.parametrize(("step", "rate"), [(1, 0.05), (4, 0.2), (5, 0.2), (100, 0.2)])
def test_constant_rises_over_warmup_then_stays(step: int, rate: float) -> None:
    assert rate_at(step, config(schedule="constant", rate=0.2, warmup=4), 999) == pytest.approx(rate)


def test_a_warmup_longer_than_the_training_never_divides_by_zero_or_falls_below_it() -> None:
    for schedule in ("noam", "linear", "constant"):
        for warmup in (1, 99, 100, 101):
            rates = [rate_at(step, config(schedule=schedule, warmup=warmup), 16) for step in range(1, 101)]
            assert all(rate >= 0 for rate in rates) and max(rates) > 0


def test_vectors_do_not_decay_and_frozen_weights_are_left_alone() -> None:
    model = nn.Sequential(nn.Embedding(5, 4), nn.LayerNorm(4), nn.Linear(4, 3))
    model[2].weight.requires_grad_(False)
    decayed, kept = Optimizer(model, config(weight_decay=0.1)).param_groups
    assert decayed["weight_decay"] == 0.1 and [tuple(p.shape) for p in decayed["params"]] == [(5, 4)]
    assert kept["weight_decay"] == 0 and [tuple(p.shape) for p in kept["params"]] == [(4,), (4,), (3,)]


def test_a_model_of_vectors_alone_has_no_empty_group_of_matrices() -> None:
    (group,) = Optimizer(nn.LayerNorm(4), config()).param_groups
    assert [tuple(p.shape) for p in group["params"]] == [(4,), (4,)]


def test_adadelta_takes_the_steps_that_its_paper_has() -> None:
    weight = nn.Parameter(torch.zeros(1))
    layer = nn.Module()
    layer.weight = weight
    optimizer = Optimizer(layer, config(optimizer="adadelta", rho=0.9, epsilon=1e-6))
    squares = steps = 0.0
    at = 0.0
    for slope in (1.0, -0.5, 2.0):
        squares = 0.9 * squares + 0.1 * slope**2
        step = -(((steps + 1e-6) / (squares + 1e-6)) ** 0.5) * slope
        steps = 0.9 * steps + 0.1 * step**2
        at += 0.5 * step
        weight.grad = torch.tensor([slope])
        for group in optimizer.param_groups:
            group["lr"] = 0.5
        optimizer.step()
        assert weight.item() == pytest.approx(at, rel=1e-5)


def test_precision_is_what_is_asked_for_and_auto_never_emulates() -> None:
    cpu = torch.device("cpu")
    assert precision_of(config(precision="fp32"), cpu) == "no"
    fast = getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)() and computes_bfloat16(cpu)
    assert precision_of(config(), cpu) == ("bf16" if fast else "no")


def test_tensorfloat_32_is_of_gpus_and_never_what_auto_or_fp32_means(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu, gpu = torch.device("cpu"), torch.device("cuda")
    with pytest.raises(ConfigError, match=r"^training.precision: tf32, which this hardware does not compute; auto or"):
        precision_of(config(precision="tf32"), cpu)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (7, 5))
    with pytest.raises(ConfigError, match="a GPU from Ampere on"):
        precision_of(config(precision="tf32"), gpu)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0))
    assert precision_of(config(precision="tf32"), gpu) == "no"


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the cap is one of oneDNN for x86")
def test_a_processor_without_bfloat16_refuses_it_in_one_line_and_auto_avoids_it() -> None:
    """oneDNN, capped to AVX2 as on a processor without AVX512, has no LSTM in bfloat16, whatever the processor says."""
    code = """
import torch
from espalier.training.config import TrainingConfig
from espalier.training.optimization import computes_bfloat16, precision_of
cpu, asked = torch.device("cpu"), dict(steps=100)
torch.cpu._is_avx512_bf16_supported = lambda: True
print(precision_of(TrainingConfig(**asked), cpu))
print(precision_of(TrainingConfig(**asked, precision="bf16"), torch.device("cuda")))
print(precision_of(TrainingConfig(**asked, precision="bf16"), cpu))
"""
    environment = os.environ | {"ONEDNN_MAX_CPU_ISA": "AVX2"}
    found = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert found.stdout.split() == ["no", "bf16"]
    assert "training.precision: bf16, which this processor does not compute; auto or" in found.stderr


@pytest.mark.parametrize(
    "wrong",
    [
        {"steps": 0},
        {"batch_tokens": 0},
        {"rate": 0},
        {"warmup": 0},
        {"smoothing": 1.0},
        {"clip": -1},
        {"evaluate_every": 0},
        {"patience": -1},
        {"schedule": "cosine"},
        {"optimizer": "sgd"},
        {"rho": 1.0},
        {"precision": "fp16"},
        {"betas": (0.9,)},
        {"epochs": 3},
    ],
    ids=str,
)
def test_a_training_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        config(**wrong)


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "adadelta"])
def test_weights_are_those_of_torch_optim_to_the_bit(optimizer: str) -> None:
    """Also after the state has been saved and restored, and with a parameter that has no gradient."""
    settings = config(optimizer=optimizer, weight_decay=0.1, betas=(0.8, 0.9), epsilon=1e-6, rho=0.9)
    torch.manual_seed(1)
    models = [nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2), nn.Linear(7, 7)) for _ in range(2)]
    models[1].load_state_dict(models[0].state_dict())
    groups = [{"params": [p for p in models[1].parameters() if (p.ndim > 1) == matrix]} for matrix in (True, False)]
    groups[1]["weight_decay"] = 0.0  # type: ignore[assignment]
    reference: torch.optim.Optimizer
    if optimizer == "adadelta":
        reference = torch.optim.Adadelta(groups, lr=0.01, rho=0.9, eps=1e-6, weight_decay=0.1)
    else:
        kind = torch.optim.AdamW if optimizer == "adamw" else torch.optim.Adam
        reference = kind(groups, lr=0.01, betas=(0.8, 0.9), eps=1e-6, weight_decay=0.1, fused=True)
    own = Optimizer(models[0], settings)
    for step in range(6):
        if step == 3:
            saved, own = own.tensors(), Optimizer(models[0], settings)
            own.restore(saved)
        x = torch.randn(5, 4)
        for model, each in zip(models, (own, reference), strict=True):
            for group in each.param_groups:
                group["lr"] = 0.01 * (step + 1)
            model[:3](x).square().sum().backward()
            each.step()
            each.zero_grad()
    for ours, theirs in zip(models[0].parameters(), models[1].parameters(), strict=True):
        assert torch.equal(ours, theirs) and ours.grad is None
