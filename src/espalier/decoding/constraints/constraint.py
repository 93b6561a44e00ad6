"""Constraints: masks of allowed next tokens. Their state is advanced and reordered like a model's state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, Never, Protocol, Self, TypeVar

import torch
from torch import Tensor

from espalier.datasets.batch import Batch
from espalier.io.errors import ConfigError
from espalier.models.contract import State

Batch_contra = TypeVar("Batch_contra", bound=Batch, contravariant=True)
State_ = TypeVar("State_", bound=State)

#: Where an error sends its reader.
REMEDY = "see Constraint in espalier/decoding/constraints/constraint.py"


class Constraint(Protocol[Batch_contra, State_]):
    """A rule for the next token of every prefix.

    A constraint may wrap another one: it holds its state and narrows its mask.
    """

    def start(self, batch: Batch_contra) -> State_:
        """The state before the first token, one row for each row of `batch`. `select` repeats and drops rows."""

    def mask(self, state: State_) -> Tensor:
        """(prefixes, vocabulary) mask of allowed next tokens, of the shape of the scores of the model's `step`.

        The mask is bool (True: allowed), or float (0 or -inf) to add to log-probabilities, which takes a fifth of the
        time. At least one token is allowed in each row: sampling raises an error if none is, and beam search returns
        fewer sequences or none.
        """

    def advance(self, tokens: Tensor, state: State_) -> State_:
        """The state after `tokens`, (prefixes,).

        Tokens that are not allowed may follow the end of a prefix and, in beam search, a prefix of probability 0.
        """


@dataclass(frozen=True)
class Constrained(Generic[State_]):
    """A batch of prefixes under a constraint."""

    constraint: Constraint[Never, State_]
    state: State_

    def masked(self, scores: Tensor) -> Tensor:
        """Set log-probabilities to -inf where the constraint forbids a token.

        Raises:
            ConfigError: the mask has another shape than the scores.
        """
        mask = self.constraint.mask(self.state)
        if mask.shape != scores.shape:
            raise ConfigError(
                f"its mask has the shape {tuple(mask.shape)}, the model's scores {tuple(scores.shape)}",
                where=f"constraint {type(self.constraint).__name__}",
                remedy=REMEDY,
            )
        return masked(scores, mask)

    def advance(self, tokens: Tensor) -> Self:
        """The prefixes after `tokens`, (batch,)."""
        return replace(self, state=self.constraint.advance(tokens, self.state))

    def select(self, index: Tensor) -> Self:
        """The rows `index`."""
        return replace(self, state=self.state.select(index))


def masked(scores: Tensor, mask: Tensor) -> Tensor:
    """Set log-probabilities to -inf where the mask forbids a token. `scores` may also be an additive mask."""
    return scores + mask if mask.is_floating_point() else torch.where(mask, scores, -torch.inf)


@dataclass(frozen=True)
class ForbiddenTokens:
    """Tokens that are never allowed."""

    tokens: Tensor
    size: int

    def start(self, batch: Batch) -> ForbiddenTokensState:
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
