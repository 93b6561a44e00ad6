"""Tasks: what a model writes, how it is decoded, and how its outputs are scored.

A task is an object with the members of three protocols. Its types are those of the records and of their encoded rows
(`espalier.datasets.encoding.Split`), of models and batches (`espalier.models.contract`), and of its own settings and
hypotheses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from espalier.datasets.batch import Batch
from espalier.datasets.encoding import Split, Vocabulary
from espalier.models.contract import Model, NetworkSettings
from espalier.tasks.data import BaselineRow, Inputs, NGramRow, Outputs, Ready, RunOptions, Segments
from espalier.tasks.settings import Decoder, Scoring
from espalier.text.language import Language

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

Record_contra = TypeVar("Record_contra", contravariant=True)
Data_ = TypeVar("Data_", bound=Split[Any, Any, Any])
Data_contra = TypeVar("Data_contra", bound=Split[Any, Any, Any], contravariant=True)
Batch_contra = TypeVar("Batch_contra", bound=Batch, contravariant=True)
Model_contra = TypeVar("Model_contra", bound=Model[Any, Any, Any], contravariant=True)
Vocabulary_contra = TypeVar("Vocabulary_contra", bound=Vocabulary, contravariant=True)
Network_contra = TypeVar("Network_contra", bound=NetworkSettings[Any], contravariant=True)
Dataset_contra = TypeVar("Dataset_contra", contravariant=True)
Decoder_ = TypeVar("Decoder_", bound=Decoder[Any, Any])
Decoder_contra = TypeVar("Decoder_contra", bound=Decoder[Any, Any], contravariant=True)
Scoring_ = TypeVar("Scoring_", bound=Scoring)
Hypothesis_ = TypeVar("Hypothesis_")


class DecodingTask(Protocol[Record_contra, Data_, Batch_contra, Model_contra, Decoder_, Hypothesis_]):
    """What is decoded."""

    @property
    def encodings(self) -> tuple[str, ...]:
        """The encodings whose rows the task decodes."""

    @property
    def decoder(self) -> type[Decoder_]:
        """The type of a run's decoder settings."""

    def inputs(
        self, ready: Ready[Record_contra, Data_], model: Model_contra, decoder: Decoder_, options: RunOptions, seed: int
    ) -> Iterable[Inputs[Data_, Hypothesis_]]:
        """The prompts for the model with this seed, those of `options.at_once` records at a time (`Ready.parts`)."""

    def generate(
        self, model: Model_contra, batch: Batch_contra, decoder: Decoder_, seeds: Sequence[int]
    ) -> list[list[Hypothesis_]]:
        """The hypotheses of each prompt of a batch, the best first. `Inputs.given` are further keyword arguments."""

    def columns(
        self, hypothesis: Hypothesis_ | None, row: Mapping[str, Any], model: Model_contra, decoder: Decoder_
    ) -> dict[str, Any]:
        """The last columns of an output row. `hypothesis` is None if the search found too few."""

    def likelihood(self, model: Model_contra, batch: Batch_contra) -> dict[str, Tensor]:
        """(batch,) nats of each reference, and the counts by which they are divided."""

    def facts(self, model: Model_contra) -> dict[str, str]:
        """Facts of the model for scoring, which are kept in the metadata of the outputs; none by default."""
        return {}


class Judge(Protocol[Data_, Batch_contra, Model_contra, Vocabulary_contra, Decoder_contra, Dataset_contra]):
    """A separately trained language model that scores outputs and references."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of `measure`. Outputs have them for the text and, prefixed by `reference_`, for the reference."""

    def check(self, decoder: Decoder_contra, network: NetworkSettings[Any], dataset: Dataset_contra) -> None:
        """Raise an error, when params.yaml is read, for a model that cannot judge these texts.

        Args:
            decoder, dataset: validated settings of the decoding and of the decoded dataset.
            network: validated settings of the judging model.

        Raises:
            ConfigError: the model cannot judge these texts.
        """

    def read(self, texts: Sequence[str], vocabulary: Vocabulary_contra) -> Data_:
        """Encode any texts with the judge's vocabulary."""

    def measure(self, model: Model_contra, batch: Batch_contra) -> dict[str, Tensor]:
        """(batch,) values of the judging model for texts encoded by `read`."""

    def controls(self, table: pd.DataFrame, train: Data_, seed: int) -> Mapping[str, BaselineRow]:
        """Rows that the judge must rate worse than the references. Arguments are as in `BaselineTask.baselines`."""


class ScoringTask(Protocol[Data_contra, Network_contra, Dataset_contra, Scoring_]):
    """How outputs are scored."""

    @property
    def scoring(self) -> type[Scoring_]:
        """The type of a run's scoring settings."""

    @property
    def dev_likelihood(self) -> bool:
        """Whether the likelihood of the dev references is measured as well."""
        return False

    @property
    def judge(self) -> Judge[Any, Any, Any, Any, Any, Any] | None:
        """The judge for a run's `lm`; None if texts of this task have no judge."""
        return None

    def writes_words(self, language: Language) -> bool:
        """Whether texts are words joined by single spaces, to be parsed as such; else the parser segments them."""

    def needs_annotation(self, network: Network_contra, dataset: Dataset_contra) -> bool:
        """Whether scoring needs parses of the texts, for these settings of a model and a dataset; by default not."""
        return False

    def statistics(self, outputs: Outputs[Data_contra], scoring: Scoring_) -> list[Segments]:
        """The statistics of each segment, by family of metrics (`espalier.metrics.registry.METRICS`: TASK/NAME)."""

    def headline(self, outputs: Outputs[Data_contra]) -> Mapping[str, str]:
        """The metrics that DVC shows, as {short name: name}."""

    def counts(self, outputs: Outputs[Data_contra], scoring: Scoring_) -> dict[str, int]:
        """Counts for the details file of a run, besides the numbers of records and texts."""


class BaselineTask(Protocol[Record_contra, Data_contra, Vocabulary_contra]):
    """Which rows of a report need no trained model."""

    @property
    def likelihood_columns(self) -> tuple[str, ...]:
        """The keys of the results of `likelihood` and of `Inputs.measure`, which are 0 in rows without a model."""

    def ngrams(self, vocabulary: Vocabulary_contra) -> Mapping[str, NGramRow[Any]]:
        """The n-gram models of the training targets for a report, by name. The first reads no source."""

    def baselines(
        self, table: pd.DataFrame, ready: Ready[Record_contra, Data_contra], train: Data_contra, seed: int
    ) -> Mapping[str, BaselineRow]:
        """Rows of a report that need no model, such as the references.

        Args:
            table: output table whose texts are replaced.
            ready: the decoded split.
            train: encoded rows of the training split, at least one.
            seed: seed of random draws, which also depend on the record's id.

        Returns:
            The rows by name.

        Raises:
            DataError: the training split has no usable row.
        """


class Task(
    BaselineTask[Any, Any, Any], ScoringTask[Any, Any, Any, Any], DecodingTask[Any, Any, Any, Any, Any, Any], Protocol
):
    """A task, whatever its types. Register one in `TASKS`. Importing it must not import torch.

    A class with this base need not define what has a body here.
    """
