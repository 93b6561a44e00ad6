"""What decoders, training and scoring know of a model, and nothing more."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeVar

from torch import Tensor

Self_ = TypeVar("Self_", bound="State")


class State(Protocol):
    """A model's or a constraint's memory of a batch of prefixes."""

    def select(self: Self_, index: Tensor) -> Self_:
        """The rows `index` (int64) of the batch, in that order; rows may repeat or vanish."""
        ...


class Loss(NamedTuple):
    """A sum over some targets, and how many they are, so that any batching gives the same mean."""

    total: Tensor
    targets: Tensor


class ChainModel(Protocol):
    """A model that writes a sequence from left to right. Its batches have a length and a `device`."""

    def loss(self, batch: Any, smoothing: float = 0.0) -> Loss:
        """Summed negative log-likelihood in nats over the batch's targets."""
        ...

    def token_losses(self, batch: Any) -> Tensor:
        """(batch, time) nats of each target, 0 where there is none."""
        ...

    def start(self, batch: Any) -> Any:
        """The state before the first token."""
        ...

    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Read one token each, (batch,); give log-probabilities of the next, (batch, vocabulary), and the new state.

        The old state is used up: its caches may be written to. `select` gives copies.
        """
        ...


class TreeNodes(State, Protocol):
    """Nodes of trees that are about to have children.

    Attributes:
        handed: (nodes, K, width) the hidden state that each child of each node is handed down.
    """

    handed: Tensor


class TreeModel(Protocol):
    """A model that grows a K-ary tree from the root down: each node's K children at once, given its ancestors.

    Attributes:
        arity: K.
    """

    arity: int

    def loss(self, batch: Any, smoothing: float = 0.0) -> Loss:
        """Summed negative log-likelihood in nats over the batch's roots and children."""
        ...

    def start(self, batch: Any) -> Any:
        """What is known of each source, a row each; `select` gives some of them, or one for each node."""
        ...

    def roots(self, state: Any) -> Tensor:
        """(sources, vocabulary) log-probabilities of the root."""
        ...

    def nodes(self, tokens: Tensor, handed: Tensor | None, state: Any) -> Any:
        """Nodes of these `tokens`, (nodes,), as `TreeNodes`.

        Args:
            handed: (nodes, width) from their parents' `TreeNodes.handed`; None for roots.
            state: a row for each node.
        """
        ...

    def child(self, k: int, nodes: Any, earlier: Tensor) -> Tensor:
        """(nodes, vocabulary) log-probabilities of child k, from 0, given the children before it, (nodes, k)."""
        ...
