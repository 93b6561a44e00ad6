"""Settings of training: `training` of a model in params.yaml."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class TrainingConfig(BaseModel):
    """How a model is trained. Every setting can change the weights."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: The largest number of optimizer steps.
    steps: int = Field(ge=1)
    #: The largest batch, in tokens with padding.
    batch_tokens: int = Field(4096, ge=1)
    optimizer: Literal["adam", "adamw", "adadelta"] = "adamw"
    betas: tuple[float, float] = (0.9, 0.98)
    #: Adadelta's decay (Zeiler 2012, with an epsilon of 1e-6 and a rate of 1).
    rho: float = Field(0.95, ge=0, lt=1)
    epsilon: float = Field(1e-9, gt=0)
    weight_decay: float = Field(0.0, ge=0)
    schedule: Literal["noam", "linear", "constant"] = "noam"
    #: The factor of Noam's schedule; the peak rate of the others.
    rate: float = Field(1.0, gt=0)
    warmup: int = Field(1000, ge=1)
    smoothing: float = Field(0.0, ge=0, lt=1)
    #: The largest gradient norm; 0 means no clipping.
    clip: float = Field(1.0, ge=0)
    #: The dev loss is measured after every so many steps.
    evaluate_every: int = Field(500, ge=1)
    #: Training stops after this many evaluations without a better dev loss; 0 means never.
    patience: int = Field(0, ge=0)
    #: "auto" is bfloat16 autocast if the hardware supports it, else float32.
    precision: Literal["auto", "bf16", "fp32"] = "auto"
