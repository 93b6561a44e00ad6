"""Trees that a tree beam has grown: how each came about, and which are a row's best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from espalier.decoding.tree_leaves import NONE, Leaves
from espalier.syntax.ternary import EOB, Nodes

Stop = Literal["sure", "paper"]
Cut = Literal["", "depth", "words", "rounds"]


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A tree that a search found.

    Attributes:
        tokens: a token for each node, the nodes by level and from left to right within each.
        children: (n, K), as in `syntax.ternary`.
        log_probability: of all that was chosen, in nats; what a cap left open is not counted.
        cut: the cap that stopped it; "" for a tree that ended of itself.
    """

    tokens: list[int]
    children: Nodes
    log_probability: float
    cut: Cut


class Harvest:
    """The trees that have ended. A tree is known by its last move, which added a group to what the move before made."""

    def __init__(self, beam: int, roots: Tensor) -> None:
        self._beam = beam
        self._best = roots.new_full((len(roots), beam), -torch.inf)  # scores of each row's best, to compare with
        self._before: list[Tensor] = []
        self._codes: list[Tensor] = []
        self._size = 0
        self._ended: list[tuple[list[int], list[float], list[int]]] = []

    def move(self, before: Tensor, codes: Tensor) -> Tensor:
        """Number the moves that add these groups to what the moves `before` made; all of one shape.

        The first move of a tree comes after none, `NONE`, and names any group of its root.
        """
        self._before.append(before.flatten())
        self._codes.append(codes.flatten())
        self._size += codes.numel()
        return torch.arange(self._size - codes.numel(), self._size, device=codes.device).view(codes.shape)

    def collect(self, rows: Tensor, scores: Tensor, moves: Tensor) -> None:
        """Take in the trees that these moves made, (rows, n); none where a score is -inf.

        Args:
            rows: (rows,) of the batch.
            scores: (rows, n) log-probabilities.
        """
        row, place = (scores > -torch.inf).nonzero(as_tuple=True)
        self._ended.append((rows[row].tolist(), scores[row, place].tolist(), moves[row, place].tolist()))
        self._best[rows] = torch.cat([self._best[rows], scores], dim=1).topk(self._beam, dim=1).values

    def hopeful(self, rows: Tensor, scores: Tensor, stop: Stop) -> Tensor:
        """Scores of open trees, (rows, n), but -inf for those that need not grow: their row is done without them.

        Log-probabilities only fall, so that a tree no better than the last of the row's best will never be among them.
        """
        bar = self._best[rows, -1:]
        return scores.masked_fill(scores <= bar if stop == "sure" else bar > -torch.inf, -torch.inf)

    def trees(self, leaves: Leaves, words: int) -> list[list[GrownTree]]:
        """Each row's best, the best first.

        Args:
            words: the cap.
        """
        rows: list[list[tuple[float, int]]] = [[] for _ in self._best]
        for ended in self._ended:
            for row, score, move in zip(*ended, strict=True):
                rows[row].append((score, move))
        before, codes = (torch.cat(parts).cpu().numpy() for parts in (self._before, self._codes))
        parts = (leaves.opened.token, leaves.opened.groups, leaves.opened.below)
        token, groups, below = (part.cpu().numpy() for part in parts)

        def tree(score: float, move: int) -> GrownTree:
            chosen: dict[int, int] = {}  # the code of the group that each leaf was given
            while before[move] != NONE:
                chosen[int(codes[move]) // leaves.local] = int(codes[move])
                move = int(before[move])
            root = int(codes[move]) // leaves.local
            tokens, nodes, children = [int(token[root])], [(root, 1)], []
            unopened, deep = False, False
            for leaf, level in nodes:  # the list grows as it is read
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
            stopped: Cut = "words" if len(tokens) >= words else "rounds"
            cut: Cut = stopped if unopened else "depth" if deep else ""
            return GrownTree(tokens, np.array(children, np.int32), score, cut)

        return [[tree(*each) for each in sorted(row, key=lambda one: -one[0])[: self._beam]] for row in rows]
