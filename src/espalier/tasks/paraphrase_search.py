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
from espalier.decoding.sampling import hypotheses
from espalier.io.hashing import seed_from
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


def candidates(
    model: PairModel,
    batch: PairBatch,
    decoder: PairDecoder,
    view: PairView,
    seeds: Sequence[int],
    constraint: Constraint[PairBatch, Any] | None = None,
) -> list[list[Hypothesis]]:
    """At most `candidates` distinct texts for each pair: the beam's hypotheses, and samples if those do not suffice.

    Both have the same score, by which they are ordered, the best first.

    Args:
        seeds: a seed for each pair.
        constraint: replaces that of the decoder.
    """
    rows = [row[: decoder.candidates] for row in search(model, batch, decoder, view, constraint)]
    if more := max(0, decoder.candidates - decoder.beam):
        drawn = hypotheses(
            model, batch, seeds=[seed_from(seed, place) for seed in seeds for place in range(more)],
            max_ids=decoder.max_ids, begin=BOS, end=EOS, length_power=decoder.length_power,
            constraint=constraint or pair_constraint(decoder, view, model.vocabulary),
        )  # fmt: skip
        parts = [drawn[start : start + more] for start in range(0, len(drawn), more)]
        rows = [
            row + [each for each in part if len(each.tokens) >= decoder.min_ids]
            for row, part in zip(rows, parts, strict=True)
        ]
    return [_distinct(sorted(row, key=lambda each: -each.score), model.vocabulary) for row in rows]


def _distinct(row: Sequence[Hypothesis], vocabulary: PairVocabulary) -> list[Hypothesis]:
    """The first hypothesis of each text. Different word pieces may spell the same text."""
    first: dict[str, Hypothesis] = {}
    for each in row:
        first.setdefault(vocabulary.decode_text(each.tokens), each)
    return [*first.values()]


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
