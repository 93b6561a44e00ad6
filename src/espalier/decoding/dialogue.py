"""Writing replies: chains by beam search, trees by its generalization (X2Tree, "Tree Generation" and settings)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, cast

import torch
from pydantic import BaseModel, ConfigDict, Field

from espalier.datasets.dialogue.data import ARITY, DialogueBatch
from espalier.datasets.vocabulary import BOS, EOS, PAD, SEP, UNK, WordVocabulary
from espalier.decoding.beam import beam_search
from espalier.decoding.constraints.constraint import Never
from espalier.decoding.grown_trees import Cut, Stop
from espalier.decoding.tree_beam import Order, tree_beam
from espalier.io.errors import ConfigError
from espalier.models.contract import ChainModel, TreeModel
from espalier.syntax.ternary import Nodes, flatten

#: What no reply holds.
NEVER: Final = (PAD, UNK, BOS, SEP)


class DialogueDecoder(BaseModel):
    """How a model of dialogue is decoded, as it stands in params.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: Beams: G of trees (6 in the paper), those of chains (200).
    beam: int = Field(6, ge=1)
    #: L: groups of children that are looked at for each leaf of a tree.
    local: int = Field(6, ge=1)
    #: The shortest reply, in words; a shorter one is none.
    least: int = Field(1, ge=1)
    #: The longest reply, in words; what has as many is taken as it stands.
    words: int = Field(50, ge=1)
    #: Levels of a tree; a word at the last is not opened.
    depth: int = Field(30, ge=1)
    #: Which leaf of a tree grows next: any, as in the paper, or the first open one.
    order: Order = "any"
    #: When the search of trees is over: once no open one can overtake, or, as in the paper, once enough have ended.
    stop: Stop = "sure"
    #: Only so many posts of the split, after those that are skipped; 0 means all.
    posts: int = Field(0, ge=0)
    skip: int = Field(0, ge=0)


@dataclass(frozen=True, eq=False)
class Reply:
    """A reply, its log-probability, and how it grew.

    Attributes:
        words: in the order of the sentence.
        nodes: (n, 3) of its tree; None for a chain.
        cut: the cap that stopped it, or "".
    """

    words: list[str]
    log_probability: float
    nodes: Nodes | None
    cut: Cut


def replies(
    model: ChainModel | TreeModel, batch: DialogueBatch, decoder: DialogueDecoder, vocabulary: WordVocabulary
) -> list[list[Reply]]:
    """The best replies to each post of `batch`, `beam` at most and the best first; of equal texts the best.

    Raises:
        ConfigError: more words at least than at most; beams that the vocabulary is too small for; trees that have no
            order of words (K = 2).
    """
    if decoder.least > decoder.words:
        what = f"at least {decoder.least} words, where {decoder.words} are the most"
        raise ConfigError(what, where="decoder.least", remedy=f"at most {decoder.words}")
    found = (_grown if hasattr(model, "arity") else _chains)(cast(Any, model), batch, decoder, vocabulary)
    best: list[dict[str, Reply]] = [{} for _ in found]
    for row, made in zip(best, found, strict=True):
        for reply in made:  # trees differ where their words do not, and words where their letters do not
            row.setdefault("".join(reply.words), reply)
    return [list(row.values()) for row in best]


def _chains(model: ChainModel, batch: Any, decoder: DialogueDecoder, vocabulary: WordVocabulary) -> list[list[Reply]]:
    found = beam_search(
        model, batch, beam=decoder.beam, steps=decoder.words, begin=BOS, end=EOS, min_ids=decoder.least,
        constraint=Never(torch.tensor(NEVER), vocabulary.text_size),
    )  # fmt: skip
    return [
        [
            Reply(_words(each.tokens, vocabulary), each.log_probability, None,
                  "words" if len(each.tokens) == decoder.words else "")
            for each in row
        ]
        for row in found
    ]  # fmt: skip


def _grown(model: TreeModel, batch: Any, decoder: DialogueDecoder, vocabulary: WordVocabulary) -> list[list[Reply]]:
    if model.arity not in (1, ARITY):
        raise ConfigError(
            f"trees of {model.arity} children a node have no order of words", where="decoder", remedy="arity 3, or 1"
        )
    chain = model.arity == 1
    found = tree_beam(
        model, batch, beam=decoder.beam, local=decoder.local, end=EOS, never=NEVER, words=decoder.words,
        depth=decoder.words + 1 if chain else decoder.depth, rounds=decoder.words, least=decoder.least,
        order=decoder.order, stop=decoder.stop,
    )  # fmt: skip
    rows = []
    for row in found:
        made = []
        for tree in row:
            order = range(len(tree.tokens)) if chain else flatten(tree.children).tolist()
            words = _words([tree.tokens[node] for node in order], vocabulary)
            made.append(Reply(words, tree.log_probability, None if chain else tree.children, tree.cut))
        rows.append(made)
    return rows


def _words(ids: list[int], vocabulary: WordVocabulary) -> list[str]:
    return [vocabulary.token(each) for each in ids]
