"""Constraints: masks of the allowed next tokens, with a state that is advanced and reordered like a model's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor


class Constraint(Protocol):
    """A rule for the next token of every prefix."""

    def start(self, batch: Any) -> Any:
        """The state before the first token."""
        ...

    def mask(self, state: Any) -> Tensor:
        """(batch, vocabulary) bool: True for tokens that are allowed next; at least one in each row."""
        ...

    def advance(self, tokens: Tensor, state: Any) -> Any:
        """The state after `tokens`, (batch,)."""
        ...


@dataclass(frozen=True)
class All:
    """The conjunction of several constraints. One that would leave no token in a row is ignored in that row."""

    parts: Sequence[Constraint]

    def start(self, batch: Any) -> AllState:
        """One state for each part."""
        return AllState([part.start(batch) for part in self.parts])

    def mask(self, state: AllState) -> Tensor:
        """The tokens that every part allows."""
        masks = [part.mask(inner) for part, inner in zip(self.parts, state.parts, strict=True)]
        joint = masks[0]
        for mask in masks[1:]:
            both = joint & mask
            joint = torch.where(both.any(1, keepdim=True), both, joint)
        return joint

    def advance(self, tokens: Tensor, state: AllState) -> AllState:
        """Advance every part."""
        return AllState([part.advance(tokens, inner) for part, inner in zip(self.parts, state.parts, strict=True)])


@dataclass
class AllState:
    """The states of the parts."""

    parts: list[Any]

    def select(self, index: Tensor) -> AllState:
        """The rows `index` of each."""
        return AllState([part.select(index) for part in self.parts])


@dataclass(frozen=True)
class Never:
    """Tokens that are never allowed."""

    tokens: Tensor
    size: int

    def start(self, batch: Any) -> NeverState:
        """One mask for all rows."""
        allowed = torch.ones(self.size, dtype=torch.bool, device=batch.device)
        allowed[self.tokens.to(batch.device)] = False
        return NeverState(allowed.expand(len(batch), -1))

    def mask(self, state: NeverState) -> Tensor:
        """All but the tokens."""
        return state.allowed

    def advance(self, tokens: Tensor, state: NeverState) -> NeverState:
        """Nothing changes."""
        return state


@dataclass
class NeverState:
    """A view of one mask, (batch, vocabulary)."""

    allowed: Tensor

    def select(self, index: Tensor) -> NeverState:
        """As many rows as `index` has."""
        return NeverState(self.allowed[:1].expand(len(index), -1))
