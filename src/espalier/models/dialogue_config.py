"""The numbers and protocols of X2Tree and of the chain decoders beside it, as they stand in params.yaml."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from espalier.datasets.dialogue.data import ARITY, DialogueView

#: What a decoder sees of a post, at every step: its encoder's last state (Cho et al. 2014); an average of its states,
#: weighted anew each time (Bahdanau et al. 2015); or both side by side (NRM; Shang et al. 2015, section 3.3).
Context = Literal["last", "attention", "nrm"]


class DialogueConfig(BaseModel):
    """What all five models have numbers for; defaults are the paper's."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: Of hidden states, the encoder's and the decoder's.
    width: int = Field(1024, ge=1)
    #: Of the embeddings of words, the encoder's and the decoder's own.
    word: int = Field(128, ge=1)
    #: Of the layer of tanh before each softmax, which the paper leaves open.
    readout: int = Field(512, ge=1)
    #: Whether the encoder reads both ways (Bahdanau et al. 2015).
    both_ways: bool = False
    dropout: float = Field(0.0, ge=0, lt=1)
    #: Parameters start evenly between -scale and scale.
    scale: float = Field(0.01, gt=0)
    #: The longest post or response, its end counted.
    positions: int = Field(64, ge=2)


class X2TreeConfig(DialogueConfig):
    """The architecture's numbers and protocols; defaults are the paper's."""

    #: K: 3 for ternary trees, 1 for chains.
    arity: int = Field(ARITY, ge=1)
    #: X: what is seen of the post.
    context: Context = "last"
    #: Whether all g_k score words by one matrix, after their own layers.
    shared: bool = False

    @property
    def view(self) -> DialogueView:
        """What this model reads and writes."""
        return DialogueView("tree", self.arity)


class RNNSeq2SeqConfig(DialogueConfig):
    """The architecture's numbers and protocols; defaults are the paper's for ENCDEC."""

    #: "initial": SEQ2SEQ, "last": ENCDEC, "attention": ATT, "nrm": NRM.
    context: Literal["initial"] | Context = "last"

    @property
    def view(self) -> DialogueView:
        """What this model reads and writes."""
        return DialogueView("chain")
