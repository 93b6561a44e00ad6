"""Measurements of a model on given rows, such as likelihoods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from espalier.datasets.batch import Batch, length_batches
from espalier.datasets.encoding import Split
from espalier.datasets.ragged import IntArray
from espalier.metrics.texts import CorpusLikelihood
from espalier.models.contract import Model

if TYPE_CHECKING:
    import pandas as pd
    import torch
    from torch import Tensor

Batch_ = TypeVar("Batch_", bound=Batch)
Model_ = TypeVar("Model_", bound=Model[Any, Any, Any])

#: What `by_words` gives.
BY_WORDS: Final = ("nll", "tokens", "word_nll", "words")
#: Tokens that are measured together. Their number changes the speed and, by rounding alone, the result.
TOKENS: Final = 8192


def by_words(losses: Tensor, batch: Batch, words: Tensor) -> dict[str, Tensor]:
    """Nats and counts of all targets of each row, and of words.

    Args:
        losses: (batch, time) nats of each target.
        words: (batch, time) bool: whether a target is a word.
    """
    losses = losses.double()
    return {
        "nll": losses.sum(1),
        "tokens": batch.real.sum(1),
        "word_nll": (losses * words).sum(1),
        "words": words.sum(1),
    }


def corpus_likelihood(table: pd.DataFrame) -> CorpusLikelihood:
    """The columns of `by_words` of a table."""
    return CorpusLikelihood(*(table[name].tolist() for name in BY_WORDS))


def measured(
    measure: Callable[[Model_, Batch_], dict[str, Tensor]],
    model: Model_,
    data: Split[Any, Any, Batch_],
    places: IntArray,
    device: torch.device,
    follow: Callable[[Sequence[IntArray]], Iterable[IntArray]] = iter,
) -> dict[str, npt.NDArray[Any]]:
    """The measured quantities by name, (places,) each; empty if there are no places.

    Args:
        measure: function from a model and a batch to (batch,) values of each quantity: `Task.likelihood`,
            `Judge.measure`.
        follow: wraps the iteration over batches, for example with a progress bar.
    """
    import torch

    columns: dict[str, npt.NDArray[Any]] = {}
    view = model.config.view
    with torch.inference_mode():
        for part in follow(length_batches(data.sizes(view)[places], budget=TOKENS)):
            for name, tensor in measure(model, data.batch(places[part], view).to(device)).items():
                values = tensor.cpu().numpy()
                columns.setdefault(name, np.zeros(len(places), values.dtype))[part] = values
    return columns
