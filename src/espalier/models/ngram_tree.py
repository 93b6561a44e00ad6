"""An n-gram model of K-ary trees with Kneser-Ney smoothing (`kneser_ney.py`), over the tree contract.

It predicts the children of a node from the words above them, as `ngram.py` predicts a token from the words before it.
With `order` 3, a child is predicted from its parent and grandparent. The nearest part of the history, which is dropped
last, is the place of the child: its index among its siblings, which earlier children exist, and the index of the parent
among its own siblings.

The model reads no source. It is a baseline of X2Tree, in which children depend on the post, all ancestors, and the
words of earlier siblings.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Self

import numpy as np
import torch
from torch import Tensor

from espalier.datasets.dialogue.data import DialogueBatch, DialogueView
from espalier.datasets.vocabulary import BOS, EOS
from espalier.io.errors import ConfigError
from espalier.models.contract import Loss
from espalier.models.kneser_ney import IntArray, KneserNey
from espalier.models.ngram import NGramConfig, Vocabulary_


@dataclass
class NGramTreeState:
    """Sources that are not read.

    Attributes:
        rows: (n,) their rows in the batch.
    """

    rows: Tensor

    def select(self, index: Tensor) -> NGramTreeState:
        """The rows `index`."""
        return NGramTreeState(self.rows[index])


@dataclass
class NGramTreeNodes:
    """Nodes whose children are not yet chosen.

    Attributes:
        above: (n, order) index of each node among its siblings (K for a root), its word, and the words above it, the
            nearest first.
        child_hidden: (n, K, order - 1) for each child, its index and the words above it.
    """

    above: Tensor
    child_hidden: Tensor

    def select(self, index: Tensor) -> NGramTreeNodes:
        """The rows `index`."""
        return NGramTreeNodes(self.above[index], self.child_hidden[index])


class NGramTree(Generic[Vocabulary_]):
    """An n-gram model fitted to trees.

    Raises:
        ConfigError: `config.order` is below 2.
    """

    def __init__(self, config: NGramConfig[DialogueView], vocabulary: Vocabulary_, counts: KneserNey) -> None:
        if config.order < 2:
            raise ConfigError(f"is {config.order}", where="order", remedy="2 or more: a child and its parent")
        self.config, self.vocabulary, self.counts = config, vocabulary, counts
        self.arity: int = config.view.arity

    @classmethod
    def fit(
        cls, config: NGramConfig[DialogueView], vocabulary: Vocabulary_, batches: Iterable[DialogueBatch], size: int
    ) -> Self:
        """Count the roots and the children of trees. One batch is in memory at a time.

        Args:
            batches: batches of trees, as in `datasets.dialogue.data`.
        """
        k = config.view.arity
        occurrences = (_choices(batch, k, config.order)[:2] for batch in batches)
        radix = max(size, _root_place(k) + 1)
        return cls(config, vocabulary, KneserNey.fit(occurrences, config.order, size, radix, config.discounts))

    # --- The contract ------------------------------------------------------------------------------------------------

    def tree_losses(self, batch: DialogueBatch) -> Tensor:
        """(batch,) nats of each tree."""
        histories, tokens, owners = _choices(batch, self.arity, self.config.order)
        nats = np.bincount(owners, self.counts.nats(histories, tokens), len(batch))
        return torch.from_numpy(nats).to(batch.device)

    def forward(self, batch: DialogueBatch, smoothing: float = 0.0) -> Loss:
        """Summed negative log-likelihood: K n + 1 choices for a tree of n words."""
        return Loss(self.tree_losses(batch).sum(), torch.tensor(len(batch) + batch.below.numel(), device=batch.device))

    def start(self, batch: DialogueBatch) -> NGramTreeState:
        """The rows of the batch."""
        return NGramTreeState(torch.arange(len(batch), device=batch.device))

    def roots(self, state: NGramTreeState) -> Tensor:
        """(n, ids) log-probabilities of the root."""
        scores = self.counts.log_probabilities(_root_histories(1, self.arity, self.config.order))
        return scores.to(state.rows.device).repeat(len(state.rows), 1)

    def nodes(self, tokens: Tensor, hidden: Tensor | None, state: NGramTreeState) -> NGramTreeNodes:
        """Nodes with words `tokens`, (n,), and `hidden`, (n, order - 1), from their parents; None for roots."""
        if hidden is None:
            hidden = tokens.new_full((len(tokens), self.config.order - 1), BOS)
            hidden[:, 0] = self.arity
        above = torch.cat([hidden[:, :1], tokens[:, None], hidden[:, 1:]], dim=1)
        slots = torch.arange(self.arity, device=tokens.device).expand(len(tokens), -1)
        passed = above[:, None, 1:-1].expand(-1, self.arity, -1)
        return NGramTreeNodes(above, torch.cat([slots[..., None], passed], dim=2))

    def child(self, k: int, nodes: NGramTreeNodes, earlier: Tensor) -> Tensor:
        """(n, ids) log-probabilities of child k, given the earlier children, (n, k)."""
        above = nodes.above.cpu().numpy()
        places = _places(k, earlier.cpu().numpy(), above[:, 0], self.arity)
        scores = self.counts.log_probabilities(np.concatenate([places[:, None], above[:, 1:]], axis=1))
        return scores.to(earlier.device)


# --- Histories -------------------------------------------------------------------------------------------------------


def _choices(batch: DialogueBatch, k: int, order: int) -> tuple[IntArray, IntArray, IntArray]:
    """For all roots, then all children: histories (n, order), tokens (n,), and rows of the batch (n,).

    A history is the child's place, its parent, its grandparent and so on, with `BOS` above the root.
    """
    tokens, below, place = (tensor.cpu().numpy() for tensor in (batch.tokens, batch.below, batch.place))
    widths, owner = batch.widths.cpu().numpy(), batch.owner.cpu().numpy()
    roots, count = len(batch), len(tokens)
    starts = np.cumsum(widths) - widths
    level_before = np.repeat(np.roll(starts, 1), widths)
    parent, slot = place // k + level_before, place % k
    parent[:roots], slot[:roots] = count, k  # no node
    words, parent = np.append(tokens, BOS), np.append(parent, count)
    above, node = list[IntArray](), np.arange(count)
    for _ in range(order - 1):
        above.append(words[node])
        node = parent[node]
    histories = [_root_histories(roots, k, order)]
    for child in range(k):
        histories.append(np.stack([_places(child, below[:, :child], slot, k), *above], axis=1))
    return (
        np.concatenate(histories),
        np.concatenate([tokens[:roots], *below.T]),
        np.concatenate([owner[:roots], np.tile(owner, k)]),
    )


def _places(child: int, earlier: IntArray, slot: IntArray, k: int) -> IntArray:
    """(n,) number of each place: the index of the child, which earlier children are words, and the index of its parent.

    Args:
        earlier: (n, child) tokens of the earlier children.
        slot: (n,) index of the parent among its siblings, K for a root.
    """
    there = (earlier != EOS) @ (1 << np.arange(child))
    return np.asarray((child * (1 << (k - 1)) + there) * (k + 1) + slot, dtype=np.int64)


def _root_place(k: int) -> int:
    """The number of the root's place, above the numbers of all other places."""
    return k * (1 << (k - 1)) * (k + 1)


def _root_histories(rows: int, k: int, order: int) -> IntArray:
    histories = np.full((rows, order), BOS, dtype=np.int64)
    histories[:, 0] = _root_place(k)
    return histories
