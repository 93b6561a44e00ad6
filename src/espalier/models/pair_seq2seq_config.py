"""Settings of the recurrent paraphrase models: `network` of a model in params.yaml."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from espalier.datasets.pairs.data import PairView
from espalier.layers.options import Cell


class PairSeq2SeqConfig(BaseModel):
    """Settings of C-DNPG's recurrent baselines. Defaults are those of the residual LSTM (Prakash et al. 2016).

    Widths are those of C-DNPG for all models. The pointer-generator (See et al. 2017) is `encoder_layers: 1, layers: 1,
    residual: 0, bidirectional: true, attention: true, copying: true`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    cell: Cell = "lstm"
    #: The width of every layer's output; each direction of the encoder has half of it if it is bidirectional.
    width: int = Field(450, ge=1, le=8192)
    #: The width of the embeddings, which both sides share.
    word: int = Field(450, ge=1, le=8192)
    encoder_layers: int = Field(4, ge=1, le=128)
    #: The decoder's layers.
    layers: int = Field(4, ge=1, le=128)
    #: n: a residual connection every n layers; 0: none.
    residual: int = Field(2, ge=0, le=128)
    bidirectional: bool = False
    #: Whether the readout reads a context, an average of the encoder's states. Without it the decoder starts from the
    #: encoder's last state and reads no more of the source.
    attention: bool = False
    #: Whether pieces are copied from the source.
    copying: bool = False
    #: lambda of See et al., equation 13, the weight of the coverage loss in training; 0: no coverage.
    coverage: float = Field(0.0, ge=0, le=1000)
    dropout: float = Field(0.1, ge=0, lt=1)
    #: The longest row that is read or written, in ids. Datasets and decoders are checked against it.
    positions: int = Field(512, ge=4, le=65_536)

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if self.copying and not self.attention:
            raise ValueError("copying needs attention: true, whose weights it copies by")
        if self.coverage and not self.attention:
            raise ValueError("coverage needs attention: true, whose weights it sums")
        if self.residual > max(self.encoder_layers, self.layers):
            raise ValueError(
                f"residual: {self.residual} connects nothing in {self.encoder_layers} + {self.layers} layers"
            )
        if self.residual and self.word != self.width:
            raise ValueError(f"residual adds the embeddings to states: word {self.word} must equal width {self.width}")
        if self.bidirectional and self.width % 2:
            raise ValueError(f"bidirectional needs an even width, not {self.width}")
        return self

    @property
    def view(self) -> PairView:
        """What this model reads and writes."""
        return PairView(("source",), "text")
