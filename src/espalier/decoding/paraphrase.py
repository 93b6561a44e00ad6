"""Writing paraphrases, and the trees that guide them, by beam search (GuiG, section 4; papers of its baselines)."""

from __future__ import annotations

from typing import Literal, Self

import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator

from espalier.datasets.pairs.data import PairBatch, PairView
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.vocabulary import BOS, EOS, PAD, UNK
from espalier.decoding.beam import Hypothesis, beam_search
from espalier.decoding.constraints.brackets import Brackets
from espalier.decoding.constraints.constraint import Constraint, Never
from espalier.decoding.constraints.trees import KeptTemplate, WellFormed
from espalier.io.errors import ConfigError
from espalier.models.contract import ChainModel
from espalier.syntax.constituency import write_tree
from espalier.syntax.levels import TreeError


class PairDecoder(BaseModel):
    """How a model of pairs is decoded, as it stands in params.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: The tree that a text generator is guided by: the target's own, the template alone, or what another run wrote.
    guide: Literal["target", "template", "run"] = "target"
    #: The template that an expander expands: the top of the target's tree, or the corpus's most frequent ones, one a
    #: sample (table 5).
    template: Literal["target", "frequent"] = "target"
    beam: int = Field(8, ge=1)
    #: The shortest text, in ids before its end; 0 lets it be empty.
    min_ids: int = Field(0, ge=0)
    #: A hypothesis of n ids is ranked by log-probability / n**length_power.
    length_power: float = Field(0.0, ge=0)
    #: The longest text or tree, its end counted, in ids.
    steps: int = Field(52, ge=2)
    #: Of trees: "tree" lets nothing be written that is no tree; "template" keeps the template's nodes as well.
    constraint: Literal["none", "tree", "template"] = "none"
    #: Only so many rows, spread over the split; 0 means all.
    rows: int = Field(0, ge=0)

    @model_validator(mode="after")
    def _room(self) -> Self:
        if self.min_ids >= self.steps:
            raise ValueError(f"min_ids: {self.min_ids} and an end do not fit into {self.steps} steps")
        if self.min_ids > 1 and self.constraint != "none":
            raise ValueError(f"min_ids: {self.min_ids} is for texts; a constraint says itself when a tree may end")
        return self


def pair_constraint(decoder: PairDecoder, view: PairView, vocabulary: PairVocabulary) -> Constraint:
    """The constraint that a decoder asks for, in the form of what the model writes; specials are never written.

    Raises:
        ConfigError: a constraint of trees, for texts.
    """
    symbols, kept = vocabulary.trees, decoder.constraint == "template"
    if decoder.constraint == "none":
        trees = symbols.size if view.form == "levels" else symbols.bracketed_size
        return Never(torch.tensor([PAD, UNK, BOS]), vocabulary.text_size if view.writes == "text" else trees)
    if view.writes == "text":
        raise ConfigError(f"constraint {decoder.constraint} is for trees", where="decoder", remedy="none, for texts")
    if view.form == "brackets":
        return Brackets(symbols, decoder.steps, template=kept, levels=view.template)
    return KeptTemplate(symbols, decoder.steps, view.template) if kept else WellFormed(symbols, decoder.steps)


def write_pairs(
    model: ChainModel, batch: PairBatch, decoder: PairDecoder, constraint: Constraint
) -> list[list[Hypothesis]]:
    """The `beam` best texts or trees, as ids without the end mark, for each row of `batch`."""
    return beam_search(
        model, batch, beam=decoder.beam, steps=decoder.steps, begin=BOS, end=EOS, min_ids=decoder.min_ids,
        length_power=decoder.length_power, constraint=constraint,
    )  # fmt: skip


def tree_text(ids: list[int], view: PairView, vocabulary: PairVocabulary) -> str:
    """The tree that ids write, as a Penn string; "" where they are none."""
    symbols = vocabulary.trees
    try:
        return write_tree(symbols.decode(ids) if view.form == "levels" else symbols.decode_bracketed(ids))
    except (TreeError, IndexError):
        return ""
