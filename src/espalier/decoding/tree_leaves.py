"""The best groups of children of each leaf opened by a tree beam (local beam of algorithm 2, X2Tree)."""

from collections.abc import Sequence
from typing import Final, Generic, NamedTuple, Never, TypeVar

import torch
from torch import Tensor

from espalier.datasets.encoding import Vocabulary
from espalier.decoding.beam import best_sums
from espalier.models.contract import State, TreeModel, TreeNodes

State_ = TypeVar("State_", bound=State)
Nodes_ = TypeVar("Nodes_", bound=TreeNodes)

#: No leaf: padding of rows, and children that are not opened.
NONE: Final = -1
#: Leaves are opened in slices of this many log-probabilities (local beam x vocabulary for each leaf). On a CPU they fit
#: into the caches.
CELLS = {"cpu": 1 << 21, "gpu": 1 << 26}


class Opened(NamedTuple):
    """n opened leaves: words whose best groups of children are known.

    Attributes:
        token: (n,).
        source: (n,) row of the batch.
        level: (n,) level, from 1 for roots.
        child_hidden: (n, K, width) the hidden state of each child, as `TreeNodes.child_hidden`.
        groups: (n, L, K) tokens of its L best groups of children, the best first.
        scores: (n, L) the log-probabilities of these groups, given the leaf.
        words: (n, L) number of words in each group.
        openable: (n, L) number of these words that can be opened: all, or none at the deepest level.
        keys: (n, L) random 63-bit numbers. Their sum over the groups of a tree identifies the tree, whatever the order
            of expansions (Zobrist 1970).
        below: (n, L, K) the leaves of the children in each group; `NONE` for children that cannot be opened or are not
            yet in a tree of the beam.
    """

    token: Tensor
    source: Tensor
    level: Tensor
    child_hidden: Tensor
    groups: Tensor
    scores: Tensor
    words: Tensor
    openable: Tensor
    keys: Tensor
    below: Tensor


class Leaves(Generic[State_, Nodes_]):
    """The opened leaves of all trees of all sources. Each leaf is searched once.

    A word's children depend only on its ancestors (assumption 1 of the paper), not on its siblings or on other parts
    of its tree. All trees with the same ancestors therefore share a leaf. A group has the code leaf * L + rank.

    Args:
        state: state of the model, one row per source.
        never: tokens that cannot be children.
        depth: the deepest level; its words are not opened.
        vocabulary: number of tokens.
    """

    opened: Opened

    def __init__(
        self,
        model: TreeModel[Never, Vocabulary, object, State_, Nodes_],
        state: State_,
        *,
        local: int,
        end: int,
        never: Sequence[int],
        depth: int,
        vocabulary: int,
    ) -> None:
        self.local, self.end, self.depth = local, end, depth
        self._model, self._state, self._never = model, state, list(never)
        self._cells = local * vocabulary
        self._tokens = vocabulary - len(set(never))
        self._random = torch.Generator().manual_seed(0)

    def open_roots(self, tokens: Tensor, source: Tensor) -> Tensor:
        """Open roots, (n,) tokens for (n,) rows of the batch, and return their (n,) leaves."""
        self.opened = self._open(tokens, None, source, torch.ones_like(tokens))
        return torch.arange(len(tokens), device=tokens.device)

    def open_children(self, codes: Tensor) -> Tensor:
        """Open the children in the groups `codes`, (n,), unless they are already open.

        Returns:
            (n, K) leaves; `NONE` for end marks and for words at the deepest level.
        """
        opened, leaf, rank = self.opened, codes // self.local, codes % self.local
        tokens = opened.groups[leaf, rank]
        openable = (tokens != self.end) & (opened.level[leaf] < self.depth - 1)[:, None]
        group, slot = (openable & (opened.below[leaf, rank] == NONE)).nonzero(as_tuple=True)
        # Groups of a leaf with the same word in the same place share the leaf of that word.
        parent, slot, token = torch.stack([leaf[group], slot, tokens[group, slot]]).unique(dim=1)
        if len(parent):
            new = self._open(token, opened.child_hidden[parent, slot], opened.source[parent], opened.level[parent] + 1)
            self.opened = Opened(*(torch.cat(parts) for parts in zip(opened, new, strict=True)))
            group, ranks = (opened.groups[parent, :, slot] == token[:, None]).nonzero(as_tuple=True)
            self.opened.below[parent[group], ranks, slot[group]] = len(opened.token) + group
        return self.opened.below[leaf, rank]

    def _open(self, tokens: Tensor, hidden: Tensor | None, source: Tensor, level: Tensor) -> Opened:
        """Search the groups of n new leaves.

        Args:
            tokens, source, level: (n,) each.
            hidden: (n, width) hidden states; None for roots.
        """
        cells = CELLS["cpu" if tokens.device.type == "cpu" else "gpu"]
        slices = []
        for part in torch.arange(len(tokens), device=tokens.device).split(max(1, cells // self._cells)):
            slice_hidden = None if hidden is None else hidden[part]
            nodes = self._model.nodes(tokens[part], slice_hidden, self._state.select(source[part]))
            slices.append((nodes.child_hidden, *self._groups(nodes, torch.arange(len(part), device=tokens.device))))
        children, groups, scores = (torch.cat(parts) for parts in zip(*slices, strict=True))
        words = (groups != self.end).sum(2)
        openable = words * (level < self.depth - 1)[:, None]
        keys = torch.empty(words.shape, dtype=torch.long).random_(generator=self._random).to(tokens.device)
        below = torch.full_like(groups, NONE)
        return Opened(tokens, source, level, children, groups, scores, words, openable, keys, below)

    def _groups(self, nodes: Nodes_, rows: Tensor) -> tuple[Tensor, Tensor]:
        """A chain beam over the children of each node: (n, L, K) tokens and (n, L) scores.

        V tokens form V^k groups of k children, so the beam may be narrower than L for the first children.
        """
        groups, scores = rows.new_empty(len(rows), 1, 0), torch.zeros(len(rows), 1, device=rows.device)
        never = torch.tensor(self._never, dtype=torch.long, device=rows.device)
        prefixes = nodes  # a row for each node and each of its groups so far
        for k in range(self._model.arity):
            beams = groups.shape[1]
            if len(rows) * beams != len(prefixes.child_hidden):
                prefixes = nodes.select(rows.repeat_interleave(beams))
            logs = self._model.child(k, prefixes, groups.flatten(0, 1))
            logs.index_fill_(1, never, -torch.inf)  # a copy would take a sixth of the search
            scores, beam, token = best_sums(scores, logs, min(self.local, beams * self._tokens))
            groups = torch.cat([groups.gather(1, beam[..., None].expand(-1, -1, k)), token[..., None]], dim=2)
        return groups, scores
