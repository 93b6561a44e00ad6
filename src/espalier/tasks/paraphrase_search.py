"""The search for paraphrases and their trees, by beam search under a constraint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, model_validator

from espalier.datasets.vocabulary import BOS, EOS, PAD, UNK
from espalier.decoding.bounds import MAX_BEAM, MAX_LENGTH_POWER
from espalier.io.errors import ConfigError
from espalier.syntax.constituency import write_tree
from espalier.syntax.levels import TreeError
from espalier.tasks.task import Decoder

if TYPE_CHECKING:
    from espalier.datasets.pairs.data import PairBatch, PairView
    from espalier.datasets.pairs.vocabulary import PairVocabulary
    from espalier.decoding.beam import Hypothesis
    from espalier.decoding.constraints.constraint import Constraint


class PairDecoder(Decoder):
    """Settings of decoding with a model of pairs: `decoder` of a run in params.yaml."""

    #: The tree that guides a text generator: the target's own, its template, or the output of another run.
    guide: Literal["target", "template", "run"] = "target"
    #: The template that an expander expands: the top of the target's tree, or the corpus's most frequent templates, one
    #: for each sample (table 5).
    template: Literal["target", "frequent"] = "target"
    beam: int = Field(8, ge=1, le=MAX_BEAM)
    #: The shortest text, in ids without EOS; 0 allows an empty one.
    min_ids: int = Field(0, ge=0, le=65_536)
    #: A hypothesis of n ids, its end among them, is ranked by log-probability / n**length_power.
    length_power: float = Field(0.0, ge=0, le=MAX_LENGTH_POWER)
    #: The longest text or tree, in ids with EOS.
    max_ids: int = Field(52, ge=2, le=65_536)
    #: For models that write trees: "tree" allows only well-formed trees; "template" also keeps the template's levels;
    #: "open_template" keeps its nodes, and any of them that has no children there may have some.
    constraint: Literal["none", "tree", "template", "open_template"] = "none"
    #: Keep z of each piece of the source and of the best text, for models with granularity heads or levels.
    granularity: bool = False
    #: Decode only this many pairs, spread over the split; 0 means all.
    rows: int = Field(0, ge=0, le=100_000_000)

    @model_validator(mode="after")
    def _bounds(self) -> Self:
        if self.min_ids >= self.max_ids:
            raise ValueError(f"min_ids: {self.min_ids} and an end do not fit into max_ids: {self.max_ids}")
        if self.min_ids > 1 and self.constraint != "none":
            raise ValueError(f"min_ids: {self.min_ids} is for texts; a constraint decides when a tree may end")
        return self


def search(
    model: Any, batch: PairBatch, decoder: PairDecoder, view: PairView, constraint: Constraint | None = None
) -> list[list[Hypothesis]]:
    """The `beam` best texts or trees of each pair.

    Args:
        view: view of the batch. It may include a template only for the constraint, which the model does not read.
        constraint: replaces that of the decoder.
    """
    from espalier.decoding.beam import beam_search

    return beam_search(
        model, batch, beam=decoder.beam, max_ids=decoder.max_ids, begin=BOS, end=EOS, min_ids=decoder.min_ids,
        length_power=decoder.length_power, constraint=constraint or pair_constraint(decoder, view, model.vocabulary),
    )  # fmt: skip


def pair_constraint(decoder: PairDecoder, view: PairView, vocabulary: PairVocabulary) -> Constraint:
    """The decoder's constraint over the ids that the model writes. Specials are never allowed.

    Raises:
        ConfigError: the constraint is for trees, but the model writes texts.
    """
    import torch

    from espalier.decoding.constraints.brackets import Brackets
    from espalier.decoding.constraints.constraint import ForbiddenTokens
    from espalier.decoding.constraints.trees import KeptTemplate, WellFormed

    check_constraint(decoder, view)
    if view.writes == "text":
        return ForbiddenTokens(torch.tensor([PAD, UNK, BOS]), vocabulary.text_size)
    symbols, open_leaves = vocabulary.trees, decoder.constraint == "open_template"
    keep_template = open_leaves or decoder.constraint == "template"
    if decoder.constraint == "none":
        size = symbols.size if view.form == "levels" else symbols.bracketed_size
        return ForbiddenTokens(torch.tensor([PAD, UNK, BOS]), size)
    if view.form == "brackets":
        return Brackets(symbols, decoder.max_ids, keep_template, view.template, open_leaves)
    if keep_template:
        return KeptTemplate(symbols, decoder.max_ids, view.template, open_leaves)
    return WellFormed(symbols, decoder.max_ids)


def check_constraint(decoder: PairDecoder, view: PairView) -> None:
    """Raise a ConfigError if a constraint for trees is used with texts."""
    if view.writes == "text" and decoder.constraint != "none":
        raise ConfigError(f"{decoder.constraint} is for trees", where="decoder.constraint", remedy="none, for texts")


def tree_text(ids: Sequence[int], view: PairView, vocabulary: PairVocabulary) -> str:
    """The tree of ids as a Penn string; "" if the ids do not form a tree."""
    symbols = vocabulary.trees
    try:
        return write_tree(symbols.decode(ids) if view.form == "levels" else symbols.decode_bracketed(ids))
    except (TreeError, IndexError):
        return ""
