"""Optimizers and learning-rate schedules."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.adadelta import adadelta
from torch.optim.adam import adam

from espalier.io.errors import ConfigError
from espalier.training.config import TrainingConfig


class Optimizer:
    """Fused Adam, AdamW or Adadelta over the functional interface of torch.optim.

    The classes of torch.optim would import the compiler, torch._dynamo, which takes 1.4 s and is not used.
    Parameters of one dimension (biases, norms) have no weight decay.

    Attributes:
        param_groups: "params", "lr" and "weight_decay" of each group, as in torch.optim. "lr" starts at 0.
    """

    def __init__(self, model: nn.Module, config: TrainingConfig) -> None:
        self._config = config
        parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        groups = [
            {"params": [p for p in parameters if p.ndim > 1], "lr": 0.0, "weight_decay": config.weight_decay},
            {"params": [p for p in parameters if p.ndim <= 1], "lr": 0.0, "weight_decay": 0.0},
        ]
        self.param_groups: list[dict[str, Any]] = [group for group in groups if group["params"]]
        self._parameters = [parameter for group in self.param_groups for parameter in group["params"]]
        self._state: dict[Tensor, dict[str, Tensor]] = {}

    @torch.no_grad()
    def step(self) -> None:
        """Update every parameter that has a gradient."""
        config = self._config
        for group in self.param_groups:
            parameters = [parameter for parameter in group["params"] if parameter.grad is not None]
            gradients = [parameter.grad for parameter in parameters]
            states = [self._state_of(parameter) for parameter in parameters]
            steps, first, second = ([state[name] for state in states] for name in self._names)
            if config.optimizer == "adadelta":
                adadelta(
                    parameters, gradients, first, second, steps, lr=group["lr"], rho=config.rho, eps=config.epsilon,
                    weight_decay=group["weight_decay"], maximize=False,
                )  # fmt: skip
            elif parameters:
                adam(
                    parameters, gradients, first, second, [], steps, fused=True,
                    decoupled_weight_decay=config.optimizer == "adamw", amsgrad=False, beta1=config.betas[0],
                    beta2=config.betas[1], lr=group["lr"], weight_decay=group["weight_decay"], eps=config.epsilon,
                    maximize=False,
                )  # fmt: skip

    def zero_grad(self) -> None:
        """Drop all gradients."""
        for parameter in self._parameters:
            parameter.grad = None

    def tensors(self) -> dict[str, Tensor]:
        """The step and the moments of each parameter, under names as in torch.optim: "0.exp_avg"."""
        return {
            f"{index}.{name}": value
            for index, parameter in enumerate(self._parameters)
            for name, value in self._state.get(parameter, {}).items()
        }

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Restore what `tensors` gave."""
        for key, value in tensors.items():
            index, name = key.split(".", 1)
            parameter = self._parameters[int(index)]
            self._state.setdefault(parameter, {})[name] = value.to(parameter.device)

    @property
    def _names(self) -> tuple[str, str, str]:
        adadelta_ = self._config.optimizer == "adadelta"
        return ("step", "square_avg", "acc_delta") if adadelta_ else ("step", "exp_avg", "exp_avg_sq")

    def _state_of(self, parameter: Tensor) -> dict[str, Tensor]:
        if parameter not in self._state:
            step, first, second = self._names
            # Fused kernels keep `step` on the parameter's device, the others on the CPU.
            device = "cpu" if self._config.optimizer == "adadelta" else parameter.device
            self._state[parameter] = {
                step: torch.zeros((), device=device),
                first: torch.zeros_like(parameter),
                second: torch.zeros_like(parameter),
            }
        return self._state[parameter]


def rate_at(step: int, config: TrainingConfig, width: int) -> float:
    """The learning rate of optimizer step `step`, which counts from 1.

    noam: rate * width^-0.5 * min(step^-0.5, step * warmup^-1.5) (Vaswani et al. 2017, section 5.3).
    linear: rises to `rate` over `warmup` steps, then falls to 0 at `steps`.
    constant: rises to `rate` over `warmup` steps, then stays constant.
    """
    if config.schedule == "noam":
        return config.rate * width**-0.5 * min(step**-0.5, step * config.warmup**-1.5)
    if step <= config.warmup:
        return config.rate * step / config.warmup
    if config.schedule == "constant":
        return config.rate
    return config.rate * max(0.0, (config.steps - step) / max(1, config.steps - config.warmup))


def computes_bfloat16(device: torch.device) -> bool:
    """Whether the device computes all layers in bfloat16. A tiny LSTM tells: processors without AVX512 refuse it."""
    if device.type != "cpu":
        return True
    state, weights = torch.zeros(1, 1, 1), [torch.zeros(4, 1), torch.zeros(4, 1), torch.zeros(4), torch.zeros(4)]
    try:
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            torch.lstm(state, (state, state), weights, True, 1, 0.0, False, False, False)
    except RuntimeError:
        return False
    return True


def computes_tf32(device: torch.device) -> bool:
    """Whether the device computes products in TensorFloat-32: NVIDIA's GPUs from compute capability 8 on."""
    return device.type == "cuda" and torch.cuda.get_device_capability(device) >= (8, 0)


def precision_of(config: TrainingConfig, device: torch.device) -> str:
    """Accelerate's mixed precision: "bf16" or "no".

    Raises:
        ConfigError: bfloat16 or TensorFloat-32 is requested, but the hardware does not support it.
    """
    if config.precision == "tf32" and not computes_tf32(device):
        what = "tf32, which this hardware does not compute"
        raise ConfigError(what, where="training.precision", remedy="auto or fp32, or a GPU from Ampere on")
    if config.precision == "bf16" and not computes_bfloat16(device):
        what = "bf16, which this processor does not compute"
        raise ConfigError(what, where="training.precision", remedy="auto or fp32, or a processor with AVX512")
    if config.precision != "auto":
        return "bf16" if config.precision == "bf16" else "no"
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "no"
    supported = getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)
    return "bf16" if device.type == "cpu" and supported() and computes_bfloat16(device) else "no"
