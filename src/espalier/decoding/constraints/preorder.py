"""The constraint for trees written as chains, each node before its children (X2Tree's linearized baseline)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from espalier.datasets.batch import Batch


@dataclass
class PreorderState:
    """The state of a batch of prefixes.

    Attributes:
        slots: (batch,) number of children still to be written; 1 before the root.
        words: (batch,) number of nodes so far.
    """

    slots: Tensor
    words: Tensor

    def select(self, index: Tensor) -> PreorderState:
        """The rows `index`."""
        return PreorderState(self.slots[index], self.words[index])


@dataclass(frozen=True)
class Preorder:
    """One tree of `min_words` to `max_words` nodes of `arity` children each, then the end mark.

    Attributes:
        size: size of the vocabulary.
        missing: the token for an absent child.
        never: further tokens that are never allowed.
    """

    size: int
    arity: int
    missing: int
    end: int
    never: Sequence[int]
    min_words: int
    max_words: int

    def start(self, batch: Batch) -> PreorderState:
        """The state before the root."""
        slots = torch.ones(len(batch), dtype=torch.long, device=batch.device)
        return PreorderState(slots, torch.zeros_like(slots))

    def mask(self, state: PreorderState) -> Tensor:
        """Allow a word or `missing` while children remain to be written, then only the end mark."""
        goes_on = state.slots > 0
        mask = (goes_on & (state.words < self.max_words))[:, None].repeat(1, self.size)
        mask[:, list(self.never)] = False
        mask[:, self.missing] = goes_on & ((state.slots > 1) | (state.words >= self.min_words))
        mask[:, self.end] = ~goes_on
        return mask

    def advance(self, tokens: Tensor, state: PreorderState) -> PreorderState:
        """Fill one slot. A word also opens `arity` new slots; `missing` opens none."""
        word = (tokens != self.missing) & (tokens != self.end)
        taken = (tokens != self.end).long()
        return PreorderState(state.slots - taken + self.arity * word, state.words + word)
