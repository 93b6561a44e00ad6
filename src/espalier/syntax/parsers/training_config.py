"""Settings of the trainings of parsers in params.yaml, and their schedule of learning rates."""

from typing import Any, Literal

from pydantic import Field

from espalier.io.validation import Strict


class BeneparTraining(Strict):
    """Settings of a training, with benepar's names in brackets."""

    epochs: int = Field(30, ge=1, le=100_000)
    #: Sentences a step.
    batch: int = Field(32, ge=1, le=100_000)
    #: The highest rate, reached after `warmup` steps.
    rate: float = Field(8e-4, gt=0, le=1000)
    warmup: int = Field(160, ge=1, le=100_000)
    #: Longer sentences are not trained on.
    max_words: int = Field(100, ge=1, le=100_000)
    width: int = Field(384, ge=4, le=100_000, multiple_of=4)  # d_model: half of it for content, half for position
    layers: int = Field(4, ge=1, le=100_000)  # num_layers
    heads: int = Field(8, ge=1, le=100_000)  # num_heads
    key: int = Field(64, ge=2, le=100_000, multiple_of=2)  # d_kv, for each head
    inner: int = Field(768, ge=2, le=100_000, multiple_of=2)  # d_ff
    character: int = Field(64, ge=1, le=100_000)  # d_char_emb
    hidden: int = Field(256, ge=1, le=100_000)  # d_label_hidden and d_tag_hidden
    positions: int = Field(512, ge=3, le=100_000)  # encoder_max_len: words and two edges
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
            "tag_loss_scale": 5.0,
            "morpho_emb_dropout": self.content_dropout,
            "char_lstm_input_dropout": self.character_dropout,
            "attention_dropout": self.attention_dropout,
            "relu_dropout": self.inner_dropout,
            "residual_dropout": self.residual_dropout,
        }


class SpacyTraining(Strict):
    """Settings of a training, with spaCy's names in brackets."""

    #: The language of the pipeline's tokenizer and word features.
    language: Literal["en", "zh"] = "en"
    #: Whether to learn trees; else only tags, and the treebank needs no heads.
    trees: bool = True
    epochs: int = Field(20, ge=1, le=100_000)
    #: Largest number of words per step; a longer sentence is a separate step.
    batch: int = Field(1000, ge=1, le=100_000)
    #: The highest rate, reached after `warmup` steps; from there it falls evenly to zero.
    rate: float = Field(2e-3, gt=0, le=1000)
    warmup: int = Field(100, ge=1, le=100_000)
    dropout: float = Field(0.2, ge=0, lt=1)
    #: Longer sentences are not trained on.
    max_words: int = Field(150, ge=1, le=100_000)
    width: int = Field(96, ge=4, le=100_000)  # of words, and of each layer above them
    depth: int = Field(4, ge=1, le=100_000)  # layers, each of which sees one word more to either side
    rows: int = Field(5000, ge=1, le=100_000)  # of the words' table; those of prefixes, suffixes and shapes have half
    pieces: int = Field(3, ge=1, le=100_000)  # maxout_pieces of each layer
    hidden: int = Field(64, ge=1, le=100_000)  # hidden_width of the parser
    min_frequency: int = Field(5, ge=1, le=100_000)  # min_action_freq: rarer relations are learnt as `dep`
    #: Pipelines, each trained with another seed. The first parses; the others say how certain it is (`certainty`).
    members: int = Field(1, ge=1, le=10)

    def components(self) -> dict[str, dict[str, Any]]:
        """The components of the pipeline in order, each with its model under spaCy's names."""
        shared = {"@architectures": "spacy.Tok2VecListener.v1", "width": self.width, "upstream": "*"}
        half = max(1, self.rows // 2)
        words = {
            "@architectures": "spacy.Tok2Vec.v2",
            "embed": {
                "@architectures": "spacy.MultiHashEmbed.v2",
                "width": self.width,
                "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE"],
                "rows": [self.rows, half, half, half],
                "include_static_vectors": False,
            },
            "encode": {
                "@architectures": "spacy.MaxoutWindowEncoder.v2",
                "width": self.width,
                "depth": self.depth,
                "window_size": 1,
                "maxout_pieces": self.pieces,
            },
        }
        parser = {
            "@architectures": "spacy.TransitionBasedParser.v2",
            "state_type": "parser",
            "extra_state_tokens": False,
            "hidden_width": self.hidden,
            "maxout_pieces": 2,
            "use_upper": True,
            "nO": None,
            "tok2vec": shared,
        }
        tagging: dict[str, dict[str, Any]] = {
            "tok2vec": {"model": words},
            "tagger": {"model": {"@architectures": "spacy.Tagger.v2", "nO": None, "tok2vec": shared}},
        }
        parsing: dict[str, dict[str, Any]] = {"parser": {"model": parser, "min_action_freq": self.min_frequency}}
        return {**tagging, **parsing} if self.trees else tagging


def linear_schedule(step: int, total: int, warmup: int) -> float:
    """The factor of the learning rate at a step.

    It rises linearly to 1 over `warmup` steps, and then falls linearly to almost 0 at the last step.

    Args:
        step: number of the step, from 1 to `total`.
    """
    return min(step / warmup, (total + 1 - step) / max(1, total + 1 - warmup))
