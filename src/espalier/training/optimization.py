"""Optimizers and learning-rate schedules."""

from __future__ import annotations

import torch
from torch import nn

from espalier.training.config import TrainingConfig


def optimizer_of(model: nn.Module, config: TrainingConfig) -> torch.optim.Optimizer:
    """Fused Adam or AdamW, or Adadelta; what has one dimension (biases, norms, single rows) does not decay."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": config.weight_decay},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    if config.optimizer == "adadelta":
        return torch.optim.Adadelta(groups, lr=0.0, rho=config.rho, eps=config.epsilon)
    kind = torch.optim.AdamW if config.optimizer == "adamw" else torch.optim.Adam
    return kind(groups, lr=0.0, betas=config.betas, eps=config.epsilon, fused=True)


def rate_at(step: int, config: TrainingConfig, width: int) -> float:
    """The learning rate of optimizer step `step`, which counts from 1.

    noam: rate * width^-0.5 * min(step^-0.5, step * warmup^-1.5) (Vaswani et al. 2017, section 5.3).
    linear: up to `rate` over `warmup` steps, then down to 0 at `steps`.
    constant: up to `rate` over `warmup` steps, then level.
    """
    if config.schedule == "noam":
        return config.rate * width**-0.5 * min(step**-0.5, step * config.warmup**-1.5)
    if step <= config.warmup:
        return config.rate * step / config.warmup
    if config.schedule == "constant":
        return config.rate
    return config.rate * max(0.0, (config.steps - step) / max(1, config.steps - config.warmup))


def precision_of(config: TrainingConfig, device: torch.device) -> str:
    """The mixed precision that Accelerate shall use: "bf16" or "no"."""
    if config.precision != "auto":
        return "bf16" if config.precision == "bf16" else "no"
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "no"
    supported = getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)
    return "bf16" if device.type == "cpu" and supported() else "no"
