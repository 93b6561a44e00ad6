"""The search for paraphrases and their trees, by beam search under a constraint."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from espalier.datasets.pairs.data import PairBatch, PairView
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.pairs.word_classes import Lexicon, Pieces
from espalier.datasets.vocabulary import BOS, EOS, PAD, UNK
from espalier.decoding.beam import Hypothesis, beam_search
from espalier.decoding.constraints.brackets import Brackets
from espalier.decoding.constraints.constraint import Constraint, ForbiddenTokens
from espalier.decoding.constraints.trees import KeptTemplate, WellFormed
from espalier.decoding.constraints.word_classes import Slot, WordClasses
from espalier.decoding.constraints.words import GivenWord
from espalier.decoding.sampling import hypotheses
from espalier.io.hashing import seed_from
from espalier.syntax.constituency import write_tree
from espalier.syntax.levels import TreeError
from espalier.tasks.candidates import kept_of_source
from espalier.tasks.paraphrase_decoder import PairDecoder, PairModel, check_constraint


def search(
    model: PairModel,
    batch: PairBatch,
    decoder: PairDecoder,
    view: PairView,
    constraint: Constraint[PairBatch, Any] | None = None,
    best: int | None = None,
) -> list[list[Hypothesis]]:
    """The `best` texts or trees of each pair.

    Args:
        best: how many; None for as many as the beam has.
        view: view of the batch. It may include a template only for the constraint, which the model does not read.
        constraint: replaces that of the decoder.
    """
    return beam_search(
        model, batch, beam=decoder.beam, max_ids=decoder.max_ids, begin=BOS, end=EOS, min_ids=decoder.min_ids,
        length_power=decoder.length_power, constraint=constraint or pair_constraint(decoder, view, model.vocabulary),
        best=best,
    )  # fmt: skip


def candidates(
    model: PairModel,
    batch: PairBatch,
    decoder: PairDecoder,
    view: PairView,
    seeds: Sequence[int],
    constraint: Constraint[PairBatch, Any] | None = None,
) -> list[list[Hypothesis]]:
    """Texts for each pair, for which the template is likely: the beam's hypotheses, and `decoder.sampled` samples.

    All have the same score.

    Args:
        seeds: a seed for each pair.
        constraint: replaces that of the decoder.
    """
    rows = [row[: decoder.candidates] for row in search(model, batch, decoder, view, constraint)]
    if more := decoder.sampled:
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
    return rows


def of_classes(
    model: PairModel,
    batch: PairBatch,
    decoder: PairDecoder,
    view: PairView,
    lexicons: Sequence[Lexicon],
    given: Sequence[Sequence[GivenWord]] = (),
) -> list[list[Hypothesis]]:
    """The beam's hypotheses whose words are of the classes of the leaves of the pair's tree; at most `decoder.classed`.

    A leaf that is a phrase stands for any words; a leaf of an unknown class for any word. A word of the source that the
    lexicon lacks is of any class.

    Args:
        lexicons: a lexicon for each pair.
        given: for each pair the words that stand at leaves whatever their class.
    """
    if not decoder.classed:
        return [[] for _ in lexicons]
    vocabulary, symbols = model.vocabulary, model.vocabulary.trees
    every, rows = Pieces.every(vocabulary), list[list[Slot]]()
    for source, tree, lexicon in zip(batch.source.tolist(), batch.target_tree.tolist(), lexicons, strict=True):
        ids = [id_ for id_ in tree if id_ > EOS]
        if view.form == "brackets":
            ids = symbols.encode(symbols.decode_bracketed(ids))
        words = vocabulary.pieces_by_word([id_ for id_ in source if id_ > EOS])
        others = Pieces.of(word for word in words if word not in lexicon.known)
        rows.append(
            [
                Slot((lexicon.classes[label], others))
                if label in lexicon.classes and label not in symbols.phrases
                else Slot((every,), many=label in symbols.phrases)
                for label in symbols.leaves(ids)
            ]
        )
    for row, own in zip(rows, given, strict=False):
        for word in own:
            row[word.place] = Slot((Pieces.of([tuple(word.pieces)]),))
    found = search(model, batch, decoder, view, WordClasses(rows, vocabulary.text_size))
    # A text of the largest length may be cut.
    return [[each for each in row if len(each.tokens) < decoder.max_ids][: decoder.classed] for row in found]


def weighted(
    rows: Sequence[Hypothesis], source: Sequence[int], vocabulary: PairVocabulary, weight: float
) -> list[Hypothesis]:
    """The hypotheses with `weight` times `kept_of_source` added to their scores.

    Args:
        source: ids of the source.
    """
    if not weight:
        return [*rows]
    words = vocabulary.decode_text(source).split()
    return [
        replace(each, score=each.score + weight * kept_of_source(words, vocabulary.decode_text(each.tokens).split()))
        for each in rows
    ]


def ranked(rows: Sequence[Hypothesis], vocabulary: PairVocabulary) -> list[Hypothesis]:
    """The hypotheses, each text once, the best first. Different word pieces may spell the same text."""
    first: dict[str, Hypothesis] = {}
    for each in sorted(rows, key=lambda each: -each.score):
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
