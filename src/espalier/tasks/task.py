"""Tasks: what a model is to write, how it is decoded, and how its outputs are judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from espalier.datasets.encoding import Settings
from espalier.text.language import Language

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    from torch import Tensor

    from espalier.metrics.metric import Metric


@dataclass(frozen=True)
class Ready:
    """One split of a ready dataset.

    Attributes:
        records: the records that fit the encoding.
        data: the same rows as ids.
        extras: the encoding's JSON files by name, such as frequent templates.
        unfit: how many records of the split were quarantined.
    """

    records: Sequence[Any]
    data: Any
    extras: Mapping[str, Any] = field(default_factory=dict)
    unfit: int = 0


@dataclass(frozen=True)
class RunOptions:
    """What a run asks of its model for each record.

    Attributes:
        samples: texts for each record.
        seed: of the run; what is drawn depends on it, on the model's seed, and on the record's id.
        guidance: the outputs of the run that guides this one, or None.
    """

    samples: int = 1
    seed: int = 1
    guidance: pd.DataFrame | None = None


@dataclass(frozen=True)
class Inputs:
    """Rows that are decoded together with rows whose likelihood is measured.

    Attributes:
        data: one encoded row for each record.
        prompts: (prompts,) the rows of `data` that are decoded, one decoding each; a row may occur several times.
        rows: for each prompt the first columns of the output rows that it fills, one for each record that shares the
            prompt: `id`, `cluster`, `sample`, and what the task keeps of the record.
        kept: how many hypotheses of a prompt are kept; the r-th, from 0, fills `sample` + r.
    """

    data: Any
    prompts: npt.NDArray[np.int64]
    rows: Sequence[Sequence[Mapping[str, Any]]]
    kept: int = 1


@dataclass(frozen=True)
class Outputs:
    """What a run wrote, and what is known of it besides.

    Attributes:
        table: one row for each hypothesis: `id`, `cluster`, `seed`, `sample`, `text`, the task's columns, and the
            likelihood of the record's reference.
        language: of the texts.
        seed: of the run.
        annotations: the parses of the texts, row by row, or None.
        dev: the likelihoods of the dev split's references, or None where the task asks for none.
        lexicon: the folder of WordNet's files, or None.
        judge: says of a text whether the grammar that grew the corpus allows it, or None where no grammar did.
        facts: what the decoding noted in the table's metadata.
    """

    table: pd.DataFrame
    language: Language
    seed: int = 1
    annotations: pd.DataFrame | None = None
    dev: pd.DataFrame | None = None
    lexicon: Path | None = None
    judge: Any = None
    facts: Mapping[str, str] = field(default_factory=dict)


class Segments(NamedTuple):
    """Statistics of text segments.

    Attributes:
        rows: (segments,) `id`, `cluster`, `seed`, `sample`.
        families: by metric family, (segments, k).
    """

    rows: pd.DataFrame
    families: dict[str, npt.NDArray[np.float64]]


class Task(Protocol):
    """One way of writing and of judging. Register it in `TASKS`; importing it imports no torch."""

    @property
    def encodings(self) -> tuple[str, ...]:
        """The encodings whose rows it decodes."""
        ...

    @property
    def decoder(self) -> type[Settings]:
        """The type of a run's decoder settings."""
        ...

    @property
    def scoring(self) -> type[Settings]:
        """The type of a run's scoring settings."""
        ...

    @property
    def dev_likelihood(self) -> bool:
        """Whether the likelihood of the dev split's references is measured as well."""
        ...

    @property
    def likelihood_columns(self) -> tuple[str, ...]:
        """The names that `likelihood` gives."""
        ...

    @property
    def text_view(self) -> Any:
        """The view under which a batch's target is the text alone, for models that read no source."""
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
        """Whether texts are judged by their parses, for these settings of a model and of a dataset."""
        ...

    def inputs(self, ready: Ready, model: Any, decoder: Any, options: RunOptions, seed: int) -> list[Inputs]:
        """What a model of this seed is to write."""
        ...

    def prefixes(self, decoder: Any) -> int:
        """How many prefixes the search keeps of each prompt."""
        ...

    def generate(self, model: Any, batch: Any, decoder: Any, seeds: Sequence[int]) -> list[list[Any]]:
        """The hypotheses of each prompt of a batch, the best first."""
        ...

    def columns(self, hypothesis: Any | None, row: Mapping[str, Any], model: Any, decoder: Any) -> dict[str, Any]:
        """The last columns of an output row; of None where the search found too few hypotheses."""
        ...

    def likelihood(self, model: Any, batch: Any) -> dict[str, Tensor]:
        """(batch,) nats of each reference, and the counts that they are divided by."""
        ...

    def facts(self, model: Any) -> dict[str, str]:
        """What scoring must know of the model, for the metadata of the outputs."""
        ...

    def baselines(self, table: pd.DataFrame) -> Mapping[str, Mapping[str, Sequence[str]]]:
        """Rows of the tables that no model writes, such as the references themselves.

        Returns:
            By row name the columns that take the place of the output table's; a column `target_tree` holds the parses
            of the texts where they are known.
        """
        ...

    def statistics(self, outputs: Outputs, scoring: Any) -> list[Segments]:
        """What each segment contributes to the metrics, by family."""
        ...

    def metrics(self, family: str) -> tuple[Metric, ...]:
        """The metrics of one family's statistics."""
        ...

    def headline(self, outputs: Outputs) -> Mapping[str, str]:
        """The metrics that DVC shows: short name to name."""
        ...

    def counts(self, outputs: Outputs) -> dict[str, int]:
        """What the details count besides records and texts."""
        ...

    def settings(self, run: Any, model: Any) -> dict[str, Any]:
        """The settings that a report shows of a run, `protocol` first."""
        ...
