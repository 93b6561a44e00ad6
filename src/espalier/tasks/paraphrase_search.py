"""The search for paraphrases and their trees, by beam search under a constraint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from espalier.datasets.vocabulary import BOS, EOS, PAD, UNK
from espalier.decoding.beam import beam_search
from espalier.decoding.constraints.brackets import Brackets
from espalier.decoding.constraints.constraint import ForbiddenTokens
from espalier.decoding.constraints.trees import KeptTemplate, WellFormed
from espalier.syntax.constituency import write_tree
from espalier.syntax.levels import TreeError
from espalier.tasks.paraphrase_decoder import PairDecoder, check_constraint

if TYPE_CHECKING:
    from espalier.datasets.pairs.data import PairBatch, PairView
    from espalier.datasets.pairs.vocabulary import PairVocabulary
    from espalier.decoding.beam import Hypothesis
    from espalier.decoding.constraints.constraint import Constraint
    from espalier.tasks.paraphrase_decoder import PairModel


def search(
    model: PairModel,
    batch: PairBatch,
    decoder: PairDecoder,
    view: PairView,
    constraint: Constraint[PairBatch, Any] | None = None,
) -> list[list[Hypothesis]]:
    """The `beam` best texts or trees of each pair.

    Args:
        view: view of the batch. It may include a template only for the constraint, which the model does not read.
        constraint: replaces that of the decoder.
    """
    return beam_search(
        model, batch, beam=decoder.beam, max_ids=decoder.max_ids, begin=BOS, end=EOS, min_ids=decoder.min_ids,
        length_power=decoder.length_power, constraint=constraint or pair_constraint(decoder, view, model.vocabulary),
    )  # fmt: skip


def pair_constraint(decoder: PairDecoder, view: PairView, vocabulary: PairVocabulary) -> Constraint[PairBatch, Any]:
    """The decoder's constraint over the ids that the model writes. Specials are never allowed.

    Raises:
        ConfigError: the constraint is for trees, but the model writes texts.
    """
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


def tree_text(ids: Sequence[int], view: PairView, vocabulary: PairVocabulary) -> str:
    """The tree of ids as a Penn string; "" if the ids do not form a tree."""
    symbols = vocabulary.trees
    try:
        return write_tree(symbols.decode(ids) if view.form == "levels" else symbols.decode_bracketed(ids))
    except (TreeError, IndexError):
        return ""
