"""Settings of X2Tree and its baselines: `network` of a model in params.yaml."""

from typing import ClassVar, Literal

from pydantic import Field

from espalier.datasets.dialogue.data import ARITY, DialogueView
from espalier.io.validation import Strict

#: The context of a decoder at every step: the encoder's last state (Cho et al. 2014), an attention-weighted average of
#: its states (Bahdanau et al. 2015), or both, concatenated (NRM; Shang et al. 2015, section 3.3).
Context = Literal["last", "attention", "nrm"]


class DialogueConfig(Strict):
    """The settings shared by all five models. Defaults follow the paper."""

    #: The width of the encoder's and the decoder's hidden states.
    width: int = Field(1024, ge=1, le=8192)
    #: The width of word embeddings; the encoder and the decoder have one matrix each.
    word: int = Field(128, ge=1, le=8192)
    #: The width of the tanh layer before each softmax; the paper does not say.
    readout: int = Field(512, ge=1, le=8192)
    #: Whether the encoder is bidirectional (Bahdanau et al. 2015).
    bidirectional: bool = False
    dropout: float = Field(0.0, ge=0, lt=1)
    #: Parameters are initialized uniformly between -scale and scale.
    scale: float = Field(0.01, gt=0, le=100)
    #: The longest post or response, in words and EOS.
    positions: int = Field(64, ge=2, le=65_536)


class X2TreeConfig(DialogueConfig):
    """Settings of X2Tree. Defaults follow the paper."""

    #: K: 3 for ternary trees, 1 for chains.
    arity: int = Field(ARITY, ge=1, le=16)
    #: X, the context.
    context: Context = "last"
    #: Whether all g_k share the output matrix.
    shared: bool = False

    @property
    def view(self) -> DialogueView:
        """What this model reads and writes."""
        return DialogueView("tree", self.arity)


class RNNSeq2SeqConfig(DialogueConfig):
    """Settings of the recurrent baselines. Defaults are the paper's for ENCDEC."""

    #: The row of a batch that is the source.
    source: ClassVar[str] = "source"

    #: "initial": SEQ2SEQ, "last": ENCDEC, "attention": ATT, "nrm": NRM.
    context: Literal["initial"] | Context = "last"
    #: The words of the response, or its ternary tree as a chain, each node before its children.
    writes: Literal["words", "tree"] = "words"

    @property
    def view(self) -> DialogueView:
        """What this model reads and writes."""
        return DialogueView("chain" if self.writes == "words" else "linear")
