"""Settings of SAT: `network` of a model in params.yaml."""

from typing import Literal, Self

from pydantic import Field, model_validator

from espalier.datasets.structure.data import StructureView
from espalier.io.validation import Strict
from espalier.layers.options import Activation, Initial


class SATConfig(Strict):
    """Settings of the architecture. Defaults follow the text of the paper, or GPT2 if the paper gives none."""

    #: The structures of a template that are read and summed (equation 7), such as ("pc", "pos"); none is GPT2.
    structures: tuple[str, ...] = ("pos",)
    #: How the decoder reads them. "attend": structure-aware attention over the encoder (equations 14-17). "biased": the
    #: same, with a learned bias of each head on the place of the token to be predicted. "add": the symbol of that token
    #: is added to the decoder's input, and there is no encoder.
    structure: Literal["attend", "add", "biased"] = "attend"
    #: Whether topic words and [TOPIC] are read before the text (section 3.4).
    topic: bool = False
    #: N_e.
    encoder_layers: int = Field(2, ge=1, le=128)
    #: N_d.
    layers: int = Field(6, ge=1, le=128)
    width: int = Field(768, ge=2, le=8192)
    heads: int = Field(12, ge=1, le=128)
    inner: int = Field(3072, ge=1, le=65_536)
    #: Dropout of embeddings and of the output of each sublayer.
    dropout: float = Field(0.1, ge=0, lt=1)
    attention_dropout: float = Field(0.1, ge=0, lt=1)
    #: The longest row, in tokens.
    positions: int = Field(1024, ge=1, le=65_536)
    #: The positions of the two inputs. "learned": a table each. "shared": one learned table. "sinusoid": one table of
    #: sinusoids, whose neighbours a linear map finds.
    places: Literal["learned", "shared", "sinusoid"] = "learned"
    #: "post" is equations 10, 11, 17 and 18; "pre" is GPT2's code.
    norm: Literal["post", "pre"] = "post"
    activation: Activation = "gelu_tanh"
    #: Initial matrices; "normal" is GPT2's.
    initial: Initial = "normal"
    epsilon: float = Field(1e-5, gt=0, le=1)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is no multiple of heads {self.heads}")
        if len(set(self.structures)) < len(self.structures):
            raise ValueError("structures names one twice")
        if not self.structures and self.structure != "attend":
            raise ValueError(f"structure: {self.structure} has no structures to read")
        if self.places == "sinusoid" and self.width % 2:
            raise ValueError("places: sinusoid needs an even width")
        return self

    @property
    def attends(self) -> bool:
        """Whether the model has a structure encoder and attends to it."""
        return bool(self.structures) and self.structure != "add"

    @property
    def view(self) -> StructureView:
        """The parts of a text that this model reads."""
        return StructureView(self.structures, self.topic)
