"""Settings of spaCy's training in params.yaml."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class SpacyTraining(BaseModel):
    """Settings of a training, with spaCy's names in brackets."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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
