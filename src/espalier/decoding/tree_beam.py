"""Generalized beam search (X2Tree, AAAI 2018, algorithm 2) over the tree contract, for whole batches of sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from espalier.decoding.grown_trees import GrownTree, Harvest, Stop
from espalier.decoding.tree_leaves import NONE, Leaves
from espalier.io.errors import ConfigError
from espalier.layers.linear import constant_weights
from espalier.models.contract import TreeModel

Order = Literal["any", "first"]


def tree_beam(
    model: TreeModel,
    batch: Any,
    *,
    beam: int,
    local: int,
    end: int,
    never: Sequence[int] = (),
    depth: int,
    words: int,
    rounds: int,
    least: int = 1,
    order: Order = "any",
    stop: Stop = "sure",
) -> list[list[GrownTree]]:
    """The `beam` best trees for each row of `batch`, the best first; fewer where no more can be grown.

    In a round each tree of the beam gives one of its open leaves one of that leaf's `local` best groups of K children,
    in all ways; the best of what comes of it are the next beam. A tree that several ways lead to is taken once. Trees
    that end, and are among the best `beam` of their round, are collected. With K = 1, and `local` at least twice
    `beam`, that is `beam_search`.

    Args:
        beam: G of the paper.
        local: L of the paper.
        end: the child that is none, EOB; never a root.
        never: tokens that are neither roots nor children. Scores stay the model's: they are not normalised anew.
        depth: the deepest level, the root's being 1: a word there is not opened.
        words: a tree of so many words, or by its last group up to K - 1 more, is taken as it stands. Trees that are
            taken so can differ in nothing but in which of their leaves are known to have no children.
        rounds: how often the beam is grown; then open trees are taken as they stand.
        least: a tree that ends with fewer words is none.
        order: "any" leaf can be next, as in the paper; or only the "first" open one, depth first and from left to
            right, so that one way alone leads to each tree.
        stop: when a row is done. "sure": when it has `beam` trees and no open one can overtake the last of them; trees
            that end leave their places on the beam to others, as in `beam_search`. "paper": when it has `beam`
            trees; in the round in which they end, they keep their places.

    Raises:
        ConfigError: a size below 1, `local` above the number of groups of K tokens (V^K, where V tokens can be
            children), or `least` above `words`.
    """
    sizes = {"beam of {}": beam, "local beam of {}": local, "depth of {}": depth}
    for what, size in (sizes | {"cap of {} words": words, "cap of {} rounds": rounds}).items():
        if size < 1:
            raise ConfigError(f"a {what.format(size)}", remedy="at least 1")
    if least > words:
        raise ConfigError(f"at least {least} words, where a cap is {words}", remedy=f"at most {words}")
    with constant_weights():
        state = model.start(batch)
        roots = model.roots(state)
        vocabulary = roots.shape[1]
        tokens = vocabulary - len(set(never))
        groups = tokens**model.arity
        if local > groups:
            what = f"a local beam of {local}, where {tokens} tokens make {groups} groups of {model.arity}"
            raise ConfigError(what, remedy=f"at most {groups}")
        leaves = Leaves(model, state, local=local, end=end, never=never, depth=depth, vocabulary=vocabulary)
        harvest = Harvest(beam, roots)
        masked = torch.tensor([*never, end], dtype=torch.long, device=roots.device)
        best, token = roots.index_fill(1, masked, -torch.inf).topk(min(beam, vocabulary), dim=1)
        if not (best > -torch.inf).any():
            return [[] for _ in roots]
        trees = _Trees.plant(best, token, leaves, harvest)
        if words == 1 or depth == 1:
            harvest.collect(trees.rows, trees.scores.masked_fill(trees.words < least, -torch.inf), trees.move)
            return harvest.trees(leaves, words)
        for round_ in range(1, rounds + 1):
            last = round_ == rounds
            leaf = trees.open[..., :1] if order == "first" else trees.open
            scores, ends = trees.ways(leaf, leaves, least, words)
            # A tree of n groups comes of at most n trees, each without one of them.
            copies = 1 if order == "first" or model.arity == 1 else min(beam, round_)
            top = trees.best(scores, leaf, leaves, beam, copies)
            ended = ends.gather(1, top.place) | last
            moves = harvest.move(trees.move.gather(1, top.tree), top.code)
            harvest.collect(trees.rows, top.scores.masked_fill(~ended, -torch.inf), moves)
            if last:
                break
            if stop == "paper":
                top = top._replace(scores=top.scores.masked_fill(ended, -torch.inf))
            elif ends.any():
                top = trees.best(scores.masked_fill(ends, -torch.inf), leaf, leaves, beam, copies)
            top = top._replace(scores=harvest.hopeful(trees.rows, top.scores, stop))
            keep = (top.scores > -torch.inf).any(1)
            if not keep.any():
                break
            trees = trees.advance(keep, top, leaves, harvest)
    return harvest.trees(leaves, words)


class _Ways(NamedTuple):
    """Ways to grow a row's trees, the best first: (rows, ways) each.

    Attributes:
        scores: of the new trees; -inf for a way that is none.
        place: where the way stands among all of its row, (trees, open leaves, groups) flattened.
        tree: which of the row's trees grows.
        code: the group that it is given.
        keys: of the new trees, as `Opened.keys`.
    """

    scores: Tensor
    place: Tensor
    tree: Tensor
    code: Tensor
    keys: Tensor


@dataclass
class _Trees:
    """The beams of the rows that are not done.

    Attributes:
        rows: (rows,) of the batch.
        scores: (rows, trees) log-probabilities; -inf for a tree that is none.
        open: (rows, trees, leaves) the leaves that have no children yet, the newest first, siblings from left to right
            (with `order` "first" that is depth first); then `NONE`s.
        words: (rows, trees).
        keys: (rows, trees) as `Opened.keys`.
        move: (rows, trees) the last step of each tree's growth, as `Harvest` numbers them.
    """

    rows: Tensor
    scores: Tensor
    open: Tensor
    words: Tensor
    keys: Tensor
    move: Tensor

    @classmethod
    def plant(cls, scores: Tensor, tokens: Tensor, leaves: Leaves, harvest: Harvest) -> _Trees:
        """A root each."""
        real = scores > -torch.inf
        open_ = torch.full_like(tokens, NONE)
        open_[real] = leaves.plant(tokens[real], real.nonzero()[:, 0])
        start = harvest.move(torch.full_like(tokens, NONE), open_ * leaves.local)
        rows = torch.arange(len(tokens), device=tokens.device)
        return cls(rows, scores, open_[..., None], torch.ones_like(tokens), torch.zeros_like(tokens), start)

    def ways(self, leaf: Tensor, leaves: Leaves, least: int, words: int) -> tuple[Tensor, Tensor]:
        """Scores of all ways to grow these leaves, (rows, trees, leaves), and whether the trees end: (rows, ways)."""
        opened = leaves.opened
        scores = self.scores[..., None, None] + opened.scores[leaf]
        others = (self.open != NONE).sum(2)[..., None, None] - 1
        grown = self.words[..., None, None] + opened.words[leaf]
        ends = (others + opened.buds[leaf] == 0) | (grown >= words)
        none = (leaf == NONE)[..., None] | (ends & (grown < least))
        return scores.masked_fill(none, -torch.inf).flatten(1), ends.flatten(1)

    def best(self, scores: Tensor, leaf: Tensor, leaves: Leaves, count: int, copies: int) -> _Ways:
        """The `count` best ways that lead to different trees, if no tree comes more than `copies` times."""
        best, place = scores.topk(min(count * copies, scores.shape[1]), dim=1)
        tree = place // (leaf.shape[2] * leaves.local)
        code = leaf.flatten(1).gather(1, place // leaves.local) * leaves.local + place % leaves.local
        keys = self.keys.gather(1, tree) + leaves.opened.keys.view(-1)[code]
        ways = _Ways(best, place, tree, code, keys)
        if copies == 1:
            return ways
        ordered, order = keys.sort(dim=1, stable=True)  # stable, so that the best of equal trees comes first
        again = torch.zeros_like(ordered, dtype=torch.bool)
        again[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
        again = again.scatter(1, order, again)
        order = again.long().sort(dim=1, stable=True).indices[:, :count]
        ways = ways._replace(scores=best.masked_fill(again, -torch.inf))
        return _Ways(*(part.gather(1, order) for part in ways))

    def advance(self, keep: Tensor, ways: _Ways, leaves: Leaves, harvest: Harvest) -> _Trees:
        """The trees that these ways lead to, in the rows to keep."""
        scores, _, tree, code, keys = (part[keep] for part in ways)
        words, move = (part[keep].gather(1, tree) for part in (self.words, self.move))
        real = scores > -torch.inf
        grown = leaves.grow(code[real])
        children = grown.new_full((*real.shape, grown.shape[1]), NONE)
        children[real] = grown
        open_ = self.open[keep].gather(1, tree[..., None].expand(-1, -1, self.open.shape[2]))
        open_ = torch.cat([children, open_.masked_fill(open_ == (code // leaves.local)[..., None], NONE)], dim=2)
        none = open_ == NONE
        most = int((~none).sum(2).max())
        open_ = open_.gather(2, none.long().sort(dim=2, stable=True).indices[..., :most])
        words = words + leaves.opened.words.view(-1)[code]
        return _Trees(self.rows[keep], scores, open_, words, keys, harvest.move(move, code))
