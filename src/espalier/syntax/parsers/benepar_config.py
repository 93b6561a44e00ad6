"""Settings of benepar's training in params.yaml."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class BeneparTraining(BaseModel):
    """Settings of a training, with benepar's names in brackets."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    epochs: int = Field(30, ge=1, le=100_000)
    #: Sentences a step.
    batch: int = Field(32, ge=1, le=100_000)
    #: The highest rate, reached after `warmup` steps.
    rate: float = Field(8e-4, gt=0, le=1000)
    warmup: int = Field(160, ge=1, le=100_000)
    #: Longer sentences are not trained on.
    max_words: int = Field(100, ge=1, le=100_000)
    #: The probability of lower-casing a training sentence, for input without capitals.
    lowercased: float = Field(0.0, ge=0, le=1)
    width: int = Field(384, ge=4, le=100_000, multiple_of=4)  # d_model: half of it for content, half for position
    layers: int = Field(4, ge=1, le=100_000)  # num_layers
    heads: int = Field(8, ge=1, le=100_000)  # num_heads
    key: int = Field(64, ge=2, le=100_000, multiple_of=2)  # d_kv, for each head
    inner: int = Field(768, ge=2, le=100_000, multiple_of=2)  # d_ff
    character: int = Field(64, ge=1, le=100_000)  # d_char_emb
    hidden: int = Field(256, ge=1, le=100_000)  # d_label_hidden and d_tag_hidden
    positions: int = Field(512, ge=3, le=100_000)  # encoder_max_len: words and two edges
    tag_scale: float = Field(5.0, ge=0, le=1000)  # tag_loss_scale
    content_dropout: float = Field(0.2, ge=0, lt=1)  # morpho_emb_dropout
    character_dropout: float = Field(0.2, ge=0, lt=1)  # char_lstm_input_dropout
    attention_dropout: float = Field(0.2, ge=0, lt=1)
    inner_dropout: float = Field(0.1, ge=0, lt=1)  # relu_dropout
    residual_dropout: float = Field(0.2, ge=0, lt=1)

    def hparams(self, *, tagged: bool, rooted: bool) -> dict[str, Any]:
        """The settings under benepar's names.

        Args:
            tagged: whether the model also tags words.
            rooted: whether each tree has a label over all its words.
        """
        return {
            "use_chars_lstm": True,
            "use_pretrained": False,
            "pretrained_model": "",
            "use_encoder": True,
            "predict_tags": tagged,
            "force_root_constituent": rooted,
            "d_model": self.width,
            "num_layers": self.layers,
            "num_heads": self.heads,
            "d_kv": self.key,
            "d_ff": self.inner,
            "d_char_emb": self.character,
            "d_label_hidden": self.hidden,
            "d_tag_hidden": self.hidden,
            "encoder_max_len": self.positions,
            "tag_loss_scale": self.tag_scale,
            "morpho_emb_dropout": self.content_dropout,
            "char_lstm_input_dropout": self.character_dropout,
            "attention_dropout": self.attention_dropout,
            "relu_dropout": self.inner_dropout,
            "residual_dropout": self.residual_dropout,
        }
