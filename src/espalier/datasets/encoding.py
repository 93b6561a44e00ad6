"""Encodings: how the records of a corpus become rows of ids for one family of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from pydantic import BaseModel, ConfigDict

from espalier.corpora.records import Quarantined
from espalier.text.language import Language

if TYPE_CHECKING:
    import numpy as np

    from espalier.datasets.batch import Batch
    from espalier.datasets.ragged import IntArray


class Settings(BaseModel):
    """The base of the settings of an encoding, of decoding or of scoring in params.yaml. Unknown keys are errors.

    Attributes:
        opposite: limits of an encoding, each with the rule of `Filters` that limits the same rows from the other side.
            If the two contradict each other, no row is left.
        reads_pieces: whether the vocabulary may consist of published word pieces (`pieces_from`); `build_vocabulary`
            then takes their folder as `published`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    opposite: ClassVar[Mapping[str, str]] = {}
    reads_pieces: ClassVar[bool] = False


class Vocabulary(Protocol):
    """The meaning of each id. Two vocabularies are equal if each id has the same meaning in both."""

    @property
    def language(self) -> Language:
        """The language of the texts."""
        ...

    def save(self, path: Path) -> None:
        """Write as JSON."""
        ...

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a vocabulary written by `save`.

        Raises:
            ArtifactError: the file is not a vocabulary of this type.
        """
        ...


class Split(Protocol):
    """The encoded rows of one split, in memory.

    Attributes:
        GRAIN: the lengths of training batches are padded to multiples of it.
    """

    GRAIN: ClassVar[int]

    @property
    def ids(self) -> list[str]:
        """(rows,) ids of the records."""
        ...

    def save(self, path: Path) -> None:
        """Write as Parquet."""
        ...

    @classmethod
    def load(cls, path: Path, vocabulary: Any) -> Self:
        """Read a split written by `save`."""
        ...

    def __len__(self) -> int: ...

    def select(self, places: IntArray) -> Self:
        """The rows with these indices, in that order."""
        ...

    def sizes(self, view: Any) -> IntArray:
        """(rows,) size of each row in tokens for a batch's budget."""
        ...

    def longest(self, view: Any) -> int:
        """The length of the longest row that a model with this view reads or writes.

        Raises:
            ConfigError: the view reads columns that the rows lack.
        """
        ...

    def batch(self, indices: IntArray, view: Any, rng: np.random.Generator | None = None, *, grain: int = 1) -> Batch:
        """Collate rows for a model with this view.

        Args:
            indices: (batch,) the rows to collate.
            view: the model's `config.view`.
            rng: random generator for parts that differ between epochs, such as literals; None in evaluation.
            grain: lengths are padded to a multiple of it.
        """
        ...


@dataclass(frozen=True)
class Encoded:
    """Encoded records.

    Attributes:
        split: the records that fit.
        places: (rows,) their indices among the records.
        quarantined: the records that do not fit, with reasons.
        facts: counts of changes to the records, such as trees that were made projective.
    """

    split: Split
    places: Sequence[int]
    quarantined: Sequence[Quarantined]
    facts: Mapping[str, int] = field(default_factory=dict)


class Encoding(Protocol):
    """A form of encoded data. Register it in `ENCODINGS`. Importing it must not import torch."""

    @property
    def settings(self) -> type[Settings]:
        """The type of a dataset's settings."""
        ...

    @property
    def record(self) -> type[Any]:
        """The type of the records that are encoded."""
        ...

    @property
    def vocabulary(self) -> type[Vocabulary]:
        """The type of the vocabulary."""
        ...

    @property
    def split(self) -> type[Split]:
        """The type of the encoded rows."""
        ...

    def build_vocabulary(self, records: Sequence[Any], settings: Any, language: Language) -> Vocabulary:
        """The vocabulary of the training records."""
        ...

    def training_records(self, records: Sequence[Any], settings: Any) -> Sequence[Any]:
        """The records to encode for training, such as each pair in both directions."""
        ...

    def encode(self, records: Sequence[Any], vocabulary: Any, settings: Any) -> Encoded:
        """Encode the records that fit the settings, and quarantine the others."""
        ...

    def extras(self, records: Sequence[Any], settings: Any) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Data of the training records to keep besides ids, such as frequent templates: JSON rows by name."""
        ...

    def counts(self, split: Any) -> Mapping[str, float]:
        """Counts of one split for the dataset's details, such as tokens and unknown words."""
        ...

    def numbers(self, vocabulary: Any) -> Mapping[str, int]:
        """Sizes of the vocabulary for the dataset's metrics, under short names."""
        ...

    def measures(self, split: Any) -> Mapping[str, Any]:
        """Values of the training split for a report's figures: {name: {quantity: {column: value}}}."""
        ...
