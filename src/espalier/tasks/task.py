"""Tasks: what a model writes, how it is decoded, and how its outputs are scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, Protocol

from pydantic import Field, field_validator

from espalier.datasets.encoding import Settings
from espalier.io.errors import ArtifactError
from espalier.metrics.registry import own_names
from espalier.text.language import Language

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    from torch import Tensor

    from espalier.metrics.family import Family

#: The columns that identify a segment, in the outputs and in the statistics of every run.
SEGMENT_COLUMNS: Final = ("id", "cluster", "seed", "sample")
#: Those that identify a text.
TEXT_COLUMNS: Final = ("id", "seed", "sample")


class Scoring(Settings):
    """The base of the settings of scoring."""

    #: Metrics of the user's own (`espalier.metrics.registry`) besides the task's, and the version of each. Raise a
    #: version when the metric's code changes: the runs that name it are then scored again.
    own_metrics: dict[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)

    @field_validator("own_metrics")
    @classmethod
    def _registered(cls, versions: dict[str, int]) -> dict[str, int]:
        known = sorted(own_names())
        for name in versions:
            if name not in known:
                raise ValueError(f"unknown metric '{name}'; METRICS has {', '.join(known) or 'none'}")
        return versions


class Decoder(Settings):
    """The base of the settings of decoding."""

    @property
    def needs_lexicon(self) -> bool:
        """Whether a run must name a `lexicon`."""
        return False


@dataclass(frozen=True)
class Ready:
    """One split of an encoded dataset.

    Attributes:
        records: the records that fit the encoding.
        data: the same records as ids.
        extras: data of the training records that the encoding keeps besides ids, by name, such as frequent templates.
        unfit: number of quarantined records of the split.
    """

    records: Sequence[Any]
    data: Any
    extras: Mapping[str, Any] = field(default_factory=dict)
    unfit: int = 0


@dataclass(frozen=True)
class RunOptions:
    """Settings of a run that all tasks share.

    Attributes:
        samples: the number of texts for each record.
        seed: seed of the run. Random draws depend on it, on the model's seed, and on the record's id.
        guidance: outputs of the run that guides this one, or None.
        lexicon: folder of a source for looking up words (WordNet, couyun), or None.
    """

    samples: int = 1
    seed: int = 1
    guidance: pd.DataFrame | None = None
    lexicon: Path | None = None


@dataclass(frozen=True)
class Inputs:
    """Prompts to decode, and references whose likelihood is measured.

    Attributes:
        data: one encoded row for each record.
        prompts: (prompts,) rows of `data` to decode; a row may occur several times.
        rows: for each prompt, the first columns of its output rows, one row per record with this prompt: `id`,
            `cluster`, `sample`, and columns of the record.
        kept: number of hypotheses kept per prompt; hypothesis r, from 0, gets the sample number `sample` + r.
        rerank: function from (prompts,) rows of `data` and their hypotheses to the reordered hypotheses.
        measure: function from (records,) rows of `data` to columns besides those of `likelihood`.
        given: further arguments of the task's `generate`, such as rhyme books.
        check: function that raises ConfigError if a prompt cannot be answered; it is called before decoding.
    """

    data: Any
    prompts: npt.NDArray[np.int64]
    rows: Sequence[Sequence[Mapping[str, Any]]]
    kept: int = 1
    rerank: Callable[[npt.NDArray[np.int64], list[list[Any]]], list[list[Any]]] | None = None
    measure: Callable[[npt.NDArray[np.int64]], Mapping[str, npt.NDArray[np.float64]]] | None = None
    given: Mapping[str, Any] = field(default_factory=dict)
    check: Callable[[], None] | None = None


@dataclass(frozen=True)
class Outputs:
    """The outputs of a run, and further data for scoring them.

    Attributes:
        table: one row per hypothesis: `id`, `cluster`, `seed`, `sample`, `text`, the task's columns, and the
            likelihood of the record's reference.
        language: language of the texts.
        seed: seed of the run.
        annotations: parses of the texts, row by row, or None.
        dev: likelihoods of the dev references, or None if the task has no `dev_likelihood`.
        lexicon: folder of a source for looking up words (WordNet, couyun), or None.
        is_grammatical: function that tells whether the grammar of the corpus derives a list of words; None without a
            grammar.
        facts: metadata of the table.
        train: function that reads the training split of the dataset of the run or baseline; or None.
        extras: function that reads data of the training records that the dataset keeps besides ids, by name.
    """

    table: pd.DataFrame
    language: Language
    seed: int = 1
    annotations: pd.DataFrame | None = None
    dev: pd.DataFrame | None = None
    lexicon: Path | None = None
    is_grammatical: Any = None
    facts: Mapping[str, str] = field(default_factory=dict)
    train: Callable[[], Any] | None = None
    extras: Callable[[], Mapping[str, Any]] = dict

    def training(self) -> Any | None:
        """The training split; None if it is unknown or empty, as for a test set of other authors."""
        train = self.train() if self.train is not None else None
        return train if train is not None and len(train) else None

    def parses(self) -> pd.DataFrame:
        """The parses of the texts.

        Raises:
            ArtifactError: they are missing, or belong to other rows.
        """
        keys = list(TEXT_COLUMNS)
        if self.annotations is None or not self.annotations[keys].equals(self.table[keys]):
            raise ArtifactError(
                "the parses are not those of the run's texts", where="annotations", remedy="annotate again"
            )
        return self.annotations


class Segments(NamedTuple):
    """Statistics of text segments.

    Attributes:
        rows: (segments,) `SEGMENT_COLUMNS`, and columns of text that reports show.
        families: statistics by family of metrics, (segments, k).
        library: values of published libraries for these segments, by metric. They are the recorded scores, and must
            equal those of the statistics.
        audits: results of checks of these statistics, for the details, by name.
    """

    rows: pd.DataFrame
    families: Mapping[Family[Any], npt.NDArray[np.float64]]
    library: Mapping[str, float] = MappingProxyType({})
    audits: Mapping[str, Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True)
class BaselineRow:
    """A row of a report without a trained model, such as the references.

    Attributes:
        title: a short description of the texts.
        columns: columns that replace those of the output table: `text`, and others of the task.
        trees: parses of the texts, if known.
        trivial: whether the texts need no model, so that every model should do better. References are not trivial.
        given: metrics whose value follows from the construction of the row. A model need not do better in these.
        reads: what the row is given of the text to come: names of structures, or "topic".
    """

    title: str
    columns: Mapping[str, Sequence[Any]]
    trees: Sequence[str] | None = None
    trivial: bool = True
    given: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()


@dataclass(frozen=True)
class NGramRow:
    """A row of a report for an n-gram model, which is fitted when the report is made.

    Attributes:
        view: view of its training batches, whose targets are texts or trees.
        order: length of its n-grams.
        reads: a short description of its input besides the text so far.
        discounts: 1, or 3 for modified Kneser-Ney smoothing.
        given: as in `BaselineRow`.
    """

    view: Any
    order: int = 3
    reads: str = "no source"
    discounts: Literal[1, 3] = 1
    given: tuple[str, ...] = ()


class Judge(Protocol):
    """A separately trained language model that scores outputs and references."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of `measure`. Outputs have them for the text and, prefixed by `reference_`, for the reference."""
        ...

    def check(self, decoder: Any, network: Any, dataset: Any) -> None:
        """Raise an error, when params.yaml is read, for a model that cannot judge these texts.

        Args:
            decoder, dataset: validated settings of the decoding and of the decoded dataset.
            network: validated settings of the judging model.

        Raises:
            ConfigError: the model cannot judge these texts.
        """
        ...

    def read(self, texts: Sequence[str], vocabulary: Any) -> Any:
        """Encode any texts with the judge's vocabulary."""
        ...

    def measure(self, model: Any, batch: Any) -> dict[str, Tensor]:
        """(batch,) values of the judging model for texts encoded by `read`."""
        ...

    def controls(self, table: pd.DataFrame, train: Any, seed: int) -> Mapping[str, BaselineRow]:
        """Rows that the judge must rate worse than the references. Arguments are as in `Task.baselines`."""
        ...


class Task(Protocol):
    """Decoding and scoring of outputs. Register a task in `TASKS`. Importing it must not import torch."""

    @property
    def encodings(self) -> tuple[str, ...]:
        """The encodings whose rows the task decodes."""
        ...

    @property
    def decoder(self) -> type[Decoder]:
        """The type of a run's decoder settings."""
        ...

    @property
    def scoring(self) -> type[Scoring]:
        """The type of a run's scoring settings."""
        ...

    @property
    def dev_likelihood(self) -> bool:
        """Whether the likelihood of the dev references is measured as well."""
        ...

    @property
    def judge(self) -> Judge | None:
        """The judge for a run's `lm`; None if texts of this task have no judge."""
        ...

    @property
    def likelihood_columns(self) -> tuple[str, ...]:
        """The keys of the results of `likelihood` and of `Inputs.measure`."""
        ...

    def ngrams(self, vocabulary: Any) -> Mapping[str, NGramRow]:
        """The n-gram models of the training targets for a report, by name. The first reads no source."""
        ...

    def writes_words(self, language: Language) -> bool:
        """Whether texts are words joined by single spaces, to be parsed as such; else the parser segments them."""
        ...

    def check(self, decoder: Any, network: Any, dataset: Any, samples: int) -> None:
        """Raise an error, when params.yaml is read, for settings that do not fit together.

        Args:
            decoder, network, dataset: validated settings of the run, its model, and the decoded dataset.
            samples: number of samples of the run.

        Raises:
            ConfigError: settings do not fit; `where` is the key in the run's entry, such as "decoder.beam".
        """
        ...

    def needs_annotation(self, network: Any, dataset: Any) -> bool:
        """Whether scoring needs parses of the texts, for these settings of a model and a dataset."""
        ...

    def inputs(self, ready: Ready, model: Any, decoder: Any, options: RunOptions, seed: int) -> list[Inputs]:
        """The prompts for the model with this seed."""
        ...

    def prefixes(self, decoder: Any) -> int:
        """The number of prefixes that the search keeps per prompt."""
        ...

    def generate(self, model: Any, batch: Any, decoder: Any, seeds: Sequence[int]) -> list[list[Any]]:
        """The hypotheses of each prompt of a batch, the best first. `Inputs.given` are further keyword arguments."""
        ...

    def columns(self, hypothesis: Any | None, row: Mapping[str, Any], model: Any, decoder: Any) -> dict[str, Any]:
        """The last columns of an output row. `hypothesis` is None if the search found too few."""
        ...

    def likelihood(self, model: Any, batch: Any) -> dict[str, Tensor]:
        """(batch,) nats of each reference, and the counts by which they are divided."""
        ...

    def facts(self, model: Any) -> dict[str, str]:
        """Facts of the model for scoring, which are kept in the metadata of the outputs."""
        ...

    def baselines(self, table: pd.DataFrame, ready: Ready, train: Any, seed: int) -> Mapping[str, BaselineRow]:
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
        ...

    def statistics(self, outputs: Outputs, scoring: Any) -> list[Segments]:
        """The statistics of each segment, by family of metrics (`espalier.metrics.registry.METRICS`: TASK/NAME)."""
        ...

    def headline(self, outputs: Outputs) -> Mapping[str, str]:
        """The metrics that DVC shows, as {short name: name}."""
        ...

    def counts(self, outputs: Outputs, scoring: Any) -> dict[str, int]:
        """Counts for the details file of a run, besides the numbers of records and texts."""
        ...

    def settings(self, decoder: Any, network: Any, samples: int, guidance: str | None) -> dict[str, Any]:
        """The settings of a run that a report shows, `protocol` first; None for settings that do not apply.

        Args:
            decoder, network: validated settings of the run and of its model.
            samples: number of samples of the run.
            guidance: key of the run that guides this one, or None.
        """
        ...


def shown_settings(decoder: Decoder, always: Sequence[str], never: Sequence[str] = ()) -> dict[str, Any]:
    """The settings of a decoder that a report shows: those in `always`, and all that differ from their defaults.

    Args:
        never: settings that do not apply or are shown elsewhere.
    """
    defaults = {name: field.default for name, field in type(decoder).model_fields.items()}
    return {name: value for name, value in decoder if name not in never and (name in always or value != defaults[name])}
