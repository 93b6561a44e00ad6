"""Settings of C-DNPG and of its baselines, of Transformers, of LSTMs and DNPG: `network` of a model in params.yaml."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from espalier.datasets.pairs.data import PairView
from espalier.layers.options import Cell, GranularityMask, Initial


class CDNPGConfig(BaseModel):
    """Settings of the architecture. Sizes follow the paper, or the released code if the paper gives none."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    encoder_layers: int = Field(3, ge=1, le=128)
    #: The decoder's.
    layers: int = Field(3, ge=1, le=128)
    width: int = Field(450, ge=1, le=8192)
    heads: int = Field(9, ge=1, le=128)
    inner: int = Field(1024, ge=1, le=65_536)
    dropout: float = Field(0.1, ge=0, lt=1)
    attention_dropout: float = Field(0.1, ge=0, lt=1)
    #: Whether encoder and decoder read word pieces through one table of embeddings; the released code has two.
    shared_embeddings: bool = False
    #: Initial matrices; "normal" is the released code's.
    initial: Initial = "normal"
    #: The longest row that is read or written, BOS and EOS included; each has a learned embedding.
    positions: int = Field(24, ge=4, le=65_536)
    #: What stands between the decoder's last states and the output matrix: nothing, or the dense layer, GELU and layer
    #: norm of BERT's prediction head (released).
    head: Literal["tied", "released"] = "tied"
    #: Whether pieces are copied from the source (Transformer+Copy).
    copying: bool = False
    #: What multiplies the weights of self-attention: C ("resonance", R of table 2), S ("scope", S), C * S ("product",
    #: R*S), their mean ("average", R+S), or nothing, which is the Transformer.
    granularity: Literal["none"] | GranularityMask = "product"
    #: The first layer with a granularity head: 2 (equation 4), or 1 (released).
    first_layer: int = Field(2, ge=1, le=128)
    #: Whether the products of equation 9 are divided by their sum (released).
    renormalise: bool = False
    #: Tokens at most this far apart always have the scope 1. Equation 7 has 2, a window of 5 words; the text says 3
    #: words, which is 1.
    epsilon: float = Field(2.0, ge=0, le=1000)
    #: N of the scope. "prefix": the length of the row in the encoder, that of the prefix at each place in the decoder.
    #: "padded" (released): `padded_length` in the encoder, 1 less in the decoder in training, and the length of the
    #: prefix in decoding, so that a step does not give what the whole row gives.
    scope_length: Literal["prefix", "padded"] = "prefix"
    padded_length: int = Field(20, ge=2, le=65_536)
    #: Whether the weights of attention to the encoder are multiplied as well, by C with a head of its own (released).
    cross_resonance: bool = False

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is no multiple of {self.heads} heads")
        if self.granularity == "none":
            if self.cross_resonance:
                raise ValueError("cross_resonance needs a granularity")
        elif self.first_layer > min(self.encoder_layers, self.layers):
            raise ValueError(f"first_layer {self.first_layer} is not among the layers of encoder and decoder")
        return self

    @property
    def view(self) -> PairView:
        """The view: texts without trees."""
        return PairView(("source",))


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
