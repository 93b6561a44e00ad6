"""Generalized beam search (X2Tree, AAAI 2018, algorithm 2) over the tree contract, for whole batches of sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar

import torch
from torch import Tensor

from espalier.datasets.batch import Batch
from espalier.datasets.encoding import Vocabulary
from espalier.decoding.memory import row_parts, tree_bytes
from espalier.decoding.tree_hypotheses import FinishedTrees, Stop, TreeHypothesis
from espalier.decoding.tree_leaves import NONE, Leaves
from espalier.io.errors import ConfigError
from espalier.layers.linear import constant_weights
from espalier.models.contract import State, TreeModel, TreeNodes

Batch_ = TypeVar("Batch_", bound=Batch)
State_ = TypeVar("State_", bound=State)
Nodes_ = TypeVar("Nodes_", bound=TreeNodes)

Order = Literal["any", "first"]


def tree_beam(
    model: TreeModel[Batch_, Vocabulary, object, State_, Nodes_],
    batch: Batch_,
    *,
    beam: int,
    local: int,
    end: int,
    never: Sequence[int] = (),
    depth: int,
    max_words: int,
    max_rounds: int,
    min_words: int = 1,
    order: Order = "first",
    stop: Stop = "sure",
    length_power: float = 0.0,
) -> list[list[TreeHypothesis]]:
    """The `beam` best trees for each row of `batch`, the best first; fewer if the search finds fewer.

    A round (lines 4 to 12 of algorithm 2) expands each tree of the beam: one of its open leaves receives one of that
    leaf's `local` best groups of K children. The best of all expansions form the next beam. A tree that several
    expansions lead to is kept once. Trees that end among the best `beam` of their round are finished. With K = 1 and
    `local` at least twice `beam`, the search equals `beam_search`, length penalty included. Rows that do not fit into
    memory together are searched in parts.

    Args:
        beam: G of the paper.
        local: L of the paper.
        end: the token EOB, which marks an absent child; never a root.
        never: tokens that are neither roots nor children. Scores are not renormalised without them.
        depth: the deepest level; the root's is 1. A word at this level is not expanded.
        max_words: a tree with at least this many words is finished as it is; its last group can exceed the bound by K -
            1. Two such trees may be equal except for which of their leaves are known to have no children.
        max_rounds: after this many rounds, open trees are finished as they are.
        min_words: a tree that ends with fewer words is dropped.
        order: which open leaf is expanded: the "first" (depth first, from left to right), so that only one sequence
            of expansions leads to each tree, or "any", as in the paper.
        length_power: a finished tree of n words is ranked by log-probability / min(n + 1, `max_words`)**length_power,
            as `beam_search` ranks n tokens and their end mark. Open trees are compared only by log-probability.
        stop: when a row is done. "sure": when it has `beam` finished trees and no open one can overtake the last of
            them (an open tree scores at most its own log-probability at the largest length, so that the rule stays
            exact with a length penalty, and the search is longer); trees that end leave their places on the beam
            to others, as in `beam_search`. "paper": when it has `beam` finished trees; in the round in which they end,
            they keep their places.

    Raises:
        ConfigError: a size below 1, `local` above the number of groups of K tokens (V^K, if V tokens can be children),
            or `min_words` above `max_words`; or the beam of one row does not fit into memory.
    """
    sizes = {"beam": beam, "local": local, "depth": depth, "max_words": max_words, "max_rounds": max_rounds}
    for name, size in sizes.items():
        if size < 1:
            raise ConfigError(f"is {size}", where=name, remedy="give at least 1")
    if min_words > max_words:
        raise ConfigError(f"is {min_words}, above max_words", where="min_words", remedy=f"give at most {max_words}")

    def search(state: State_, roots: Tensor) -> list[list[TreeHypothesis]]:
        vocabulary = roots.shape[1]
        leaves = Leaves(model, state, local=local, end=end, never=never, depth=depth, vocabulary=vocabulary)
        finished = FinishedTrees(beam, roots, max_words, length_power)
        masked = torch.tensor([*never, end], dtype=torch.long, device=roots.device)
        best, token = roots.index_fill(1, masked, -torch.inf).topk(min(beam, vocabulary), dim=1)
        if not (best > -torch.inf).any():
            return [[] for _ in roots]
        trees = _Trees.from_roots(best, token, leaves, finished)
        if max_words == 1 or depth == 1:
            scores = trees.scores.masked_fill(trees.words < min_words, -torch.inf)
            finished.add(trees.rows, scores, trees.words, trees.expansion)
            return finished.trees(leaves)
        for round_ in range(1, max_rounds + 1):
            last = round_ == max_rounds
            leaf = trees.open[..., :1] if order == "first" else trees.open
            scores, ends = trees.expansions(leaf, leaves, min_words, max_words)
            # At most n trees, each without one of the n groups, expand to the same tree of n groups.
            copies = 1 if order == "first" or model.arity == 1 else min(beam, round_)
            top = trees.best(scores, leaf, leaves, beam, copies)
            ended = ends.gather(1, top.place) | last
            expansions = finished.expand(trees.expansion.gather(1, top.tree), top.code)
            words = trees.words.gather(1, top.tree) + leaves.opened.words.view(-1)[top.code]
            finished.add(trees.rows, top.scores.masked_fill(~ended, -torch.inf), words, expansions)
            if last:
                break
            if stop == "paper":
                top = top._replace(scores=top.scores.masked_fill(ended, -torch.inf))
            elif ends.any():
                top = trees.best(scores.masked_fill(ends, -torch.inf), leaf, leaves, beam, copies)
            top = top._replace(scores=finished.prune(trees.rows, top.scores, stop))
            keep = (top.scores > -torch.inf).any(1)
            if not keep.any():
                break
            trees = trees.advance(keep, top, leaves, finished)
        return finished.trees(leaves)

    with constant_weights():
        state = model.start(batch)
        roots = model.roots(state)
        tokens = roots.shape[1] - len(set(never))
        groups = tokens**model.arity
        if local > groups:
            what = f"is {local}, but {tokens} tokens make {groups} groups of {model.arity}"
            raise ConfigError(what, where="local", remedy=f"give at most {groups}")
        parts = row_parts(len(roots), roots.device, beam=beam, each=tree_bytes(model.arity, local, max_words))
        return [row for part in parts for row in search(state.select(part), roots[part])]


class _Expansions(NamedTuple):
    """Expansions of each row's trees, the best first, (rows, n) each.

    Attributes:
        scores: log-probabilities of the new trees; -inf at padding.
        place: the index among all expansions of the row, (trees, open leaves, groups) flattened.
        tree: index of the expanded tree.
        code: code of the added group, as in `Leaves`.
        keys: keys of the new trees, as in `Opened.keys`.
    """

    scores: Tensor
    place: Tensor
    tree: Tensor
    code: Tensor
    keys: Tensor


@dataclass
class _Trees:
    """The beams of the unfinished rows.

    Attributes:
        rows: (rows,) their indices in the batch.
        scores: (rows, trees) log-probabilities; -inf at padding.
        open: (rows, trees, leaves) the leaves that have no children yet, the newest first, siblings from left to right
            (with `order` "first" that is depth first); then `NONE`s.
        words: (rows, trees) number of words.
        keys: (rows, trees) as in `Opened.keys`.
        expansion: (rows, trees) the last expansion of each tree, as `FinishedTrees` numbers them.
    """

    rows: Tensor
    scores: Tensor
    open: Tensor
    words: Tensor
    keys: Tensor
    expansion: Tensor

    @classmethod
    def from_roots(
        cls, scores: Tensor, tokens: Tensor, leaves: Leaves[State_, Nodes_], finished: FinishedTrees
    ) -> _Trees:
        """Trees of one node, the root."""
        real = scores > -torch.inf
        open_ = torch.full_like(tokens, NONE)
        open_[real] = leaves.open_roots(tokens[real], real.nonzero()[:, 0])
        start = finished.expand(torch.full_like(tokens, NONE), open_ * leaves.local)
        rows = torch.arange(len(tokens), device=tokens.device)
        return cls(rows, scores, open_[..., None], torch.ones_like(tokens), torch.zeros_like(tokens), start)

    def expansions(
        self, leaf: Tensor, leaves: Leaves[State_, Nodes_], min_words: int, max_words: int
    ) -> tuple[Tensor, Tensor]:
        """Scores of all expansions of `leaf`, (rows, trees, leaves), and whether the new trees end, (rows, n) both."""
        opened = leaves.opened
        scores = self.scores[..., None, None] + opened.scores[leaf]
        others = (self.open != NONE).sum(2)[..., None, None] - 1
        words = self.words[..., None, None] + opened.words[leaf]
        ends = (others + opened.openable[leaf] == 0) | (words >= max_words)
        dropped = (leaf == NONE)[..., None] | (ends & (words < min_words))
        return scores.masked_fill(dropped, -torch.inf).flatten(1), ends.flatten(1)

    def best(
        self, scores: Tensor, leaf: Tensor, leaves: Leaves[State_, Nodes_], count: int, copies: int
    ) -> _Expansions:
        """The `count` best expansions to different trees; at most `copies` expansions lead to the same tree."""
        best, place = scores.topk(min(count * copies, scores.shape[1]), dim=1)
        tree = place // (leaf.shape[2] * leaves.local)
        code = leaf.flatten(1).gather(1, place // leaves.local) * leaves.local + place % leaves.local
        keys = self.keys.gather(1, tree) + leaves.opened.keys.view(-1)[code]
        expansions = _Expansions(best, place, tree, code, keys)
        if copies == 1:
            return expansions
        ordered, order = keys.sort(dim=1, stable=True)  # stable, so that the best of equal trees comes first
        again = torch.zeros_like(ordered, dtype=torch.bool)
        again[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
        again = again.scatter(1, order, again)
        order = again.long().sort(dim=1, stable=True).indices[:, :count]
        expansions = expansions._replace(scores=best.masked_fill(again, -torch.inf))
        return _Expansions(*(part.gather(1, order) for part in expansions))

    def advance(
        self, keep: Tensor, expansions: _Expansions, leaves: Leaves[State_, Nodes_], finished: FinishedTrees
    ) -> _Trees:
        """Apply the expansions to the kept rows."""
        scores, _, tree, code, keys = (part[keep] for part in expansions)
        words, expansion = (part[keep].gather(1, tree) for part in (self.words, self.expansion))
        real = scores > -torch.inf
        below = leaves.open_children(code[real])
        children = below.new_full((*real.shape, below.shape[1]), NONE)
        children[real] = below
        open_ = self.open[keep].gather(1, tree[..., None].expand(-1, -1, self.open.shape[2]))
        open_ = torch.cat([children, open_.masked_fill(open_ == (code // leaves.local)[..., None], NONE)], dim=2)
        none = open_ == NONE
        longest = int((~none).sum(2).max())
        open_ = open_.gather(2, none.long().sort(dim=2, stable=True).indices[..., :longest])
        words = words + leaves.opened.words.view(-1)[code]
        return _Trees(self.rows[keep], scores, open_, words, keys, finished.expand(expansion, code))
