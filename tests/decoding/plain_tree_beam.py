"""Algorithm 2 of X2Tree as its text reads: one tree at a time, one leaf at a time, every leaf again in every round.

Written for tests and for benchmarks to compare with; it shares nothing with the library but the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

Path = tuple[int, ...]  # of a node: which child of the root, which child of that, ...; () is the root


@dataclass
class PlainTree:
    """What each node's place holds, and the hidden state of each; nodes whose children are known."""

    tokens: dict[Path, int]
    hidden: dict[Path, Tensor | None]
    opened: frozenset[Path]
    score: float

    def leaves(self, depth: int) -> list[Path]:
        """Words without children that may have some, depth first and from left to right."""
        return sorted(path for path in self.tokens if path not in self.opened and len(path) < depth - 1)

    def same(self) -> Any:
        return frozenset(self.tokens.items()), self.opened

    def flat(self, arity: int) -> tuple[list[int], list[list[int]]]:
        """Tokens and children, the nodes by level."""
        paths = sorted(self.tokens, key=lambda path: (len(path), path))
        number = {path: place for place, path in enumerate(paths)}
        children = [[number.get((*path, k), -1) for k in range(arity)] for path in paths]
        return [self.tokens[path] for path in paths], children


def plain_tree_beam(
    model: Any,
    batch: Any,
    *,
    beam: int,
    local: int,
    end: int,
    depth: int,
    max_words: int,
    max_rounds: int,
    never: tuple[int, ...] = (),
    min_words: int = 1,
    order: str = "first",
    length_power: float = 0.0,
    stop: str = "sure",
    distinct: bool = True,
    apart: bool = False,
) -> list[PlainTree]:
    """The best trees of a batch of one row, the best first.

    Args:
        distinct: whether a tree that was reached twice is kept once; the paper's text says nothing of it.
        apart: whether the hypotheses of the local beam are scored one by one, too.
    """
    state = model.start(batch)
    roots = model.roots(state)[0].clone()
    roots[[end, *never]] = -torch.inf
    values, tokens = roots.sort(descending=True)
    trees = [
        PlainTree({(): token}, {(): None}, frozenset(), value)
        for value, token in zip(values.tolist()[:beam], tokens.tolist()[:beam], strict=True)
        if value > -float("inf")
    ]
    finished: list[PlainTree] = []

    def ranked(tree: PlainTree) -> float:
        return tree.score / min(len(tree.tokens) + 1, max_words) ** length_power

    def over(tree: PlainTree) -> bool:
        return len(tree.tokens) >= max_words or not tree.leaves(depth)

    if all(map(over, trees)):
        return [tree for tree in trees if len(tree.tokens) >= min_words]
    for round_ in range(1, max_rounds + 1):
        grown: list[PlainTree] = []
        for tree in trees:
            leaves = tree.leaves(depth)
            for leaf in leaves[:1] if order == "first" else leaves:
                grown += _grow(model, state, tree, leaf, local, end, never, apart)
        grown = [tree for tree in grown if len(tree.tokens) >= min_words or not over(tree)]
        grown = sorted((tree for tree in grown if tree.score > -float("inf")), key=lambda tree: -tree.score)
        if distinct:
            grown = list({tree.same(): tree for tree in reversed(grown)}.values())[::-1]
            grown.sort(key=lambda tree: -tree.score)
        ended = [tree for tree in grown[:beam] if round_ == max_rounds or over(tree)]
        finished = sorted(finished + ended, key=lambda tree: -ranked(tree))
        going = grown[:beam] if stop == "paper" else grown
        trees = [tree for tree in going if not over(tree)][:beam]
        enough = len(finished) >= beam
        if not trees or (enough and stop == "paper"):
            break
        if enough and trees[0].score / max_words**length_power <= ranked(finished[beam - 1]):
            break
    return finished[:beam]


def _grow(
    model: Any, state: Any, tree: PlainTree, leaf: Path, local: int, end: int, never: tuple[int, ...], apart: bool
) -> list[PlainTree]:
    """The tree with each of the leaf's best groups of children, which a chain beam finds."""
    token = torch.tensor([tree.tokens[leaf]])
    node = model.nodes(token, tree.hidden[leaf], state.select(torch.zeros(1, dtype=torch.long)))
    groups: list[tuple[list[int], float]] = [([], 0.0)]
    for k in range(model.arity):
        earlier = torch.tensor([group for group, _ in groups], dtype=torch.long).view(len(groups), k)
        parts = earlier.split(1 if apart else len(groups))
        logs = torch.cat([model.child(k, node.select(torch.zeros(len(part)).long()), part) for part in parts])
        logs[:, list(never)] = -torch.inf
        best, chosen = logs.topk(min(local, logs.shape[1]), dim=1)
        longer = [
            ([*group, word], score + more)
            for (group, score), mores, row in zip(groups, best.tolist(), chosen.tolist(), strict=True)
            for more, word in zip(mores, row, strict=True)
        ]
        groups = sorted(longer, key=lambda pair: -pair[1])[:local]
    made = []
    for group, score in groups:
        tokens, hidden = dict(tree.tokens), dict(tree.hidden)
        for k, word in enumerate(group):
            if word != end:
                tokens[*leaf, k] = word
                hidden[*leaf, k] = node.child_hidden[:, k]
        made.append(PlainTree(tokens, hidden, tree.opened | {leaf}, tree.score + score))
    return made
