"""Settings of SongNet and of its baseline S2S: `network` of a model in params.yaml."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from espalier.datasets.verse.data import View
from espalier.layers.options import Activation, Initial, Smoothing
from espalier.models.dialogue_config import Context, DialogueConfig

Symbol = Literal["c", "p", "s", "t"]


class SongNetConfig(BaseModel):
    """Settings of the architecture. Defaults follow the text of the paper."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: How a place reads those before it: "attention", masked (equation 8), or "gru" in its place (SongNet-GRU).
    core: Literal["attention", "gru"] = "attention"
    layers: int = Field(12, ge=1, le=128)
    width: int = Field(768, ge=1, le=8192)
    heads: int = Field(12, ge=1, le=128)
    inner: int = Field(3072, ge=1, le=65_536)
    dropout: float = Field(0.2, ge=0, lt=1)
    attention_dropout: float = Field(0.0, ge=0, lt=1)
    #: Initial matrices; "normal" is the released code's (the paper does not say).
    initial: Initial = "normal"
    #: The number of global positions (E_g in equation 6): the longest text, in tokens.
    positions: int = Field(1024, ge=1, le=65_536)
    #: The symbols that are summed; without one of them it is the ablation w/o C, w/o P or w/o S. "t" (ours) is the tone
    #: of each place.
    symbols: tuple[Symbol, ...] = ("c", "p", "s")
    #: "descending" is equation 4; "ascending" is w/ inverse-P.
    order: Literal["descending", "ascending"] = "descending"
    #: "each": a C symbol for each punctuation mark; "one": c1 for all marks (released).
    marks: Literal["each", "one"] = "each"
    #: The share of words that are literals in C in training (section 3.3; 0.2 there).
    literals: float = Field(0.0, ge=0, le=1)
    #: Whether the global memory includes the tune's name (released).
    title: bool = False
    global_attention: bool = True
    #: "text": an FFN after each attention (equations 8, 9); "released": one FFN a layer, after both.
    block: Literal["text", "released"] = "text"
    norm: Literal["post", "pre"] = "post"
    #: Layer norm over the summed embeddings H0 and F0 (released), which equations 6 and 7 do not have.
    embedding_norm: bool = False
    activation: Activation = "gelu"
    #: The output layer: "tied" (the word embeddings), "linear" (a matrix), "released" (Linear, GELU, LN, a matrix).
    head: Literal["tied", "linear", "released"] = "tied"
    #: The form of `training.smoothing`: over all words, or as released, which gives the target and padding no share.
    smoothing_form: Smoothing = "uniform"
    epsilon: float = Field(1e-12, gt=0, le=1)

    @model_validator(mode="after")
    def _fits(self) -> SongNetConfig:
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is no multiple of heads {self.heads}")
        if self.global_attention and not self.symbols and not self.title:
            raise ValueError("global_attention has nothing to attend to without symbols or title")
        return self

    @property
    def reads_format(self) -> bool:
        """Whether any part of the format is read; else the model is a plain decoder of texts."""
        return bool(self.symbols) or self.global_attention

    @property
    def view(self) -> View:
        """The parts of a frame that this model reads."""
        return View(self.order, self.literals, self.title, tones="t" in self.symbols)


class VerseSeq2SeqConfig(DialogueConfig):
    """Settings of S2S, "attention mechanism Bahdanau et al. (2014)", with C as the source (SongNet, section 4.4).

    The paper gives no more details. The encoder is bidirectional as in Bahdanau et al., and widths are those of X2Tree.
    """

    #: The row of a batch that is the source: C, without P and S.
    source: ClassVar[str] = "c"

    context: Literal["initial"] | Context = "attention"
    bidirectional: bool = True
    #: The longest text or frame, in tokens.
    positions: int = Field(1024, ge=2, le=65_536)

    @property
    def view(self) -> View:
        """The view: no part of a frame except C."""
        return View()
