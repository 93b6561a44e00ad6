"""The numbers of a training, as they stand in params.yaml."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class TrainingConfig(BaseModel):
    """How a model is trained; every value can change the weights."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: Optimizer steps; early stopping may end before.
    steps: int = Field(ge=1)
    #: Tokens a batch, padding counted.
    batch_tokens: int = Field(4096, ge=1)
    optimizer: Literal["adam", "adamw", "adadelta"] = "adamw"
    betas: tuple[float, float] = (0.9, 0.98)
    #: Adadelta's decay (Zeiler 2012, who also has an epsilon of 1e-6 and, in effect, a rate of 1).
    rho: float = Field(0.95, ge=0, lt=1)
    epsilon: float = Field(1e-9, gt=0)
    weight_decay: float = Field(0.0, ge=0)
    schedule: Literal["noam", "linear", "constant"] = "noam"
    #: Noam's factor; the peak rate of the others.
    rate: float = Field(1.0, gt=0)
    warmup: int = Field(1000, ge=1)
    smoothing: float = Field(0.0, ge=0, lt=1)
    #: Largest gradient norm; 0 clips nothing.
    clip: float = Field(1.0, ge=0)
    evaluate_every: int = Field(500, ge=1)
    #: Evaluations without a better dev loss before training stops; 0 never stops.
    patience: int = Field(0, ge=0)
    #: "auto" is bfloat16 autocast where the hardware computes in it, else 32 bits.
    precision: Literal["auto", "bf16", "fp32"] = "auto"
