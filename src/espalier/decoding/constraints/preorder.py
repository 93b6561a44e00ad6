"""The constraint of trees that are written as chains, each node before its children (X2Tree's linearized baseline)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass
class PreorderState:
    """A batch of prefixes.

    Attributes:
        slots: (batch,) the children that are still to be written; 1 before the root.
        words: (batch,) the nodes so far.
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
        size: the number of tokens.
        missing: the token of a child that is not there.
        never: further tokens that no tree has.
    """

    size: int
    arity: int
    missing: int
    end: int
    never: Sequence[int]
    min_words: int
    max_words: int

    def start(self, batch: Any) -> PreorderState:
        """The state before the root."""
        slots = torch.ones(len(batch), dtype=torch.long, device=batch.device)
        return PreorderState(slots, torch.zeros_like(slots))

    def mask(self, state: PreorderState) -> Tensor:
        """A word or `missing` while a child is to be written, then the end mark."""
        goes_on = state.slots > 0
        mask = (goes_on & (state.words < self.max_words))[:, None].repeat(1, self.size)
        mask[:, list(self.never)] = False
        mask[:, self.missing] = goes_on & ((state.slots > 1) | (state.words >= self.min_words))
        mask[:, self.end] = ~goes_on
        return mask

    def advance(self, tokens: Tensor, state: PreorderState) -> PreorderState:
        """A word takes a slot and opens `arity`; `missing` takes one."""
        word = (tokens != self.missing) & (tokens != self.end)
        taken = (tokens != self.end).long()
        return PreorderState(state.slots - taken + self.arity * word, state.words + word)
