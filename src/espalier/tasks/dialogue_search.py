"""The replies to posts: chains by beam search, trees by its generalization (X2Tree, "Tree Generation"); or samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch

from espalier.datasets.dialogue.data import ARITY, MISSING, DialogueBatch
from espalier.datasets.vocabulary import BOS, EOS, PAD, SEP, UNK, WordVocabulary
from espalier.decoding.constraints.constraint import ForbiddenTokens
from espalier.decoding.constraints.preorder import Preorder
from espalier.decoding.tree_beam import tree_beam
from espalier.decoding.tree_hypotheses import TreeHypothesis
from espalier.decoding.tree_sampling import sample_trees
from espalier.io.hashing import seed_from
from espalier.models.contract import is_tree
from espalier.syntax.ternary import Nodes, flatten, heads_of, read_preorder
from espalier.tasks.dialogue_decoder import (
    DialogueChain,
    DialogueDecoder,
    DialogueModel,
    DialogueTree,
    check_arity,
    length_of,
)
from espalier.tasks.sequence_search import decode

#: Ids that no reply contains.
NEVER: Final = (PAD, UNK, BOS, SEP)


@dataclass(frozen=True, eq=False)
class ReplyHypothesis:
    """A reply and its log-probability.

    Attributes:
        words: words in the order of the sentence.
        score: ranking score: the log-probability with the length penalty.
        nodes: (n, 3) the tree; None for a chain.
        cut: the limit that stopped the search ("words", "depth" or "rounds"), or "".
    """

    words: list[str]
    log_probability: float
    score: float
    nodes: Nodes | None
    cut: str

    @property
    def heads(self) -> tuple[int, ...]:
        """The head of each word, from 1; empty for a chain, and for a tree whose root has a right child (two roots)."""
        return heads_of(self.nodes) if self.nodes is not None and self.nodes[0, -1] < 0 else ()


def replies(
    model: DialogueModel,
    batch: DialogueBatch,
    decoder: DialogueDecoder,
    vocabulary: WordVocabulary,
    seeds: Sequence[int] = (),
) -> list[list[ReplyHypothesis]]:
    """The best replies to each post of `batch`, at most `beam`, the best first, with distinct texts.

    Samples stand in the order in which they are drawn.

    Args:
        seeds: a seed for each post, if replies are sampled.

    Raises:
        ConfigError: the vocabulary is too small for the beam; the trees have no word order (K = 2).
    """
    own = [seed_from(seed, place) for seed in seeds for place in range(decoder.beam)]
    if is_tree(model):
        found = _tree_replies(model, batch, decoder, vocabulary, own)
    elif model.config.view.shape == "linear":
        found = _linear_replies(model, batch, decoder, vocabulary, own)
    else:
        found = _chain_replies(model, batch, decoder, vocabulary, own)
    best: list[dict[str, ReplyHypothesis]] = []
    for row in found:
        texts: dict[str, ReplyHypothesis] = {}
        for reply in row:  # different trees may have the same words, and different words the same characters
            texts.setdefault("".join(reply.words), reply)
        best.append(texts)
    return [list(texts.values()) for texts in best]


def _chain_replies(
    model: DialogueChain,
    batch: DialogueBatch,
    decoder: DialogueDecoder,
    vocabulary: WordVocabulary,
    seeds: Sequence[int],
) -> list[list[ReplyHypothesis]]:
    forbidden = ForbiddenTokens(torch.tensor(NEVER), vocabulary.text_size)
    rows = decode(model, batch, decoder, seeds, forbidden, decoder.max_words, decoder.min_words)
    return [
        [
            ReplyHypothesis(
                [vocabulary.token(identity) for identity in hypothesis.tokens],
                hypothesis.log_probability,
                hypothesis.score,
                None,
                "words" if len(hypothesis.tokens) == decoder.max_words else "",
            )
            for hypothesis in row
        ]
        for row in rows
    ]


def _linear_replies(
    model: DialogueChain,
    batch: DialogueBatch,
    decoder: DialogueDecoder,
    vocabulary: WordVocabulary,
    seeds: Sequence[int],
) -> list[list[ReplyHypothesis]]:
    """Replies of a chain model that writes trees: only complete trees of at most `max_words` words."""
    order = Preorder(vocabulary.text_size, ARITY, MISSING, EOS, NEVER, decoder.min_words, decoder.max_words)
    rows = decode(model, batch, decoder, seeds, order, ARITY * decoder.max_words + 2, min_ids=1)

    def reply(tokens: list[int], log_probability: float) -> ReplyHypothesis:
        nodes = read_preorder([token != MISSING for token in tokens])
        words = [vocabulary.token(token) for token in tokens if token != MISSING]
        text = [words[node] for node in flatten(nodes)]
        cut = "words" if len(text) == decoder.max_words else ""
        return ReplyHypothesis(text, log_probability, log_probability / length_of(text, decoder), nodes, cut)

    found = [[reply(hypothesis.tokens, hypothesis.log_probability) for hypothesis in row] for row in rows]
    return found if seeds else [sorted(row, key=lambda reply: -reply.score) for row in found]


def _tree_replies(
    model: DialogueTree,
    batch: DialogueBatch,
    decoder: DialogueDecoder,
    vocabulary: WordVocabulary,
    seeds: Sequence[int],
) -> list[list[ReplyHypothesis]]:
    check_arity(model.arity)
    chain = model.arity == 1
    depth = decoder.max_words + 1 if chain else decoder.depth
    if decoder.method == "beam":
        rows = tree_beam(
            model, batch, beam=decoder.beam, local=decoder.local, end=EOS, never=NEVER, max_words=decoder.max_words,
            min_words=decoder.min_words, depth=depth, max_rounds=decoder.max_words, order=decoder.order,
            stop=decoder.stop, length_power=decoder.length_power,
        )  # fmt: skip
    else:
        drawn = sample_trees(
            model, batch, seeds=seeds, end=EOS, never=NEVER, depth=depth, max_words=decoder.max_words,
            top_k=decoder.top_k, temperature=decoder.temperature,
        )  # fmt: skip
        rows = [drawn[start : start + decoder.beam] for start in range(0, len(drawn), decoder.beam)]

    def reply(tree: TreeHypothesis) -> ReplyHypothesis:
        order = range(len(tree.tokens)) if chain else flatten(tree.children).tolist()
        words = [vocabulary.token(tree.tokens[node]) for node in order]
        score = tree.log_probability / length_of(words, decoder)
        return ReplyHypothesis(words, tree.log_probability, score, None if chain else tree.children, tree.cut)

    return [[reply(tree) for tree in row] for row in rows]
