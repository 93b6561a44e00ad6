"""The contract of models: what training, decoding and scoring require.

A model is a `torch.nn.Module`, built from its settings and a vocabulary. It satisfies `ChainModel` or `TreeModel`;
`check_model` verifies its members, and `check_outputs` of `output_check.py` their return values. This module does not
import torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from espalier.io.errors import ConfigError
from espalier.io.registry import fault, first_fault, members

if TYPE_CHECKING:
    from torch import Tensor, nn
    from typing_extensions import TypeIs

    from espalier.datasets.batch import Batch
    from espalier.datasets.encoding import Vocabulary

#: Where an error sends its reader.
REMEDY = "see espalier/models/contract.py"

Self_ = TypeVar("Self_", bound="State")
State_ = TypeVar("State_", bound="State")
Nodes_ = TypeVar("Nodes_", bound="TreeNodes")
View_co = TypeVar("View_co", covariant=True)
Batch_contra = TypeVar("Batch_contra", bound="Batch", contravariant=True)
Vocabulary_co = TypeVar("Vocabulary_co", bound="Vocabulary", covariant=True)


class State(Protocol):
    """A model's or a constraint's memory of a batch of prefixes."""

    def select(self: Self_, index: Tensor) -> Self_:
        """The rows `index` (int64) of the batch, in that order; rows may repeat or be left out."""
        ...


class Loss(NamedTuple):
    """A sum over targets, and their number, so that the mean does not depend on the batching."""

    total: Tensor
    targets: Tensor


def scattered(losses: Tensor, real: Tensor) -> Tensor:
    """(batch, time) losses:

    `losses`, (targets,), in order at the places where `real`, (batch, time), is True; 0 elsewhere.
    """
    return losses.new_zeros(real.shape).masked_scatter(real, losses)


class NetworkSettings(Protocol[View_co]):
    """The settings `network` of a model in params.yaml, as a pydantic model."""

    @property
    def width(self) -> int:
        """The width of hidden states, by which Noam's schedule scales the learning rate."""
        ...

    @property
    def positions(self) -> int:
        """The length, in ids, of the longest row that the model reads or writes."""
        ...

    @property
    def view(self) -> View_co:
        """The parts of an example that the model reads, as an argument of its data's `batch`."""
        ...

    def model_dump(self, *, mode: str = "python") -> dict[str, Any]:
        """The settings by name. Those of `mode="json"` are saved beside the weights."""
        ...


class Model(Protocol[Batch_contra, Vocabulary_co, View_co]):
    """What training requires of every model: it reads a batch, which a view makes of ids of a vocabulary."""

    @property
    def config(self) -> NetworkSettings[View_co]:
        """The settings from which the model was built."""
        ...

    @property
    def vocabulary(self) -> Vocabulary_co:
        """The vocabulary for which the model was built."""
        ...

    def forward(self, batch: Batch_contra, smoothing: float = 0.0) -> Loss:
        """Summed negative log-likelihood, in nats, over the targets of a batch, with label smoothing."""
        ...


class ChainModel(Model[Batch_contra, Vocabulary_co, View_co], Protocol[Batch_contra, Vocabulary_co, View_co, State_]):
    """A model that writes a sequence from left to right. Its batches have a length and a `device`."""

    def token_losses(self, batch: Batch_contra) -> Tensor:
        """(batch, time) nats of each target, 0 at padding."""
        ...

    def start(self, batch: Batch_contra) -> State_:
        """The state before the first token."""
        ...

    def step(self, tokens: Tensor, state: State_) -> tuple[Tensor, State_]:
        """Read one token per prefix, (batch,).

        The old state must not be used again, since its caches may be overwritten. `select` copies them.

        Returns:
            Log-probabilities of the next token, (batch, vocabulary), and the new state.
        """
        ...


class TreeNodes(State, Protocol):
    """Nodes whose children are not yet chosen.

    Attributes:
        child_hidden: (nodes, K, width) hidden state passed to each child of each node.
    """

    child_hidden: Tensor


class TreeModel(
    Model[Batch_contra, Vocabulary_co, View_co], Protocol[Batch_contra, Vocabulary_co, View_co, State_, Nodes_]
):
    """A model that writes a K-ary tree from the root down: the K children of a node at once, given its ancestors.

    Attributes:
        arity: K.
    """

    arity: int

    def tree_losses(self, batch: Batch_contra) -> Tensor:
        """(batch,) nats of each tree."""
        ...

    def start(self, batch: Batch_contra) -> State_:
        """The encoded sources, one row per source. `select` repeats or drops rows."""
        ...

    def roots(self, state: State_) -> Tensor:
        """(sources, vocabulary) log-probabilities of the root."""
        ...

    def nodes(self, tokens: Tensor, hidden: Tensor | None, state: State_) -> Nodes_:
        """Nodes with the given `tokens`, (nodes,), as `TreeNodes`.

        Args:
            hidden: (nodes, width) hidden states, from `TreeNodes.child_hidden` of their parents; None for roots.
            state: encoded sources, one row per node.
        """
        ...

    def child(self, k: int, nodes: Nodes_, earlier: Tensor) -> Tensor:
        """(nodes, vocabulary) log-probabilities of child k, from 0, given the earlier children, (nodes, k).

        The tensor must be new, since the search overwrites the entries of forbidden tokens.
        """
        ...


def check_settings(config: type, architecture: str) -> None:
    """Verify that an architecture's settings type is a pydantic model with the members of `NetworkSettings`.

    Raises:
        ConfigError: it is not a pydantic model, or a member is missing.
    """
    found = first_fault(config, NetworkSettings)
    if found:
        name = getattr(config, "__name__", config)
        raise _lacking(architecture, f"its settings type, {name},", found, "every model needs")


def check_class(model: type, architecture: str) -> None:
    """Verify the methods of a model's class before a model is built.

    Raises:
        ConfigError: a method is missing, or takes other arguments.
    """
    protocol, form = form_of(model)
    for name in members(protocol):
        declared = callable(getattr(protocol, name, None))
        if declared and (found := _fault(model, protocol, name)):
            raise _lacking(architecture, f"its model, {model.__name__},", found, f"every {form} model needs")


def check_model(model: nn.Module, architecture: str) -> None:
    """Verify that a model has every member of `ChainModel`, or of `TreeModel` if it has any that only trees have.

    Args:
        architecture: key of the model in `ARCHITECTURES`.

    Raises:
        ConfigError: a member is missing, or takes other arguments.
    """
    protocol, form = form_of(model)
    found = next((text for name in members(protocol) if (text := _fault(model, protocol, name))), None)
    if found is None:
        missing = (name for name in members(NetworkSettings) if not hasattr(model.config, name))
        found = next((f"has no config.{name}" for name in missing), None)
    if found:
        raise _lacking(architecture, f"its model, {type(model).__name__},", found, f"every {form} model needs")


def is_tree(model: object) -> TypeIs[TreeModel[Any, Any, Any, Any, Any]]:
    """Whether a model follows the tree protocol."""
    return form_of(model)[1] == "tree"


def is_chain(model: object) -> TypeIs[ChainModel[Any, Any, Any, Any]]:
    """Whether a model follows the chain protocol, as all models of the contract do that are no trees."""
    return not is_tree(model)


def form_of(model: object) -> tuple[type, str]:
    """The protocol that a model or its class follows: the tree protocol if it has a member that only trees have."""
    alone = set(members(TreeModel)) - set(members(ChainModel))
    return (TreeModel, "tree") if any(hasattr(model, name) for name in alone) else (ChainModel, "chain")


def _fault(model: object, protocol: type, name: str) -> str | None:
    # Every module has a `forward`; torch's own raises NotImplementedError.
    if getattr(getattr(model, name, None), "__name__", "") == "_forward_unimplemented":
        return "has no forward"
    return fault(model, protocol, name)


def _lacking(architecture: str, whose: str, what: str, why: str) -> ConfigError:
    return ConfigError(f"{whose} {what}, which {why}", where=f"architecture {architecture}", remedy=REMEDY)
