"""What training, decoding and scoring require of a model, and nothing more.

A model is a `torch.nn.Module`, built from its settings and a vocabulary. It satisfies `ChainModel` or `TreeModel`;
`check_model` verifies that it has every member.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeVar

from torch import Tensor, nn

from espalier.io.errors import ConfigError

Self_ = TypeVar("Self_", bound="State")


class State(Protocol):
    """A model's or a constraint's memory of a batch of prefixes."""

    def select(self: Self_, index: Tensor) -> Self_:
        """The rows `index` (int64) of the batch, in that order; rows may repeat or be left out."""
        ...


class Loss(NamedTuple):
    """A sum over targets, and their number, so that the mean does not depend on how examples are batched."""

    total: Tensor
    targets: Tensor


class NetworkSettings(Protocol):
    """A pydantic model: `network` of an entry of `models` in params.yaml."""

    @property
    def width(self) -> int:
        """The width of hidden states; Noam's schedule scales the learning rate by it."""
        ...

    @property
    def positions(self) -> int:
        """The longest row, in ids, that the model reads or writes."""
        ...

    @property
    def view(self) -> Any:
        """What the model reads of an example, as an argument of its data's `batch`."""
        ...

    def model_dump(self, *, mode: str) -> dict[str, Any]:
        """The settings as JSON values, which are saved beside the weights."""
        ...


class Model(Protocol):
    """What training requires of every model."""

    @property
    def config(self) -> NetworkSettings:
        """The settings that it was built from."""
        ...

    @property
    def vocabulary(self) -> Any:
        """The vocabulary that it was built for."""
        ...

    def forward(self, batch: Any, smoothing: float = 0.0) -> Loss:
        """`loss`, under the name that wrappers (autocast, data parallelism) call."""
        ...

    def loss(self, batch: Any, smoothing: float = 0.0) -> Loss:
        """Summed negative log-likelihood in nats over the batch's targets, with label smoothing."""
        ...


class ChainModel(Model, Protocol):
    """A model that writes a sequence from left to right. Its batches have a length and a `device`."""

    def token_losses(self, batch: Any) -> Tensor:
        """(batch, time) nats of each target, 0 at padding."""
        ...

    def start(self, batch: Any) -> Any:
        """The state before the first token."""
        ...

    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Read one token of each prefix, (batch,); return log-probabilities of the next, (batch, vocabulary), and the
        new state.

        The old state must not be used again: its caches may be written to. `select` copies.
        """
        ...


class TreeNodes(State, Protocol):
    """Nodes whose children are to be chosen.

    Attributes:
        child_hidden: (nodes, K, width) the hidden state that each child of each node receives.
    """

    child_hidden: Tensor


class TreeModel(Model, Protocol):
    """A model that writes a K-ary tree from the root down: each node's K children at once, given its ancestors.

    Attributes:
        arity: K.
    """

    arity: int

    def tree_losses(self, batch: Any) -> Tensor:
        """(batch,) nats of each tree."""
        ...

    def start(self, batch: Any) -> Any:
        """The encoded sources, a row for each; `select` repeats or leaves out rows."""
        ...

    def roots(self, state: Any) -> Tensor:
        """(sources, vocabulary) log-probabilities of the root."""
        ...

    def nodes(self, tokens: Tensor, hidden: Tensor | None, state: Any) -> Any:
        """Nodes of these `tokens`, (nodes,), as `TreeNodes`.

        Args:
            hidden: (nodes, width) from their parents' `TreeNodes.child_hidden`; None for roots.
            state: a row for each node.
        """
        ...

    def child(self, k: int, nodes: Any, earlier: Tensor) -> Tensor:
        """(nodes, vocabulary) log-probabilities of child k, from 0, given the children before it, (nodes, k)."""
        ...


def check_model(model: nn.Module, architecture: str) -> None:
    """Verify that a model has every member of `ChainModel`, or, if it has any member of `TreeModel` alone, of that.

    Args:
        architecture: its key in `ARCHITECTURES`.

    Raises:
        ConfigError: a member is missing.
    """
    chain, tree = _members(ChainModel), _members(TreeModel)
    form = "tree" if any(_has(model, name) for name in tree if name not in chain) else "chain"
    names = {name: _has(model, name) for name in (tree if form == "tree" else chain)}
    names |= {f"config.{name}": _has(model.config, name) for name in _members(NetworkSettings) if names["config"]}
    for name, present in names.items():
        if not present:
            raise ConfigError(
                f"its model, {type(model).__name__}, has no {name}, which every {form} model needs",
                where=f"architecture {architecture}",
                remedy="see espalier/models/contract.py",
            )


def _members(protocol: type) -> list[str]:
    """The attributes and methods that a protocol and its bases declare."""
    declared = [vars(base).get("__annotations__", {}) | vars(base) for base in reversed(protocol.__mro__)]
    return [name for members in declared for name in members if not name.startswith("_")]


def _has(value: Any, name: str) -> bool:
    # Every module has a `forward`; torch's own raises NotImplementedError.
    return hasattr(value, name) and getattr(type(value), name, None) is not nn.Module.forward
