"""Encodings: how the records of a corpus become rows of ids for one family of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeAlias, TypeVar

from espalier.corpora.records import Quarantined, Record
from espalier.io.validation import Strict
from espalier.text.language import Language

if TYPE_CHECKING:
    import numpy as np

    from espalier.datasets.batch import Batch
    from espalier.datasets.ragged import IntArray

Record_ = TypeVar("Record_", bound=Record)
Settings_ = TypeVar("Settings_", bound="Settings")
Vocabulary_ = TypeVar("Vocabulary_", bound="Vocabulary")
Split_ = TypeVar("Split_", bound="Split[Any, Any, Any]")
Split_co = TypeVar("Split_co", bound="Split[Any, Any, Any]", covariant=True)
View_contra = TypeVar("View_contra", contravariant=True)
Batch_co = TypeVar("Batch_co", bound="Batch", covariant=True)


#: Data of training records besides ids: JSON rows by name.
Extras: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]]


class Settings(Strict):
    """The base of the settings of an encoding, of decoding or of scoring in params.yaml. Unknown keys are errors.

    Attributes:
        opposite: limits of an encoding, each with the rule of `Filters` that limits the same rows from the other side.
            If the two contradict each other, no row is left.
        reads_pieces: whether the vocabulary may consist of published word pieces (`pieces_from`); `build_vocabulary`
            then takes their folder as `published`.
    """

    opposite: ClassVar[Mapping[str, str]] = {}
    reads_pieces: ClassVar[bool] = False

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns of the records that a row must fill to be encoded, such as trees. They are looked for first."""
        return ()


class Vocabulary(Protocol):
    """The meaning of each id. Two vocabularies are equal if each id has the same meaning in both."""

    @property
    def language(self) -> Language:
        """The language of the texts."""

    def save(self, path: Path) -> None:
        """Write as JSON."""

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a vocabulary written by `save`.

        Raises:
            ArtifactError: the file is not a vocabulary of this type.
        """


class Split(Protocol[Vocabulary_, View_contra, Batch_co]):
    """The encoded rows of one split, in memory: with the vocabulary of their ids, read by a view, as a batch.

    Attributes:
        GRAIN: the lengths of training batches are padded to multiples of it.
    """

    GRAIN: ClassVar[int]

    @property
    def ids(self) -> Sequence[str]:
        """(rows,) ids of the records."""

    @property
    def vocabulary(self) -> Vocabulary_:
        """The meaning of each id."""

    def save(self, path: Path) -> None:
        """Write as Parquet."""

    @classmethod
    def load(cls, path: Path, vocabulary: Vocabulary_) -> Self:
        """Read a split written by `save`."""

    @classmethod
    def shared(cls, path: Path, vocabulary: Vocabulary_, folder: Path) -> Self:
        """The same through files in `folder`, whose pages the processes of a machine share; by default without."""
        return cls.load(path, vocabulary)

    def __len__(self) -> int: ...

    def select(self, places: IntArray) -> Self:
        """The rows with these indices, in that order."""

    def sizes(self, view: View_contra) -> IntArray:
        """(rows,) size of each row in tokens for a batch's budget."""

    def longest(self, view: View_contra) -> int:
        """The length of the longest row that a model with this view reads or writes.

        Raises:
            ConfigError: the view reads columns that the rows lack.
        """

    def batch(
        self, indices: IntArray, view: View_contra, rng: np.random.Generator | None = None, *, grain: int = 1
    ) -> Batch_co:
        """Collate rows for a model with this view.

        Args:
            indices: (batch,) the rows to collate.
            view: the model's `config.view`.
            rng: random generator for parts that differ between epochs, such as literals; None in evaluation.
            grain: lengths are padded to a multiple of it.
        """


@dataclass(frozen=True)
class Encoded(Generic[Split_co]):
    """Encoded records.

    Attributes:
        split: the records that fit.
        places: (rows,) their indices among the records.
        quarantined: the records that do not fit, with reasons.
        facts: counts of changes to the records, such as trees that were made projective.
    """

    split: Split_co
    places: Sequence[int]
    quarantined: Sequence[Quarantined]
    facts: Mapping[str, int] = field(default_factory=dict)


class Encoding(Protocol[Record_, Settings_, Vocabulary_, Split_]):
    """A form of encoded data. Register it in `ENCODINGS`. Importing it must not import torch.

    An encoding with this base need not define what has a body here. Records may be read from a file each time they are
    iterated; what is iterated once and kept is in memory.
    """

    @property
    def settings(self) -> type[Settings_]:
        """The type of a dataset's settings."""

    @property
    def record(self) -> type[Record_]:
        """The type of the records that are encoded."""

    @property
    def vocabulary(self) -> type[Vocabulary_]:
        """The type of the vocabulary."""

    @property
    def split(self) -> type[Split_]:
        """The type of the encoded rows."""

    def build_vocabulary(self, records: Sequence[Record_], settings: Settings_, language: Language) -> Vocabulary_:
        """The vocabulary of the training records."""

    def training_records(self, records: Sequence[Record_], settings: Settings_) -> Sequence[Record_]:
        """The records to encode for training, such as each pair in both directions; the same by default."""
        return records

    def encode(self, records: Sequence[Record_], vocabulary: Vocabulary_, settings: Settings_) -> Encoded[Split_]:
        """Encode the records that fit the settings, and quarantine the others, each by itself.

        Splits with the base `RaggedSplit`, and its `save` and `load`, are encoded some records at a time.
        """

    def extras(self, records: Sequence[Record_], settings: Settings_) -> Extras:
        """Data of the training records to keep besides ids, such as frequent templates: JSON rows by name."""
        return {}

    def counts(self, split: Split_) -> Mapping[str, float]:
        """Counts of one split for the dataset's details, such as tokens and unknown words."""

    def numbers(self, vocabulary: Vocabulary_) -> Mapping[str, int]:
        """Sizes of the vocabulary for the dataset's metrics, under short names."""

    def measures(self, split: Split_) -> Mapping[str, Any]:
        """Values of the training split for a report's figures: {name: {quantity: {column: value}}}."""
        return {}
