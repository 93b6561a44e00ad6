"""Settings of GuiG's models and of its baseline SCPN: `network` of a model in params.yaml."""

from typing import Final, Literal, Self

from pydantic import Field, model_validator

from espalier.datasets.pairs.data import PairView, Row
from espalier.io.validation import Strict
from espalier.layers.options import Mixture, Norm

#: The rows of the encoder whose ids a text generator may copy.
COPIED: Final[tuple[Row, ...]] = ("source",)


class EncoderConfig(Strict):
    """Settings of one encoder: the rows it reads, its attention, and the number of decoder heads that attend to it."""

    #: Several rows are concatenated: the Transformer baseline's input.
    reads: tuple[Row, ...] = Field(min_length=1)
    layers: int = Field(4, ge=1, le=128)
    heads: int = Field(6, ge=1, le=128)
    #: h_i: the number of heads for this encoder in the decoder's multi-encoder attention.
    cross_heads: int = Field(4, ge=1, le=128)
    attention: Literal["self", "path"] = "self"

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.attention == "path" and (len(self.reads) > 1 or self.reads[0] == "source"):
            raise ValueError("attention: path is for one tree, not for " + " and ".join(self.reads))
        return self


class GuiGConfig(Strict):
    """Settings of the architecture. Defaults are the text generator's in the released scripts."""

    writes: Literal["text", "tree"] = "text"
    encoders: tuple[EncoderConfig, ...] = Field(
        (
            EncoderConfig(reads=("source",)),
            EncoderConfig(reads=("target_tree",), layers=3, cross_heads=2, attention="path"),
        ),
        min_length=1,
    )
    #: The decoder's layers and heads.
    layers: int = Field(6, ge=1, le=128)
    heads: int = Field(6, ge=1, le=128)
    width: int = Field(256, ge=2, le=8192, multiple_of=2)
    inner: int = Field(1024, ge=1, le=65_536)
    #: d_k and d_v.
    head_width: int = Field(64, ge=1, le=1024)
    dropout: float = Field(0.1, ge=0, lt=1)
    attention_dropout: float = Field(0.1, ge=0, lt=1)
    #: The longest row that is read or written.
    positions: int = Field(512, ge=4, le=65_536)
    #: l: the levels of a template.
    template: int = Field(3, ge=1, le=1000)
    #: The weights of the node's and of the level's loss. The released code has 1 and 1.
    alpha: float = Field(0.5, gt=0, le=1000)
    beta: float = Field(0.5, ge=0, le=1000)
    #: The number of times that a block applies its path attention, with the same weights.
    passes: int = Field(2, ge=1, le=100)
    #: "outside": the residual is added after the mean over paths. "inside" (released): it is added within each path, so
    #: that a node on k of n_p paths keeps k/n_p of it.
    residual: Literal["outside", "inside"] = "outside"
    #: The divisor of a node's sum over paths: n_p, as in the equation, or the number of paths that the node is on.
    divide: Literal["paths", "coverage"] = "paths"
    #: "released": layer norm is applied to queries only, not to keys and values, and after the feed-forward layer.
    norm: Norm = "post"
    #: Whether encoders read BOS and EOS (released). They are on no path, so path attention gives 0 at them.
    boundary_ids: bool = False
    #: In training, the share of target trees that are read without their last levels, down to the template's at random,
    #: so that the model also learns to follow trees that are short. The dev loss and decoding see whole trees.
    cut: float = Field(0.0, ge=0, le=1)
    #: Whether pieces of the source are copied, from the states of the encoder that reads only the source (ours).
    copying: bool = False
    #: The factor of the logits in decoding. Training scales them by d^-0.5; the released generators omit this in
    #: decoding, which equals 16 at their width.
    sharpness: float = Field(1.0, gt=0, le=1000)

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if self.writes == "tree" and any("target_tree" in encoder.reads for encoder in self.encoders):
            raise ValueError("a model that writes the target's tree cannot read target_tree")
        if self.cut and not any("target_tree" in encoder.reads for encoder in self.encoders):
            raise ValueError("cut is for models that read target_tree")
        if self.copying and (self.writes == "tree" or not any(encoder.reads == COPIED for encoder in self.encoders)):
            raise ValueError("copying is for models that write text and have an encoder that reads only source")
        if self.norm == "pre" and self.residual == "inside":
            raise ValueError("residual: inside needs norm post or released; before a norm nothing would be left of it")
        return self

    @property
    def feed_forward_norm(self) -> Norm:
        """The norm of feed-forward layers."""
        return "pre" if self.norm == "pre" else "post"

    @property
    def view(self) -> PairView:
        """What this model reads and writes."""
        reads = tuple(dict.fromkeys(row for encoder in self.encoders for row in encoder.reads))
        paths = tuple(dict.fromkeys(encoder.reads[0] for encoder in self.encoders if encoder.attention == "path"))
        return PairView(reads, self.writes, "levels", self.template, self.boundary_ids, self.cut, paths)


class SCPNConfig(Strict):
    """Settings of the architecture. Defaults are those of the paper's text generator."""

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
