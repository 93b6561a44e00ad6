"""Top-k sampling of trees over the tree contract, level by level, for whole batches of sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from espalier.datasets.batch import Batch
from espalier.datasets.encoding import Vocabulary
from espalier.decoding.sampling import draw, uniforms
from espalier.decoding.tree_hypotheses import TreeHypothesis
from espalier.layers.linear import constant_weights
from espalier.models.contract import State, TreeModel, TreeNodes
from espalier.syntax.ternary import EOB

Batch_ = TypeVar("Batch_", bound=Batch)
State_ = TypeVar("State_", bound=State)
Nodes_ = TypeVar("Nodes_", bound=TreeNodes)


def sample_trees(
    model: TreeModel[Batch_, Vocabulary, object, State_, Nodes_],
    batch: Batch_,
    *,
    seeds: Sequence[int],
    end: int,
    never: Sequence[int] = (),
    depth: int,
    max_words: int,
    top_k: int = 32,
    temperature: float = 1.0,
) -> list[TreeHypothesis]:
    """Sample the same number of trees for each row of `batch`, those of a row one after the other.

    The root is drawn, then the children of all words of a level, each given its earlier siblings (equations 1 to 3 of
    X2Tree). A word's children depend only on its ancestors, so that the order of the words does not matter. A tree
    depends only on its row and its seed, not on other rows: child k of its word n uses uniform 1 + K n + k.

    Args:
        seeds: a seed for each tree.
        end: the token EOB, which marks an absent child; never a root.
        never: tokens that are neither roots nor children.
        depth: the deepest level; the root's is 1. A word at this level is not expanded.
        max_words: the largest number of words. Words beyond it, counted level by level, are left out.
        top_k: number of most probable tokens to draw from; 1 is greedy.
        temperature: the log-probabilities are divided by it.

    Returns:
        The trees. Their log-probabilities are the model's: neither `top_k` nor `temperature` changes them. Choices that
        a limit left out do not count.
    """
    each, arity, device = len(seeds) // max(1, len(batch)), model.arity, batch.device
    drawn = uniforms(seeds, 1 + arity * max_words).to(device)
    masked = torch.tensor([*never], dtype=torch.long, device=device)
    tokens = torch.full((len(seeds), max_words), end, device=device)
    children = torch.full((len(seeds), max_words, arity), EOB, device=device)
    sums = torch.zeros(len(seeds), device=device)
    with constant_weights():
        state = model.start(batch).select(torch.arange(len(seeds), device=device) // max(1, each))
        roots = model.roots(state).index_fill(1, torch.cat([masked, masked.new_tensor([end])]), -torch.inf)
        owner = torch.arange(len(seeds), device=device)
        token, _ = draw(roots, drawn[:, 0], top_k, temperature)
        tokens[:, 0] = token
        sums += roots.gather(1, token[:, None])[:, 0]
        counts, number, hidden = torch.ones_like(owner), torch.zeros_like(owner), None
        left_out = torch.zeros_like(owner, dtype=torch.bool)
        for _ in range(1, depth):
            nodes = model.nodes(token, hidden, state.select(owner))
            below, logs = owner.new_empty(len(owner), 0), list[Tensor]()
            for k in range(arity):
                scores = model.child(k, nodes, below).index_fill(1, masked, -torch.inf)
                child, _ = draw(scores, drawn[owner, 1 + arity * number + k], top_k, temperature)
                below = torch.cat([below, child[:, None]], dim=1)
                logs.append(scores.gather(1, child[:, None])[:, 0])
            # The new words of a tree are numbered after those that it has, from left to right.
            words = below != end
            before = words.flatten().cumsum(0).view_as(below) - words.long()
            firsts = (
                before[:, 0].new_full((len(seeds),), len(words) * arity).scatter_reduce(0, owner, before[:, 0], "amin")
            )
            place = counts[owner][:, None] + before - firsts[owner][:, None]
            kept = words & (place < max_words)
            left_out.index_put_((owner,), (words & ~kept).any(1), accumulate=True)
            chosen = (torch.stack(logs, dim=1) * (kept | ~words)).sum(1)
            sums.index_add_(0, owner, chosen)
            parent, slot = kept.nonzero(as_tuple=True)
            tokens[owner[parent], place[parent, slot]] = below[parent, slot]
            children[owner[parent], number[parent], slot] = place[parent, slot]
            counts = counts.index_add(0, owner, kept.sum(1))
            hidden, token = nodes.child_hidden[parent, slot], below[parent, slot]
            number, owner = place[parent, slot], owner[parent]
            if not len(owner):
                break
        deep = torch.zeros_like(left_out).index_fill(0, owner, True)  # words at the deepest level are left
    rows = zip(
        tokens.tolist(),
        children.tolist(),
        counts.tolist(),
        sums.tolist(),
        left_out.tolist(),
        deep.tolist(),
        strict=True,
    )
    return [
        TreeHypothesis(
            words[:count], np.array(below[:count], np.int32), total, total, "words" if cut else "depth" if open_ else ""
        )
        for words, below, count, total, cut, open_ in rows
    ]
