"""Structured texts in memory, and their batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
import numpy.typing as npt

from espalier.datasets.batch import Batch, tensors
from espalier.datasets.ragged import IntArray, Ragged, RaggedSplit
from espalier.datasets.structure.vocabulary import SPECIAL, StructureVocabulary
from espalier.datasets.vocabulary import BOS, EOS, PAD

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class StructureView:
    """What a model reads besides the preceding tokens.

    Attributes:
        structures: names of the structures that it reads; empty for GPT2.
        topic: whether it reads topic words before the text.
    """

    structures: tuple[str, ...] = ()
    topic: bool = False

    @property
    def reads(self) -> tuple[str, ...]:
        """What a model reads about the text to come: the names of structures, and "topic"."""
        return (*self.structures, "topic") if self.topic else self.structures


@dataclass(frozen=True)
class StructureBatch(Batch):
    """A batch of structured texts, right-padded.

    Attributes:
        inputs: (batch, time) BOS, then the target shifted by one.
        target: (batch, time) the text and EOS, padded with `PAD`.
        structures: for each structure of the view, (batch, time): the symbol at t belongs to the target at t, the token
            that is predicted there; `SPECIAL` (P) at EOS and padding.
        topic: (batch, topic time) topic words and `TOPIC`, padded with `PAD`; width 0 if the model reads none.
        prompt: (batch,) number of tokens that are given when a text is continued, from 0 to half of the text.
    """

    inputs: Tensor
    target: Tensor
    structures: Mapping[str, Tensor]
    topic: Tensor
    prompt: Tensor


@dataclass(frozen=True)
class StructureData(RaggedSplit[StructureVocabulary]):
    """A split of structured texts.

    The columns are the tokens (`target`, without EOS), `topic` (its words and `TOPIC`; empty for none), `prompt` (one
    number, the length of the prompt), and the symbols of each structure, as many as tokens.
    """

    COLUMNS: ClassVar[tuple[str, ...]] = ("target", "topic", "prompt")

    @classmethod
    def of(
        cls, ids: Sequence[str], columns: Mapping[str, Sequence[npt.ArrayLike]], vocabulary: StructureVocabulary
    ) -> Self:
        """Build a split from a list of arrays for each column and structure."""
        return cls(list(ids), {name: Ragged.of(columns[name]) for name in cls.names(vocabulary)}, vocabulary)

    @classmethod
    def names(cls, vocabulary: StructureVocabulary) -> tuple[str, ...]:
        """The columns of a file."""
        return (*cls.COLUMNS, *vocabulary.structures)

    def sizes(self, view: StructureView) -> IntArray:
        """(rows,) number of tokens of each text, including EOS.

        Sizes do not depend on the view, so all models of a dataset train on the same batches in the same order.
        """
        return self.columns["target"].lengths + 1

    def longest(self, view: StructureView) -> int:
        """The length of the longest row that a model reads: topic words, tokens and EOS.

        Raises:
            ConfigError: the view has a structure that the vocabulary lacks.
        """
        for name in view.structures:
            self.vocabulary.symbol_count(name)
        lengths = self.columns["target"].lengths + 1
        return int((lengths + self.columns["topic"].lengths if view.topic else lengths).max(initial=0))

    def batch(
        self, indices: IntArray, view: StructureView, rng: np.random.Generator | None = None, *, grain: int = 1
    ) -> StructureBatch:
        """Collate the rows `indices` for a model with this view. `rng` is not used."""
        words, lengths = self.columns["target"].padded(indices, PAD), self.columns["target"].lengths_at(indices)
        extra = -(words.shape[1] + 1) % grain + 1
        target = np.pad(words, ((0, 0), (0, extra)), constant_values=PAD)
        inputs = np.roll(target, 1, axis=1)
        target[np.arange(len(indices)), lengths], inputs[:, 0] = EOS, BOS
        symbols = {
            name: np.pad(self.columns[name].padded(indices, SPECIAL), ((0, 0), (0, extra)), constant_values=SPECIAL)
            for name in view.structures
        }
        topic = self.columns["topic"].padded(indices, PAD)
        rows = {
            "inputs": inputs,
            "target": target,
            "topic": topic if view.topic else topic[:, :0],
            "prompt": self.columns["prompt"].padded(indices, 0)[:, 0],
        }
        return StructureBatch(**tensors(rows), structures=tensors(symbols))
