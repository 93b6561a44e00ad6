"""The leaves that a tree beam opens, and the best groups of children of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from espalier.decoding.beam import CHUNK, best_sums
from espalier.models.contract import TreeModel

#: The leaf that is none.
NONE: Final = -1
#: Leaves are opened in slices of so many log-probabilities, local beam x vocabulary for each: a CPU's fit its caches.
CELLS = {"cpu": 1 << 21, "gpu": 1 << 26}


class Opened(NamedTuple):
    """What is known of n leaves, each a word whose children are to be chosen.

    Attributes:
        token: (n,).
        source: (n,) its row of the batch.
        level: (n,) 1 for roots.
        handed: (n, K, width) the hidden states handed down to its children.
        groups: (n, L, K) the tokens of its L best groups of children, the best first.
        scores: (n, L) the log-probabilities of these groups, given the leaf.
        words: (n, L) how many children of each group are words.
        buds: (n, L) how many of these may be opened in their turn: all, or none at the deepest level.
        keys: (n, L) random 63 bits. Their sum over a tree's groups tells it from others, whichever grew first
            (Zobrist 1970).
        below: (n, L, K) the leaves that the children in these groups are; `NONE` for what is no bud, and as long as
            no tree has grown it.
    """

    token: Tensor
    source: Tensor
    level: Tensor
    handed: Tensor
    groups: Tensor
    scores: Tensor
    words: Tensor
    buds: Tensor
    keys: Tensor
    below: Tensor


class Leaves:
    """All leaves that any tree of any source opens, each searched once.

    A word's children depend on its ancestors alone (assumption 1 of the paper), not on its siblings or on what else its
    tree has grown: so all trees that have it in its place share it, for as long as the search lasts. A group is named
    by its code, leaf * L + rank.

    Args:
        state: of the model, a row for each source.
        never: tokens that are no children.
        depth: the level whose words are not opened.
        vocabulary: how many tokens there are.
    """

    opened: Opened

    def __init__(
        self, model: TreeModel, state: Any, *, local: int, end: int, never: Sequence[int], depth: int, vocabulary: int
    ) -> None:
        self.local, self.end, self.depth = local, end, depth
        self._model, self._state, self._never = model, state, list(never)
        self._cells = local * vocabulary
        self._tokens = vocabulary - len(set(never))
        self._random = torch.Generator().manual_seed(0)

    def plant(self, tokens: Tensor, source: Tensor) -> Tensor:
        """Open roots, (n,) tokens for (n,) rows of the batch; their numbers."""
        self.opened = self._open(tokens, None, source, torch.ones_like(tokens))
        return torch.arange(len(tokens), device=tokens.device)

    def grow(self, codes: Tensor) -> Tensor:
        """Open the children that these groups, (n,), hold, but for those that are open already.

        Returns:
            (n, K) leaves; `NONE` for end marks and for words too deep to be opened.
        """
        opened, leaf, rank = self.opened, codes // self.local, codes % self.local
        tokens = opened.groups[leaf, rank]
        buds = (tokens != self.end) & (opened.level[leaf] < self.depth - 1)[:, None]
        which, slot = (buds & (opened.below[leaf, rank] == NONE)).nonzero(as_tuple=True)
        # Two groups of a leaf that hold the same word in the same place hold the same leaf.
        parent, slot, token = torch.stack([leaf[which], slot, tokens[which, slot]]).unique(dim=1)
        if len(parent):
            made = self._open(token, opened.handed[parent, slot], opened.source[parent], opened.level[parent] + 1)
            self.opened = Opened(*(torch.cat(parts) for parts in zip(opened, made, strict=True)))
            which, holds = (opened.groups[parent, :, slot] == token[:, None]).nonzero(as_tuple=True)
            self.opened.below[parent[which], holds, slot[which]] = len(opened.token) + which
        return self.opened.below[leaf, rank]

    def _open(self, tokens: Tensor, handed: Tensor | None, source: Tensor, level: Tensor) -> Opened:
        """Search the groups of n new leaves; (n,) each, but (n, width) handed to them."""
        most = CELLS["cpu" if tokens.device.type == "cpu" else "gpu"]
        found = []
        for part in torch.arange(len(tokens), device=tokens.device).split(max(1, most // self._cells)):
            given = None if handed is None else handed[part]
            nodes = self._model.nodes(tokens[part], given, self._state.select(source[part]))
            found.append((nodes.handed, *self._groups(nodes, torch.arange(len(part), device=tokens.device))))
        handed_down, groups, scores = (torch.cat(parts) for parts in zip(*found, strict=True))
        words = (groups != self.end).sum(2)
        buds = words * (level < self.depth - 1)[:, None]
        keys = torch.empty(words.shape, dtype=torch.long).random_(generator=self._random).to(tokens.device)
        below = torch.full_like(groups, NONE)
        return Opened(tokens, source, level, handed_down, groups, scores, words, buds, keys, below)

    def _groups(self, nodes: Any, rows: Tensor) -> tuple[Tensor, Tensor]:
        """A chain beam over the children of each node: (n, L, K) tokens and (n, L) scores.

        V tokens make V^k groups of k children, so that the beam may be narrower than L for the first children.
        """
        groups, scores = rows.new_empty(len(rows), 1, 0), torch.zeros(len(rows), 1, device=rows.device)
        never = torch.tensor(self._never, dtype=torch.long, device=rows.device)
        prefixes = nodes  # a row for each node and each of its groups so far
        for k in range(self._model.arity):
            beams = groups.shape[1]
            if len(rows) * beams != len(prefixes.handed):
                prefixes = nodes.select(rows.repeat_interleave(beams))
            logs = self._model.child(k, prefixes, groups.flatten(0, 1))
            # One copy serves both `never` and the whole chunks that `best_sums` wants.
            whole = F.pad(logs, (0, -logs.shape[1] % CHUNK), value=-torch.inf).index_fill_(1, never, -torch.inf)
            scores, beam, token = best_sums(scores, whole, min(self.local, beams * self._tokens))
            token = token.clamp(max=logs.shape[1] - 1)
            groups = torch.cat([groups.gather(1, beam[..., None].expand(-1, -1, k)), token[..., None]], dim=2)
        return groups, scores
