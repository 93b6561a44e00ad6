"""Settings of SCPN's models: `network` of a model in params.yaml."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from espalier.datasets.pairs.data import PairView
from espalier.layers.options import Mixture


class SCPNConfig(BaseModel):
    """Settings of the architecture. Defaults are those of the paper's text generator."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    writes: Literal["text", "tree"] = "text"
    #: The width of the decoder's states, and of each direction of the first encoder's.
    width: int = Field(512, ge=1, le=8192)
    #: The widths of the embeddings of word pieces, and of brackets and labels (128 in the parse generator).
    word: int = Field(300, ge=1, le=8192)
    label: int = Field(56, ge=1, le=8192)
    #: The width of the second encoder's states, which reads the target parse or the template.
    tree_hidden: int = Field(128, ge=1, le=8192)
    #: The decoder's layers.
    layers: int = Field(2, ge=1, le=128)
    dropout: float = Field(0.0, ge=0, lt=1)
    #: The longest row that is read or written, in ids (three a node). Datasets and decoders are checked against it.
    positions: int = Field(512, ge=4, le=65_536)
    #: l: the levels of a template.
    template: int = Field(3, ge=1, le=1000)
    #: "before": the decoder's LSTM reads the context of its last state (the paper). "after": only the readout reads it.
    attention: Literal["before", "after"] = "before"
    #: "released": log-probabilities are mixed instead of probabilities, so that scores are not normalized.
    mixture: Mixture = "distribution"
    #: Whether ids are copied from the rows that have them. Without it all come from the vocabulary's distribution.
    copying: bool = True
    #: Share of cut trees in the training of a text generator, as in GuiG.
    cut: float = Field(0.0, ge=0, le=1)

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if self.cut and self.writes == "tree":
            raise ValueError("cut is for models that read target_tree")
        return self

    @property
    def view(self) -> PairView:
        """What this model reads and writes."""
        if self.writes == "text":
            return PairView(("source", "target_tree"), "text", "brackets", self.template, cut=self.cut)
        return PairView(("source_tree", "template"), "tree", "brackets", self.template)
