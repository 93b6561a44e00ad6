"""The numbers and protocols of SCPN's models, as they stand in params.yaml."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from espalier.datasets.pairs.data import PairView
from espalier.layers.options import Mixture


class SCPNConfig(BaseModel):
    """The architecture's numbers and protocols; defaults are the text generator's of the paper."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    writes: Literal["text", "tree"] = "text"
    #: Of the decoder, and of each direction of the first encoder.
    width: int = Field(512, ge=1)
    #: Of the embeddings of word pieces, and of brackets and labels. The parse generator's labels are 128 wide.
    word: int = Field(300, ge=1)
    label: int = Field(56, ge=1)
    #: Of the second encoder: the target parse's, or the template's.
    tree_hidden: int = Field(128, ge=1)
    #: Of the decoder.
    layers: int = Field(2, ge=1)
    dropout: float = Field(0.0, ge=0, lt=1)
    #: The longest row that is read or written; three ids a node. An LSTM has no limit of its own: training keeps this.
    positions: int = Field(512, ge=4)
    #: l: the levels of a template.
    template: int = Field(3, ge=1)
    #: Whether the decoder's LSTM reads what is attended to from its last state (the paper), or is read out with it.
    attention: Literal["before", "after"] = "before"
    #: "released": logarithms are mixed instead of probabilities; then scores are no log-probabilities.
    mixture: Mixture = "distribution"

    @property
    def view(self) -> PairView:
        """What this model reads and writes."""
        if self.writes == "text":
            return PairView(("source", "target_tree"), "text", "brackets", self.template)
        return PairView(("source_tree", "template"), "tree", "brackets", self.template)
