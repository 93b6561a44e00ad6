"""Settings of training: the key `training` of a model in params.yaml."""

from typing import Annotated, Literal

from pydantic import Field

from espalier.io.validation import Strict

#: The decay of a moving average.
Decay = Annotated[float, Field(ge=0, lt=1)]


class TrainingConfig(Strict):
    """Settings of a training. Every setting can change the weights."""

    #: Of a model that starts from another one. "same": both have one vocabulary. "mapped": rows of words and symbols
    #: that both have are copied; the others start as they do in a model that starts from none.
    init_vocab: Literal["same", "mapped"] = "same"
    #: The largest number of optimizer steps.
    steps: int = Field(ge=1, le=100_000_000)
    #: The largest batch, in tokens with padding.
    batch_tokens: int = Field(4096, ge=1, le=10_000_000)
    optimizer: Literal["adam", "adamw", "adadelta"] = "adamw"
    betas: tuple[Decay, Decay] = (0.9, 0.98)
    #: Adadelta's decay (Zeiler 2012, with an epsilon of 1e-6 and a rate of 1).
    rho: float = Field(0.95, ge=0, lt=1)
    epsilon: float = Field(1e-9, gt=0, le=1)
    weight_decay: float = Field(0.0, ge=0, le=1000)
    schedule: Literal["noam", "linear", "constant"] = "noam"
    #: The factor of Noam's schedule; the peak rate of the others.
    rate: float = Field(1.0, gt=0, le=1000)
    warmup: int = Field(1000, ge=1, le=100_000_000)
    smoothing: float = Field(0.0, ge=0, lt=1)
    #: The largest gradient norm; 0 means no clipping.
    clip: float = Field(1.0, ge=0, le=1e9)
    #: Number of steps between measurements of the dev loss.
    evaluate_every: int = Field(500, ge=1, le=100_000_000)
    #: Training stops after this many evaluations without a better dev loss; 0 means never.
    patience: int = Field(0, ge=0, le=100_000_000)
    #: "auto" is bfloat16 autocast if the hardware supports it, else float32. "tf32" is float32 whose products a GPU
    #: computes with TensorFloat-32, of ten bits; "fp32" never does.
    precision: Literal["auto", "bf16", "tf32", "fp32"] = "auto"
