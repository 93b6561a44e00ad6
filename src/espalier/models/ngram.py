"""An n-gram model of chains with Kneser-Ney smoothing (`kneser_ney.py`), over the chain contract.

The model reads no source; it is a baseline language model of the targets. If batches have structures (SAT), the symbol
s of the predicted token is also given. It is the nearest part of the history, so it is dropped last: with one word of
history, P(w | w_-1 s) backs off to P(w | s), and that to P(w).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Generic, Literal, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from espalier.datasets.batch import Batch
from espalier.datasets.encoding import Vocabulary
from espalier.datasets.vocabulary import BOS, PAD
from espalier.models.contract import Loss
from espalier.models.kneser_ney import IntArray, KneserNey

View_co = TypeVar("View_co", covariant=True)
Vocabulary_ = TypeVar("Vocabulary_", bound=Vocabulary)


@dataclass(frozen=True)
class NGramConfig(Generic[View_co]):
    """Settings of the model.

    Attributes:
        view: view of the batches.
        order: length of the n-grams, not counting the symbol or tree place of the predicted token.
        discounts: 1, or 3 for modified Kneser-Ney smoothing.
    """

    view: View_co
    order: int = 3
    discounts: Literal[1, 3] = 1
    width: int = 1
    positions: int = 2**31


@dataclass
class NGramState:
    """The last tokens and the symbols of a batch of prefixes.

    Attributes:
        history: (prefixes, order - 1) last tokens of each prefix, the latest at the end.
        contexts: (prefixes, time) symbols of all tokens, including future ones; width 0 without structures.
        place: number of tokens read, including `BOS`.
    """

    history: IntArray
    contexts: IntArray
    place: int = 0

    def select(self, index: Tensor) -> Self:
        """The rows `index`, in that order."""
        rows = index.cpu().numpy()
        return replace(self, history=self.history[rows], contexts=self.contexts[rows])


@runtime_checkable
class Structured(Protocol):
    """A batch with structures: for each, (batch, time) symbols of the targets."""

    structures: Mapping[str, Tensor]


@runtime_checkable
class Symbolic(Protocol):
    """A vocabulary with symbols of structures."""

    def symbol_count(self, structure: str) -> int:
        """The number of symbol ids of a structure."""


class NGram(Generic[Vocabulary_, View_co]):
    """An n-gram model fitted to rows of targets."""

    def __init__(self, config: NGramConfig[View_co], vocabulary: Vocabulary_, counts: KneserNey) -> None:
        self.config, self.vocabulary, self.counts = config, vocabulary, counts

    @classmethod
    def fit(cls, config: NGramConfig[View_co], vocabulary: Vocabulary_, batches: Iterable[Batch], size: int) -> Self:
        """Count the n-grams of targets, each preceded by `order` - 1 times `BOS`. One batch is in memory at a time.

        Args:
            batches: batches of targets that end with an end mark and are right-padded with `PAD`, with symbols for the
                structures of the view.
        """
        left = iter(batches)
        first = next(left, None)
        contexts, kinds = (np.zeros((0, 0), np.int64), 1) if first is None else _contexts(first, vocabulary)

        def occurrences() -> Iterator[tuple[IntArray, IntArray]]:
            for batch in [] if first is None else chain([first], left):
                rows = batch.target.cpu().numpy()
                histories = _histories(rows, _contexts(batch, vocabulary)[0], config.order)
                yield histories[rows != PAD], rows[rows != PAD]

        parts = config.order - 1 + bool(contexts.size)
        counts = KneserNey.fit(occurrences(), parts, size, max(size, kinds), config.discounts)
        return cls(config, vocabulary, counts)

    # --- The contract ------------------------------------------------------------------------------------------------

    def start(self, batch: Batch) -> NGramState:
        """The state before the first token; `step` reads `BOS` first."""
        contexts, _ = _contexts(batch, self.vocabulary)
        return NGramState(np.full((len(batch), self.config.order - 1), BOS), contexts)

    def step(self, tokens: Tensor, state: NGramState) -> tuple[Tensor, NGramState]:
        """Read `tokens`, (batch,); return log-probabilities of the next, (batch, ids)."""
        words = np.concatenate([state.history, tokens.cpu().numpy()[:, None]], axis=1)[:, 1:]
        # Tokens after the last symbol get the symbol of the end mark.
        symbols = state.contexts[:, state.place : state.place + 1]
        if state.contexts.shape[1] and not symbols.shape[1]:
            symbols = np.zeros((len(words), 1), np.int64)
        scores = self.counts.log_probabilities(np.concatenate([symbols, words[:, ::-1]], axis=1))
        return scores.to(tokens.device), NGramState(words, state.contexts, state.place + 1)

    def token_losses(self, batch: Batch) -> Tensor:
        """(batch, time) nats of each target, 0 at padding."""
        target, losses = batch.target.cpu().numpy(), np.zeros(batch.target.shape)
        histories = _histories(target, _contexts(batch, self.vocabulary)[0], self.config.order)
        real = target != PAD
        losses[real] = self.counts.nats(histories[real], target[real])
        return torch.from_numpy(losses).to(batch.device)

    def forward(self, batch: Batch, smoothing: float = 0.0) -> Loss:
        """Summed negative log-likelihood of the batch's targets."""
        return Loss(self.token_losses(batch).sum(), batch.real.sum())


def _contexts(batch: Batch, vocabulary: Vocabulary) -> tuple[IntArray, int]:
    """(batch, time) one number for all symbols of each target, 0 for specials; and how many numbers there are.

    The width is 0 if the batch has no structures.
    """
    contexts, kinds = np.zeros(batch.target.shape, np.int64), 1
    if not (isinstance(batch, Structured) and isinstance(vocabulary, Symbolic) and batch.structures):
        return contexts[:, :0], kinds
    for name, symbols in batch.structures.items():
        contexts = contexts * vocabulary.symbol_count(name) + symbols.cpu().numpy()
        kinds *= vocabulary.symbol_count(name)
    return contexts, kinds


def _histories(target: IntArray, contexts: IntArray, order: int) -> IntArray:
    """(batch, time) to (batch, time, parts): the symbol of each target, if any, then the preceding tokens backwards."""
    padded = np.concatenate([np.full((len(target), order - 1), BOS), target], axis=1)
    before = np.lib.stride_tricks.sliding_window_view(padded, order, axis=1)[..., -2::-1]
    symbols = contexts.reshape(*target.shape, -1) if contexts.size else np.zeros((*target.shape, 0), np.int64)
    return np.concatenate([symbols, before], axis=2)
