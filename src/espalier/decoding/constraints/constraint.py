"""Constraints: masks of allowed next tokens. Their state is advanced and reordered like a model's state."""

from __future__ import annotations

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
        """(batch, vocabulary) mask of allowed next tokens; at least one per row.

        The mask is bool (True: allowed), or float (0 or -inf) to add to log-probabilities, which takes a fifth of the
        time.
        """
        ...

    def advance(self, tokens: Tensor, state: Any) -> Any:
        """The state after `tokens`, (batch,)."""
        ...


def masked(scores: Tensor, mask: Tensor) -> Tensor:
    """Set log-probabilities to -inf where the mask forbids a token."""
    return scores + mask if mask.is_floating_point() else torch.where(mask, scores, -torch.inf)


@dataclass(frozen=True)
class ForbiddenTokens:
    """Tokens that are never allowed."""

    tokens: Tensor
    size: int

    def start(self, batch: Any) -> ForbiddenTokensState:
        """The state: one mask for all rows."""
        bias = torch.zeros(self.size, device=batch.device)
        bias[self.tokens.to(batch.device)] = -torch.inf
        return ForbiddenTokensState(bias.expand(len(batch), -1))

    def mask(self, state: ForbiddenTokensState) -> Tensor:
        """A mask of all tokens except the forbidden ones."""
        return state.bias

    def advance(self, tokens: Tensor, state: ForbiddenTokensState) -> ForbiddenTokensState:
        """Return the state unchanged."""
        return state


@dataclass
class ForbiddenTokensState:
    """One additive mask, expanded to (batch, vocabulary)."""

    bias: Tensor

    def select(self, index: Tensor) -> ForbiddenTokensState:
        """Expand the mask to as many rows as `index` has."""
        return ForbiddenTokensState(self.bias[:1].expand(len(index), -1))
