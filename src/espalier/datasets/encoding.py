"""Encodings: how the records of a corpus become the rows of ids that one family of models reads."""

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
    """A base for the settings of an encoding, of a decoder or of scoring in params.yaml; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Vocabulary(Protocol):
    """What ids stand for. Two vocabularies are equal where all their ids stand for the same."""

    @property
    def language(self) -> Language:
        """Of the texts."""
        ...

    def save(self, path: Path) -> None:
        """Write as JSON."""
        ...

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote.

        Raises:
            ArtifactError: the file holds no vocabulary of this type.
        """
        ...


class Split(Protocol):
    """The encoded rows of one split, in memory.

    Attributes:
        GRAIN: lengths of training batches are padded to multiples of it.
    """

    GRAIN: ClassVar[int]

    @property
    def ids(self) -> list[str]:
        """(rows,) the records' ids."""
        ...

    def save(self, path: Path) -> None:
        """Write as Parquet."""
        ...

    @classmethod
    def load(cls, path: Path, vocabulary: Any) -> Self:
        """Read what `save` wrote."""
        ...

    def __len__(self) -> int: ...

    def select(self, places: IntArray) -> Self:
        """The rows at these places, in that order."""
        ...

    def sizes(self, view: Any) -> IntArray:
        """(rows,) the tokens that each row counts for in a batch's budget."""
        ...

    def longest(self, view: Any) -> int:
        """The length of the longest row that a model with this view reads or writes.

        Raises:
            ConfigError: the view reads what the rows do not hold.
        """
        ...

    def batch(self, places: IntArray, view: Any, rng: np.random.Generator | None = None, *, grain: int = 1) -> Batch:
        """Collate rows as a model with this view reads them.

        Args:
            places: (batch,) of the rows.
            view: the model's `config.view`.
            rng: of what is drawn anew each time a row trains; None in evaluation.
            grain: lengths are padded to a multiple of it.
        """
        ...


@dataclass(frozen=True)
class Encoded:
    """Records as ids.

    Attributes:
        split: the records that fit.
        places: (rows,) their places among the records.
        quarantined: the records that do not fit, with reasons.
        facts: counts of what was changed on the way, such as the trees that were made projective.
    """

    split: Any
    places: Sequence[int]
    quarantined: Sequence[Quarantined]
    facts: Mapping[str, int] = field(default_factory=dict)


class Encoding(Protocol):
    """One form of data. Register it in `ENCODINGS`; importing it imports no torch."""

    @property
    def settings(self) -> type[Settings]:
        """The type of a dataset's settings."""
        ...

    @property
    def record(self) -> type[Any]:
        """The type of the records that are encoded."""
        ...

    @property
    def vocabulary(self) -> type[Any]:
        """The type of the vocabulary."""
        ...

    @property
    def split(self) -> type[Any]:
        """The type of the encoded rows."""
        ...

    def build_vocabulary(self, records: Sequence[Any], settings: Any, language: Language) -> Any:
        """The vocabulary of the records that train."""
        ...

    def training_records(self, records: Sequence[Any], settings: Any) -> Sequence[Any]:
        """The records of which training reads the encoded rows, such as each pair in both directions."""
        ...

    def encode(self, records: Sequence[Any], vocabulary: Any, settings: Any) -> Encoded:
        """The records that fit the settings as ids."""
        ...

    def extras(self, records: Sequence[Any], settings: Any) -> Mapping[str, Any]:
        """What else is kept of the training records: a JSON value for each file name, such as frequent templates."""
        ...

    def counts(self, split: Any) -> Mapping[str, float]:
        """What the dataset's details say of one split: its tokens, its unknown words."""
        ...

    def numbers(self, vocabulary: Any) -> Mapping[str, int]:
        """The sizes of the vocabulary, under short names."""
        ...

    def measures(self, split: Any) -> Mapping[str, Any]:
        """What a report's figures show of the training split: {name: {quantity: {column: value}}}."""
        ...
