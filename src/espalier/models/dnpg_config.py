"""Settings of DNPG: `network` of a model in params.yaml."""

from __future__ import annotations

from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from espalier.datasets.pairs.data import PairView


class DNPGConfig(BaseModel):
    """Settings of the architecture. Defaults are C-DNPG's for all its Transformers, which follow DNPG."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: What its granularities are: two levels, of a separator instead of granularity heads.
    granularity: ClassVar[str] = "levels"

    width: int = Field(450, ge=2, le=8192, multiple_of=2)
    #: The layers of each level's encoder, and of each level's decoder.
    encoder_layers: int = Field(3, ge=1, le=128)
    layers: int = Field(3, ge=1, le=128)
    heads: int = Field(9, ge=1, le=128)
    #: The width of feed-forward layers.
    inner: int = Field(1024, ge=1, le=65_536)
    dropout: float = Field(0.1, ge=0, lt=1)
    attention_dropout: float = Field(0.1, ge=0, lt=1)
    #: The places that self-attention of the phrase level sees: around a place in the encoder, up to it in the decoder.
    window: int = Field(3, ge=1, le=65_535)
    #: tau of the Gumbel-softmax in training.
    temperature: float = Field(1.0, gt=0, le=1000)
    #: lambda: the weight in training of the levels' cross entropy against those by alignment; 0: no supervision.
    supervision: float = Field(1.0, ge=0, le=1000)
    #: The longest row that is read or written, in ids. Datasets and decoders are checked against it.
    positions: int = Field(512, ge=4, le=65_536)

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is no multiple of {self.heads} heads")
        if self.window % 2 == 0:
            raise ValueError(f"window {self.window} is even; a place in the encoder has as many before it as after it")
        return self

    @property
    def view(self) -> PairView:
        """What this model reads and writes."""
        return PairView(("source",), "text")
