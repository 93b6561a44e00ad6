"""What decoding, scoring and baselines pass on: a split, its prompts, the output rows, and their statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, NamedTuple, TypeVar

from espalier.corpora.stored import taken
from espalier.datasets.encoding import Extras, Split
from espalier.io.errors import ArtifactError
from espalier.text.language import Language

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from espalier.datasets.ragged import IntArray
    from espalier.metrics.family import Family

#: The columns that identify a segment, in the outputs and in the statistics of every run.
SEGMENT_COLUMNS: Final = ("id", "cluster", "seed", "sample")
#: Those that identify a text.
TEXT_COLUMNS: Final = ("id", "seed", "sample")

Record_co = TypeVar("Record_co", covariant=True)
Data_co = TypeVar("Data_co", bound=Split[Any, Any, Any], covariant=True)
Hypothesis_ = TypeVar("Hypothesis_")
View_co = TypeVar("View_co", covariant=True)


@dataclass(frozen=True)
class Ready(Generic[Record_co, Data_co]):
    """One split of an encoded dataset.

    Attributes:
        records: the records that fit the encoding; they may be read from a file each time they are iterated.
        data: the same records as ids.
        extras: data of the training records that the encoding keeps besides ids, by name, such as frequent templates.
        unfit: number of quarantined records of the split.
        train: function that reads the training split of the dataset; or None.
    """

    records: Sequence[Record_co]
    data: Data_co
    extras: Extras = field(default_factory=dict)
    unfit: int = 0
    train: Callable[[], Data_co] | None = None

    def parts(
        self, at_once: int | None, places: IntArray | None = None
    ) -> Iterator[tuple[IntArray, Ready[Record_co, Data_co]]]:
        """The rows, at most `at_once` at a time, each time with their places: parts in the order of the rows' ids.

        Within a part, rows are as they are in the whole. If they fit into one part, this is the whole.

        Args:
            at_once: the rows of a part; None for all.
            places: the rows to take; None for all.
        """
        import numpy as np

        own = np.arange(len(self.records)) if places is None else places
        size = max(1, len(own)) if at_once is None else at_once
        if len(own) > size:
            own = np.array(sorted(own.tolist(), key=self.data.ids.__getitem__), dtype=np.int64)
        for start in range(0, max(1, len(own)), size):
            here = np.sort(own[start : start + size])
            if len(here) == len(self.records):
                yield here, self
            else:
                yield here, replace(self, records=taken(self.records, here), data=self.data.select(here))


@dataclass(frozen=True)
class RunOptions:
    """Settings of a run that all tasks share.

    Attributes:
        samples: the number of texts for each record.
        seed: seed of the run. Random draws depend on it, on the model's seed, and on the record's id.
        guidance: outputs of the run that guides this one, or None.
        lexicon: folder of a source for looking up words (WordNet, couyun), or None.
        at_once: the records that are decoded at a time; None for all. Batches are made among these records, so it
            changes numbers by rounding.
    """

    samples: int = 1
    seed: int = 1
    guidance: pd.DataFrame | None = None
    lexicon: Path | None = None
    at_once: int | None = None


@dataclass(frozen=True)
class Inputs(Generic[Data_co, Hypothesis_]):
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

    data: Data_co
    prompts: IntArray
    rows: Sequence[Sequence[Mapping[str, Any]]]
    kept: int = 1
    rerank: Callable[[IntArray, list[list[Hypothesis_]]], list[list[Hypothesis_]]] | None = None
    measure: Callable[[IntArray], Mapping[str, npt.NDArray[np.float64]]] | None = None
    given: Mapping[str, Any] = field(default_factory=dict)
    check: Callable[[], None] | None = None


@dataclass(frozen=True)
class Outputs(Generic[Data_co]):
    """The outputs of a run, and further data for scoring them.

    Attributes:
        table: one row per hypothesis: `id`, `cluster`, `seed`, `sample`, `text`, the task's columns, and the
            likelihood of the record's reference.
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
    is_grammatical: Callable[[list[str]], bool] | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    train: Callable[[], Data_co] | None = None
    extras: Callable[[], Extras] = dict

    def training(self) -> Data_co | None:
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
        confirmed: the segments that the values of the libraries are for, if not for all: then only statistics are
            recorded, and those of these segments must give equal values.
    """

    rows: pd.DataFrame
    families: Mapping[Family[Any], npt.NDArray[np.float64]]
    library: Mapping[str, float] = MappingProxyType({})
    audits: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    confirmed: Sequence[int] | None = None


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
class NGramRow(Generic[View_co]):
    """A row of a report for an n-gram model, which is fitted when the report is made.

    Attributes:
        view: view of its training batches, whose targets are texts or trees.
        order: length of its n-grams.
        reads: a short description of its input besides the text so far.
        discounts: 1, or 3 for modified Kneser-Ney smoothing.
        given: as in `BaselineRow`.
    """

    view: View_co
    order: int = 3
    reads: str = "no source"
    discounts: Literal[1, 3] = 1
    given: tuple[str, ...] = ()
