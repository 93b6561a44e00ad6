"""Encoded dialogues in memory, and their batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from espalier.datasets.batch import Batch, tensors
from espalier.datasets.part import Part, Places, Unit
from espalier.datasets.ragged import IntArray, Ragged, RaggedSplit
from espalier.datasets.vocabulary import BOS, EOS, PAD, SEP, WordVocabulary
from espalier.io.errors import ConfigError

if TYPE_CHECKING:
    import torch
    from torch import Tensor

#: Left, middle and right child (X2Tree, algorithm 1).
ARITY = 3
#: In a linearized tree, a missing child.
MISSING = SEP


@dataclass(frozen=True, slots=True)
class DialogueView:
    """How a model reads a response.

    Attributes:
        shape: "chain": words from left to right; "tree": nodes level by level; "linear": the tree in pre-order, where
            each node has K children, words or `MISSING`: 3 n + 1 symbols for n words if K = 3.
        arity: K, the number of children of a node: the arity of the data, or 1, where each word is the child of the
            word before.
    """

    shape: Literal["chain", "tree", "linear"]
    arity: int = ARITY


@dataclass(frozen=True)
class DialogueBatch(Batch):
    """A batch of dialogues.

    The nodes of all trees form one row sorted by level, so that a model computes a level at once.

    Attributes:
        source: (batch, source words), right-padded with `PAD`.
        inputs: (batch, time) BOS, then the target shifted by one.
        target: (batch, time) the response, or its linearized tree, and EOS, right-padded with `PAD`; for models of
            trees also the response.
        tokens: (nodes,) the words of the trees, roots first in the order of the batch; empty for models of chains.
        below: (nodes, K) words of the children, EOS for none.
        owner: (nodes,) batch row of each node.
        place: (nodes,) index of the node among all children of the level above: K x (index of its parent in that level)
            + (its slot); for a root, its row.
        widths: (levels,) number of nodes of each level; it stays on the host, where the levels are counted.
    """

    source: Tensor
    inputs: Tensor
    target: Tensor
    tokens: Tensor
    below: Tensor
    owner: Tensor
    place: Tensor
    widths: Tensor

    def to(self, device: torch.device | str) -> Self:
        """The same batch on another device."""
        moved = super().to(device)
        vars(moved)["widths"] = self.widths
        return moved

    def part(self, rows: slice) -> tuple[Self, Part]:
        """Consecutive rows with their trees, and their places in the batch."""
        owner, place, widths = (part.numpy() for part in (self.owner, self.place, self.widths))
        mine, level = (owner >= rows.start) & (owner < rows.stop), np.repeat(np.arange(len(widths)), widths)
        nodes, arity = np.flatnonzero(mine), self.below.shape[1]
        # The number of nodes of this part before each node, and before each level.
        before = np.cumsum(mine) - mine
        starts = np.cumsum(widths) - widths
        above = starts[np.maximum(level - 1, 0)]
        parent = np.where(level == 0, 0, above + place // arity)
        own = {
            "tokens": self.tokens.numpy()[nodes],
            "below": self.below.numpy()[nodes],
            "owner": owner[nodes] - rows.start,
            "place": np.where(level == 0, owner - rows.start, (before[parent] - before[above]) * arity + place % arity)[
                nodes
            ],
            "widths": np.bincount(level[nodes]),
        }
        texts = {name: getattr(self, name)[rows] for name in ("source", "inputs", "target")}
        places: dict[Unit, Places] = {
            "row": (rows, len(self)),
            "target": self._targets(rows),
            "node": (tensors({"nodes": nodes})["nodes"], len(owner)),
        }
        return type(self)(**texts, **tensors(own)), Part(places)


@dataclass(frozen=True)
class DialogueData(RaggedSplit[WordVocabulary]):
    """A split of encoded dialogues.

    The columns are the words of both sides and the tree of the response. The tree has nodes sorted by level, the root
    first: `order` is the index of a node's word in the response, and `children` holds the indices of its children, -1
    for none.

    Attributes:
        arity: K, the number of children of a node.
    """

    COLUMNS: ClassVar[tuple[str, ...]] = ("source", "target", "order", "children")

    arity: int = ARITY

    @classmethod
    def of(
        cls, ids: Sequence[str], columns: dict[str, list[npt.ArrayLike]], vocabulary: WordVocabulary, arity: int = ARITY
    ) -> Self:
        """Build a split from a list of arrays for each column."""
        return cls(list(ids), {name: Ragged.of(columns[name]) for name in cls.COLUMNS}, vocabulary, arity)

    def sizes(self, view: DialogueView) -> IntArray:
        """(examples,) size of each example in a batch's budget: the number of words of both sides, and EOS.

        Sizes do not depend on the view, so all models of a dataset train on the same batches in the same order.
        """
        return self.columns["source"].lengths + self.columns["target"].lengths + 1

    def longest(self, view: DialogueView) -> int:
        """The length of the longest row that a model reads or writes, including EOS."""
        source, target = (int(self.columns[side].lengths.max(initial=0)) for side in ("source", "target"))
        return max(source, self.arity * target + 1 if view.shape == "linear" else target) + 1

    def batch(
        self, indices: IntArray, view: DialogueView, rng: np.random.Generator | None = None, *, grain: int = 1
    ) -> DialogueBatch:
        """Collate the rows `indices` for a model with this view. `rng` is not used."""
        source = self.columns["source"].padded(indices, PAD, grain)
        written = self._linear(indices) if view.shape == "linear" else self.columns["target"].select(indices)
        words, lengths = written.padded(np.arange(len(indices)), PAD), written.lengths
        words = np.pad(words, ((0, 0), (0, -(words.shape[1] + 1) % grain + 1)), constant_values=PAD)
        target, inputs = words.copy(), np.roll(words, 1, axis=1)
        target[np.arange(len(indices)), lengths], inputs[:, 0] = EOS, BOS
        rows = {"source": source, "inputs": inputs, "target": target}
        rows |= self._levels(indices, view) if view.shape == "tree" else _no_levels(view.arity)
        return DialogueBatch(**tensors(rows))

    def _linear(self, indices: IntArray) -> Ragged:
        """The trees of these responses in pre-order."""
        forest, target, k = self._forest(indices, self.arity), self.columns["target"].select(indices), self.arity
        # A subtree of w words has k w + 1 symbols.
        words, above = np.ones(len(target.flat), dtype=np.int64), forest.parent
        levels = [np.flatnonzero(forest.level == level) for level in range(int(forest.level.max(initial=-1)) + 1)]
        for nodes in reversed(levels[1:]):
            np.add.at(words, above[nodes], words[nodes])
        below = np.zeros((len(words), k), dtype=np.int64)
        child = np.flatnonzero(above >= 0)
        below[above[child], forest.slot[child]] = words[child]
        before = np.cumsum(k * below + 1, axis=1) - (k * below + 1)  # the symbols of earlier siblings
        place = np.zeros(len(words), dtype=np.int64)
        for nodes in levels[1:]:
            place[nodes] = place[above[nodes]] + 1 + before[above[nodes], forest.slot[nodes]]
        offsets = k * target.offsets + np.arange(len(target.offsets))
        flat = np.full(offsets[-1], MISSING, dtype=np.int32)
        flat[np.repeat(offsets[:-1], target.lengths) + place] = forest.tokens
        return Ragged(flat, offsets)

    def _levels(self, indices: IntArray, view: DialogueView) -> dict[str, IntArray]:
        """The nodes of the trees `indices`, sorted by level, and within a level by the order of the batch."""
        forest, counts = self._forest(indices, view.arity), self.columns["target"].lengths_at(indices)
        owner = np.repeat(np.arange(len(indices)), counts)
        by_level = np.argsort(forest.level, kind="stable")
        widths = np.bincount(forest.level)
        # Each node's index within its level, for the places of its children.
        index_in_level = np.empty(len(owner), dtype=np.int64)
        index_in_level[by_level] = np.arange(len(owner)) - np.repeat(np.cumsum(widths) - widths, widths)
        above = index_in_level[np.maximum(forest.parent, 0)]
        place = np.where(forest.parent < 0, owner, above * view.arity + forest.slot)
        rows = {"tokens": forest.tokens, "below": forest.below, "owner": owner, "place": place}
        return {**{name: row[by_level] for name, row in rows.items()}, "widths": widths}

    def _forest(self, indices: IntArray, arity: int) -> _Forest:
        """The nodes of the trees `indices`, one tree after another."""
        target = self.columns["target"].select(indices)
        total = len(target.flat)
        first = np.repeat(target.offsets[:-1], target.lengths)  # of each node's tree
        if arity == self.arity:
            tokens = target.flat[first + self.columns["order"].select(indices).flat].astype(np.int64)
            local = self.columns["children"].select(indices).flat.reshape(total, arity).astype(np.int64)
            children = np.where(local < 0, -1, local + first[:, None])
        elif arity == 1:
            tokens = target.flat.astype(np.int64)
            after = np.arange(1, total + 1)
            last = np.isin(after, target.offsets[1:])
            children = np.where(last, -1, after)[:, None]
        else:
            raise ConfigError(
                f"trees of {self.arity} children a node cannot be read with {arity}",
                where="network.arity",
                remedy=f"{self.arity}, or 1 for chains",
            )
        node, slot = np.nonzero(children >= 0)
        parent, slots = np.full(total, -1), np.zeros(total, dtype=np.int64)
        parent[children[node, slot]], slots[children[node, slot]] = node, slot
        level, above = np.zeros(total, dtype=np.int64), parent
        while (above >= 0).any():
            level += above >= 0
            above = np.where(above >= 0, parent[above], -1)
        below = np.where(children >= 0, np.append(tokens, EOS)[children], EOS)
        return _Forest(tokens, below, parent, slots, level)


@dataclass(frozen=True)
class _Forest:
    """The nodes of trees.

    Attributes:
        tokens: (nodes,) words.
        below: (nodes, K) the words of the children, EOS for none.
        parent: (nodes,) the parent, -1 for a root.
        slot: (nodes,) index of a node among the children of its parent.
        level: (nodes,) level, from 0 for roots.
    """

    tokens: IntArray
    below: IntArray
    parent: IntArray
    slot: IntArray
    level: IntArray


def _no_levels(arity: int) -> dict[str, IntArray]:
    none = np.zeros(0, dtype=np.int64)
    return {
        "tokens": none, "below": np.zeros((0, arity), dtype=np.int64), "owner": none, "place": none, "widths": none,
    }  # fmt: skip
