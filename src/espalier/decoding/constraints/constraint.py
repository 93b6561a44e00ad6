"""Constraints: masks of the allowed next tokens, with a state that is advanced and reordered like a model's."""

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
        """(batch, vocabulary) the tokens that are allowed next; at least one in each row.

        Bool (True: allowed), or added to log-probabilities (0 or -inf), which takes a fifth of the time.
        """
        ...

    def advance(self, tokens: Tensor, state: Any) -> Any:
        """The state after `tokens`, (batch,)."""
        ...


def masked(scores: Tensor, mask: Tensor) -> Tensor:
    """Log-probabilities, -inf where a mask does not allow a token."""
    return scores + mask if mask.is_floating_point() else torch.where(mask, scores, -torch.inf)


@dataclass(frozen=True)
class ForbiddenTokens:
    """Tokens that are never allowed."""

    tokens: Tensor
    size: int

    def start(self, batch: Any) -> ForbiddenTokensState:
        """One mask for all rows."""
        bias = torch.zeros(self.size, device=batch.device)
        bias[self.tokens.to(batch.device)] = -torch.inf
        return ForbiddenTokensState(bias.expand(len(batch), -1))

    def mask(self, state: ForbiddenTokensState) -> Tensor:
        """All but the tokens."""
        return state.bias

    def advance(self, tokens: Tensor, state: ForbiddenTokensState) -> ForbiddenTokensState:
        """Nothing changes."""
        return state


@dataclass
class ForbiddenTokensState:
    """A view of one mask, (batch, vocabulary), which is added."""

    bias: Tensor

    def select(self, index: Tensor) -> ForbiddenTokensState:
        """As many rows as `index` has."""
        return ForbiddenTokensState(self.bias[:1].expand(len(index), -1))
