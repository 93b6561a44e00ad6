"""Finished trees of a tree beam: their derivations, and the best of each row."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from espalier.decoding.tree_leaves import NONE, Leaves, Nodes_, State_
from espalier.syntax.ternary import EOB, Nodes

Stop = Literal["sure", "paper"]
Cut = Literal["", "depth", "words", "rounds"]


@dataclass(frozen=True, eq=False)
class TreeHypothesis:
    """A finished tree.

    Attributes:
        tokens: a token for each node, the nodes by level and from left to right within each.
        children: (n, K), as in `syntax.ternary`.
        log_probability: log-probability of all choices made, in nats; leaves that a cap left open do not count.
        score: ranking score: the log-probability with the length penalty.
        cut: the cap that stopped it; "" for a complete tree.
    """

    tokens: list[int]
    children: Nodes
    log_probability: float
    score: float
    cut: Cut


class FinishedTrees:
    """The trees that have ended.

    A tree is identified by its last expansion. An expansion adds one group of children to the tree of the expansion
    before it, so the chain of expansions back to the root gives the tree.

    Args:
        max_words, power: length penalty; a tree of n words is ranked by its log-probability divided by
            min(n + 1, max_words)**power. `max_words` is also the cap of `tree_beam`.
    """

    def __init__(self, beam: int, roots: Tensor, max_words: int, power: float) -> None:
        self._beam, self._max_words, self._power = beam, max_words, power
        self._best = roots.new_full((len(roots), beam), -torch.inf)  # scores of each row's best
        self._before: list[Tensor] = []
        self._codes: list[Tensor] = []
        self._size = 0
        self._ended: list[tuple[list[int], list[float], list[int], list[int]]] = []

    def expand(self, before: Tensor, codes: Tensor) -> Tensor:
        """Number the expansions that add the groups `codes` to the trees of the expansions `before`, both of one shape.

        A root is also an expansion, with `before` `NONE` and the code of any group of the root.
        """
        self._before.append(before.flatten())
        self._codes.append(codes.flatten())
        self._size += codes.numel()
        return torch.arange(self._size - codes.numel(), self._size, device=codes.device).view(codes.shape)

    def add(self, rows: Tensor, scores: Tensor, words: Tensor, expansions: Tensor) -> None:
        """Add the trees of the given expansions, (rows, n), except those with score -inf.

        Args:
            rows: (rows,) indices in the batch.
            scores: (rows, n) log-probabilities.
            words: (rows, n) the number of words of each tree.
        """
        row, place = (scores > -torch.inf).nonzero(as_tuple=True)
        totals, counts, last = (part[row, place].tolist() for part in (scores, words, expansions))
        self._ended.append((rows[row].tolist(), totals, counts, last))
        if self._power:
            scores = scores / (words + 1).clamp(max=self._max_words) ** self._power
        self._best[rows] = torch.cat([self._best[rows], scores], dim=1).topk(self._beam, dim=1).values

    def prune(self, rows: Tensor, scores: Tensor, stop: Stop) -> Tensor:
        """Scores of open trees, (rows, n), set to -inf for those that `stop` excludes from expansion.

        Log-probabilities only decrease. A tree that, even at the largest length, scores no better than the worst of the
        row's best trees never becomes one of them.
        """
        bar = self._best[rows, -1:]
        bound = scores / self._max_words**self._power if self._power else scores
        return scores.masked_fill(bound <= bar if stop == "sure" else bar > -torch.inf, -torch.inf)

    def trees(self, leaves: Leaves[State_, Nodes_]) -> list[list[TreeHypothesis]]:
        """The best trees of each row, the best first."""
        rows: list[list[tuple[float, float, int]]] = [[] for _ in self._best]
        for ended in self._ended:
            for row, total, words, expansion in zip(*ended, strict=True):
                score = total / min(words + 1, self._max_words) ** self._power
                rows[row].append((score, total, expansion))
        before, codes = (torch.cat(parts).cpu().numpy() for parts in (self._before, self._codes))
        parts = (leaves.opened.token, leaves.opened.groups, leaves.opened.below)
        token, groups, below = (part.cpu().numpy() for part in parts)

        def tree(score: float, total: float, expansion: int) -> TreeHypothesis:
            chosen: dict[int, int] = {}  # the code of each leaf's group
            while before[expansion] != NONE:
                chosen[int(codes[expansion]) // leaves.local] = int(codes[expansion])
                expansion = int(before[expansion])
            root = int(codes[expansion]) // leaves.local
            tokens, nodes, children = [int(token[root])], [(root, 1)], []
            unopened, deep = False, False
            for leaf, level in nodes:  # children are appended while the list is read
                children.append([EOB] * groups.shape[2])
                if leaf not in chosen:
                    deep = deep or level == leaves.depth
                    unopened = unopened or level < leaves.depth
                    continue
                at = divmod(chosen[leaf], leaves.local)
                for slot, (word, number) in enumerate(zip(groups[at].tolist(), below[at].tolist(), strict=True)):
                    if word != leaves.end:
                        children[-1][slot] = len(tokens)
                        tokens.append(word)
                        nodes.append((number, level + 1))
            stopped: Cut = "words" if len(tokens) >= self._max_words else "rounds"
            cut: Cut = stopped if unopened else "depth" if deep else ""
            return TreeHypothesis(tokens, np.array(children, np.int32), total, score, cut)

        return [[tree(*each) for each in sorted(row, key=lambda each: -each[0])[: self._beam]] for row in rows]
