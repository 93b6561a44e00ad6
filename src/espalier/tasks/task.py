"""Tasks: what a model is to write, how it is decoded, and how its outputs are judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, Protocol

from pydantic import Field, field_validator

from espalier.datasets.encoding import Settings
from espalier.io.errors import ArtifactError
from espalier.metrics.registry import METRICS
from espalier.text.language import Language

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    from torch import Tensor

    from espalier.metrics.metric import Metric


#: The columns that identify a segment, in the outputs and in the statistics of every run.
SEGMENT_COLUMNS: Final = ("id", "cluster", "seed", "sample")
#: Those that identify a text.
TEXT_COLUMNS: Final = ("id", "seed", "sample")


class Scoring(Settings):
    """A base for the settings of scoring."""

    #: Metrics of the user's own (`espalier.metrics.registry`) besides the task's, and the version of each. Raise a
    #: version when the metric's code changes: the runs that name it are then scored again.
    own_metrics: dict[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)

    @field_validator("own_metrics")
    @classmethod
    def _registered(cls, versions: dict[str, int]) -> dict[str, int]:
        for name in versions:
            if name not in METRICS:
                raise ValueError(f"unknown metric '{name}'; METRICS has {', '.join(sorted(METRICS)) or 'none'}")
        return versions


class Decoder(Settings):
    """A base for the settings of decoding."""

    @property
    def needs_lexicon(self) -> bool:
        """Whether a run must name a `lexicon`."""
        return False


@dataclass(frozen=True)
class Ready:
    """One split of an encoded dataset.

    Attributes:
        records: the records that fit the encoding.
        data: the same rows as ids.
        extras: what the encoding keeps of the training records besides ids, by name, such as frequent templates.
        unfit: how many records of the split were quarantined.
    """

    records: Sequence[Any]
    data: Any
    extras: Mapping[str, Any] = field(default_factory=dict)
    unfit: int = 0


@dataclass(frozen=True)
class RunOptions:
    """Settings of a run that every task has.

    Attributes:
        samples: the number of texts for each record.
        seed: of the run. Random draws depend on it, on the model's seed, and on the record's id.
        guidance: the outputs of the run that guides this one, or None.
        lexicon: the folder of a source that words are looked up in (WordNet, couyun), or None.
    """

    samples: int = 1
    seed: int = 1
    guidance: pd.DataFrame | None = None
    lexicon: Path | None = None


@dataclass(frozen=True)
class Inputs:
    """Prompts to be decoded, and references whose likelihood is measured.

    Attributes:
        data: one encoded row for each record.
        prompts: (prompts,) the rows of `data` to be decoded, once each; a row may occur several times.
        rows: for each prompt the first columns of its output rows, one row for each record with this prompt: `id`,
            `cluster`, `sample`, and columns of the record.
        kept: the number of hypotheses of a prompt that are kept; the r-th, from 0, has `sample` + r.
        rerank: takes (prompts,) rows of `data` and the hypotheses of each, and returns these in another order.
        measure: takes (records,) rows of `data`; returns columns for them besides those of `likelihood`.
        given: further arguments of the task's `generate`, such as rhyme books.
        check: raises ConfigError where a prompt has no answer; it is called before any is decoded.
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
        table: one row for each hypothesis: `id`, `cluster`, `seed`, `sample`, `text`, the task's columns, and the
            likelihood of the record's reference.
        language: of the texts.
        seed: of the run.
        annotations: the parses of the texts, row by row, or None.
        dev: the likelihoods of the dev split's references, or None if the task has no `dev_likelihood`.
        lexicon: the folder of a source that the metrics look words up in (WordNet, couyun), or None.
        is_grammatical: whether the corpus's grammar derives a text's words; None for a corpus without grammar.
        facts: the metadata of the table.
        train: reads the training split of the run's dataset, or of the dataset that a baseline names; or None.
        extras: reads what the dataset that was decoded keeps of its training records besides ids, by name.
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
        """The training split; None if it is not known or has no rows, as in a test set of other authors."""
        train = self.train() if self.train is not None else None
        return train if train is not None and len(train) else None

    def parses(self) -> pd.DataFrame:
        """The parses of the texts.

        Raises:
            ArtifactError: there are none, or they are of other rows.
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
        families: by metric family, (segments, k).
        library: the values that published libraries give these segments, by metric. They are the ones recorded, and
            must equal those of the statistics.
        audits: what is recorded in the details of checks of these statistics, by name.
    """

    rows: pd.DataFrame
    families: dict[str, npt.NDArray[np.float64]]
    library: Mapping[str, float] = MappingProxyType({})
    audits: Mapping[str, Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True)
class BaselineRow:
    """One row of a report without a trained model, such as the references.

    Attributes:
        title: what is written, in a few words.
        columns: the columns that replace those of the output table: `text`, and others of the task.
        trees: the parses of the texts, if they are known.
        trivial: whether anybody could write this without a model, so that a model should do better. References are not.
        given: the metrics whose value follows from how the row is made. A model need not do better in these.
        reads: what it is given of the text to come, by the names of structures, or "topic".
    """

    title: str
    columns: Mapping[str, Sequence[Any]]
    trees: Sequence[str] | None = None
    trivial: bool = True
    given: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()


@dataclass(frozen=True)
class NGramRow:
    """One row of a report by an n-gram model that is counted where the report is made.

    Attributes:
        view: of the batches that it counts, whose targets are texts, or trees.
        order: the length of its n-grams.
        reads: what it is given besides the text so far, in a few words.
        discounts: 1, or 3 for modified Kneser-Ney smoothing.
        given: as in `BaselineRow`.
    """

    view: Any
    order: int = 3
    reads: str = "no source"
    discounts: Literal[1, 3] = 1
    given: tuple[str, ...] = ()


class Judge(Protocol):
    """A language model, trained by itself, that reads what was written and its references."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of `measure`, which outputs have for the text, and with `reference_` before them."""
        ...

    def check(self, decoder: Any, network: Any, dataset: Any) -> None:
        """Refuse a model that cannot judge these texts, when params.yaml is read.

        Args:
            decoder, dataset: validated settings of how the texts are decoded, and of the dataset that is decoded.
            network: validated settings of the judging model.

        Raises:
            ConfigError: it cannot.
        """
        ...

    def read(self, texts: Sequence[str], vocabulary: Any) -> Any:
        """Texts of any shape, encoded with the judge's vocabulary."""
        ...

    def measure(self, model: Any, batch: Any) -> dict[str, Tensor]:
        """(batch,) what the judging model says of texts that `read` encoded."""
        ...

    def controls(self, table: pd.DataFrame, train: Any, seed: int) -> Mapping[str, BaselineRow]:
        """Rows that the judge must find worse than the references. The arguments are those of `Task.baselines`."""
        ...


class Task(Protocol):
    """How outputs are decoded and scored. Register it in `TASKS`. Importing it must not import torch."""

    @property
    def encodings(self) -> tuple[str, ...]:
        """The encodings whose rows it decodes."""
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
        """Whether the likelihood of the dev split's references is measured as well."""
        ...

    @property
    def judge(self) -> Judge | None:
        """How a run's `lm` judges its texts; None if texts of this task have no judge."""
        ...

    @property
    def likelihood_columns(self) -> tuple[str, ...]:
        """The keys of `likelihood`, and of `Inputs.measure`."""
        ...

    def ngrams(self, vocabulary: Any) -> Mapping[str, NGramRow]:
        """The n-gram models of the training targets that stand in a report, by name; the first reads no source."""
        ...

    def writes_words(self, language: Language) -> bool:
        """Whether its texts are words joined by single spaces, as they are to be parsed; else the parser finds them."""
        ...

    def check(self, decoder: Any, network: Any, dataset: Any, samples: int) -> None:
        """Refuse settings that do not fit together, when params.yaml is read.

        Args:
            decoder, network, dataset: validated settings of the run, of its model, and of the dataset that it decodes.
            samples: of the run.

        Raises:
            ConfigError: `where` is the key inside the run's entry, such as "decoder.beam".
        """
        ...

    def needs_annotation(self, network: Any, dataset: Any) -> bool:
        """Whether scoring needs parses of the texts, for these settings of a model and of a dataset."""
        ...

    def inputs(self, ready: Ready, model: Any, decoder: Any, options: RunOptions, seed: int) -> list[Inputs]:
        """The prompts for the model of this seed."""
        ...

    def prefixes(self, decoder: Any) -> int:
        """The number of prefixes that the search keeps for each prompt."""
        ...

    def generate(self, model: Any, batch: Any, decoder: Any, seeds: Sequence[int]) -> list[list[Any]]:
        """The hypotheses of each prompt of a batch, the best first. `Inputs.given` are further keyword arguments."""
        ...

    def columns(self, hypothesis: Any | None, row: Mapping[str, Any], model: Any, decoder: Any) -> dict[str, Any]:
        """The last columns of an output row; `hypothesis` is None if the search found too few."""
        ...

    def likelihood(self, model: Any, batch: Any) -> dict[str, Tensor]:
        """(batch,) nats of each reference, and the counts that they are divided by."""
        ...

    def facts(self, model: Any) -> dict[str, str]:
        """Facts of the model that scoring needs; they are kept in the metadata of the outputs."""
        ...

    def baselines(self, table: pd.DataFrame, ready: Ready, train: Any, seed: int) -> Mapping[str, BaselineRow]:
        """Rows of a report that need no model, such as the references.

        Args:
            table: the output table whose texts they replace.
            ready: the split that the table was made from.
            train: the encoded rows of the training split, at least one.
            seed: of random draws, which depend on the record's id as well.

        Returns:
            The rows by name.

        Raises:
            DataError: the training split has no row that can serve.
        """
        ...

    def statistics(self, outputs: Outputs, scoring: Any) -> list[Segments]:
        """The statistics of each segment, by metric family."""
        ...

    def metrics(self, family: str) -> tuple[Metric, ...]:
        """The metrics that are computed from one family's statistics."""
        ...

    def headline(self, outputs: Outputs) -> Mapping[str, str]:
        """The metrics that DVC shows: {short name: name}."""
        ...

    def counts(self, outputs: Outputs, scoring: Any) -> dict[str, int]:
        """Counts for the details besides records and texts."""
        ...

    def settings(self, decoder: Any, network: Any, samples: int, guidance: str | None) -> dict[str, Any]:
        """The settings of a run that a report shows, `protocol` first; None for those that do not apply.

        Args:
            decoder, network: validated settings of the run and of its model.
            samples: of the run.
            guidance: the key of the run that guides this one, or None.
        """
        ...


def shown_settings(decoder: Decoder, always: Sequence[str], never: Sequence[str] = ()) -> dict[str, Any]:
    """The settings of a decoder that a report shows: those of `always`, and all that differ from their defaults.

    Args:
        never: settings that do not apply, or are shown otherwise.
    """
    defaults = {name: field.default for name, field in type(decoder).model_fields.items()}
    return {name: value for name, value in decoder if name not in never and (name in always or value != defaults[name])}
