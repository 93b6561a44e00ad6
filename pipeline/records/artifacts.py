"""Artifacts shared by several stages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from functools import partial
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar

from pydantic import BaseModel, Field, model_validator

from espalier.corpora.readers import READERS
from espalier.corpora.records import Quarantined, Record, Row, records_of, required_columns
from espalier.corpora.stored import StoredRecords
from espalier.datasets.encoding import Encoding, Split, Vocabulary
from espalier.io.errors import DataError
from espalier.io.files import Finite, Numbers, read_json, write_json
from espalier.io.registry import imported
from espalier.io.tables import read_table, table_sha256
from espalier.tasks.data import SEGMENT_COLUMNS, Ready
from pipeline import layout
from pipeline.params.entries import Corpus, Model, Params, Run
from pipeline.records.machine import device

if TYPE_CHECKING:
    import pandas as pd
    from torch import nn

Record_ = TypeVar("Record_", bound=Record)
Split_ = TypeVar("Split_", bound=Split[Any, Any, Any])


class RunDetails(BaseModel):
    """The part of `metrics/details/<paper>/<run>.json` that a report reads."""

    scores: Annotated[dict[str, Finite | None], Field(min_length=1)]
    intervals: dict[str, tuple[Finite, Finite] | None]
    signatures: dict[str, str]
    undefined: dict[str, str]
    settings: dict[str, Any]

    @model_validator(mode="after")
    def _null_for_a_reason(self) -> Self:
        if unexplained := [key for key, value in self.scores.items() if value is None and key not in self.undefined]:
            raise ValueError(f"{unexplained[0]} is null without a reason")
        return self


class RowCounts(BaseModel):
    """The part of `metrics/details/corpora/<corpus>.json` that a report reads."""

    rows: dict[str, int]
    quarantined: dict[str, int]
    origins: dict[str, dict[str, int]]


class DatasetDetails(BaseModel):
    """The part of the details of a dataset and its corpus that a report reads."""

    language: str
    rows: dict[str, int]
    splits: dict[str, dict[str, Finite]]
    quarantined: dict[str, int]
    measures: dict[str, Any]
    filtered: RowCounts
    parsed: dict[str, Any]


class ParsingDetails(BaseModel):
    """The part of `metrics/details/parsing/<corpus>.json` that a dataset reads."""

    parser: str
    quarantined: dict[str, int]


class Evaluation(BaseModel):
    """The losses at one step of a training, in nats per token."""

    step: int
    train_loss: Finite
    dev_loss: Finite


class SeedMeasurement(BaseModel):
    """Measurements of the training with one seed. `processes` and `compiled` are as in `TrainingSummary`."""

    seconds: Finite
    tokens_per_second: Finite
    precision: str
    processes: dict[str, int] = {}
    compiled: int = 0


class Measurement(BaseModel):
    """The contents of `metrics/measured/train/<model>.json`."""

    hardware: str
    threads: int
    seeds: Annotated[dict[str, SeedMeasurement], Field(min_length=1)]
    peak_gpu_memory: int | None = None

    def __str__(self) -> str:
        """One line: hardware, threads, hours, speed, precision; the last two of the first seed."""
        first, hours = self._first, self.hours
        speed = f"{first.tokens_per_second:,.0f} tokens/s"
        return f"{self.hardware}, {self._threads}, {hours:.2f} h, {speed}, {first.precision}"

    @property
    def on_gpu(self) -> bool:
        """Whether the training used a GPU."""
        return self.peak_gpu_memory is not None

    @property
    def hours(self) -> float:
        """The sum of hours over all seeds."""
        return sum(seed.seconds for seed in self.seeds.values()) / 3600

    @property
    def machine(self) -> str:
        """Hardware, threads and precision. Times are comparable only if these are equal."""
        return f"{self.hardware}, {self._threads}, {self._first.precision}"

    @property
    def scores(self) -> dict[str, float]:
        """The hours and speed of one training, averaged over seeds."""
        seeds = [*self.seeds.values()]
        return {
            "hours": mean(seed.seconds for seed in seeds) / 3600,
            "tokens_per_second": mean(seed.tokens_per_second for seed in seeds),
        }

    @property
    def _first(self) -> SeedMeasurement:
        return next(iter(self.seeds.values()))

    @property
    def _threads(self) -> str:
        processes = sorted({int(number) for seed in self.seeds.values() for number in seed.processes})
        shared = f"{' and '.join(map(str, processes))} processes, " if processes else ""
        compiled = ", compiled" if any(seed.compiled for seed in self.seeds.values()) else ""
        return f"{shared}{self.threads} thread{'s' if self.threads != 1 else ''}{compiled}"


class TrainingSummary(BaseModel):
    """The entry of each seed in `data/models/<model>/training.json`. Some models lack the last eight values.

    Attributes:
        processes: the steps that were made by each number of processes; empty if all were made by one.
        compiled: the steps that a compiled graph made.
    """

    parameters: int
    steps: int
    history: list[Evaluation] = []
    threads: int | None = None
    precision: str | None = None
    data: str | None = None
    tokens: int | None = None
    best_step: int | None = None
    best_dev_loss: Finite | None = None
    processes: dict[str, int] = {}
    compiled: int = 0


def read_records(folder: Path, name: str, kind: type[Row]) -> list[Row]:
    """The records of one table in a folder."""
    return records_of(read_table(folder / f"{name}.parquet", required=required_columns(kind)), kind)


def read_ready(
    dataset: str, split: str, kind: Encoding[Record_, Any, Any, Split_], at_once: int | None = None
) -> Ready[Record_, Split_]:
    """A split of `data/ready/<dataset>/`: ids and records. The training split has no records, so it is not allowed.

    Args:
        at_once: the records to hold in memory at a time: those of a larger split stay in their table, and its ids are
            mapped. None for all.
    """
    folder = layout.ready(dataset)
    vocabulary = kind.vocabulary.load(folder / "vocabulary.json")
    stored = StoredRecords(folder / f"{split}.records.parquet", kind.record, at_once or 1)
    large = at_once is not None and len(stored) > at_once
    load = partial(read_split, dataset, split, kind) if large else partial(kind.split.load, folder / f"{split}.parquet")
    return Ready(
        records=stored if large else read_records(folder, f"{split}.records", kind.record),
        data=load(vocabulary),
        extras=read_extras(dataset),
        unfit=len(StoredRecords(folder / f"{split}.quarantine.parquet", Quarantined, 1)),
        train=partial(read_train, dataset, kind),
    )


def read_extras(dataset: str) -> dict[str, list[dict[str, Any]]]:
    """Data of the training records that an encoding keeps besides ids, such as frequent templates: rows by name."""
    return read_json(layout.ready(dataset) / "extras.json", dict[str, list[dict[str, Any]]])


def read_train(dataset: str, kind: Encoding[Any, Any, Any, Split_]) -> Split_:
    """The ids of the training split of `data/ready/<dataset>/`."""
    return read_split(dataset, "train", kind, kind.vocabulary.load(layout.ready(dataset) / "vocabulary.json"))


def read_split(dataset: str, split: str, kind: Encoding[Any, Any, Any, Split_], vocabulary: Vocabulary) -> Split_:
    """The ids of a split of `data/ready/<dataset>/`, mapped: the processes of this machine share their memory."""
    file = layout.ready(dataset) / f"{split}.parquet"
    return kind.split.shared(file, vocabulary, layout.scratch("ids", dataset, split))


def require_rows(data: Sized, dataset: str, split: str) -> None:
    """Refuse an encoded split without rows.

    Raises:
        DataError: the split has no rows.
    """
    if not len(data):
        raise DataError("no rows", file=layout.ready(dataset) / f"{split}.parquet", remedy="check the split")


def read_texts(paper: str, run: str) -> pd.DataFrame:
    """The outputs of a run."""
    return read_table(layout.output(paper, run), required=[*SEGMENT_COLUMNS, "text"])


def read_segments(paper: str, run: str) -> pd.DataFrame:
    """The statistics of the outputs of a run."""
    return read_table(layout.segments(paper, run), required=SEGMENT_COLUMNS)


def own_segments(segments: pd.DataFrame) -> pd.DataFrame:
    """The segments of a run's own texts, without rows that only have the likelihood of a dev reference."""
    own = [name for name in map(str, segments) if "." in name and not name.rpartition(".")[0].endswith(":dev")]
    return segments[segments[own].notna().any(axis=1)]


def ids_of(segments: pd.DataFrame) -> frozenset[str]:
    """The ids of the scored records of a run."""
    return frozenset(own_segments(segments)["id"])


def read_details(paper: str, run: str) -> dict[str, Any]:
    """All details of a run. Raises if its metrics, which DVC shows, are not numbers."""
    read_json(layout.metrics(paper, run), Numbers)
    return read_json(layout.details(paper, run), RunDetails)


def lexicon_of(source: str) -> Path | None:
    """The folder of the source in which metrics look up words; None if there is none."""
    return None if source == layout.NONE else layout.raw(source)


def grammar_of(corpus: Corpus) -> Callable[[list[str]], bool] | None:
    """A function that tells whether the grammar of the corpus derives a list of words; None for published corpora."""
    name = READERS[corpus.reader].is_grammatical
    return imported("is_grammatical", name, where="READERS")


def decoding_settings(run: Run, model: Model) -> dict[str, Any]:
    """The settings of a run's decoding that pages show, by name."""
    guidance = None if run.guidance == layout.NONE else run.guidance
    return run.decoder.shown(model.network, run.samples, guidance)


def run_settings(key: str, params: Params) -> dict[str, Any]:
    """The settings for the details of a run."""
    run = params.runs[key]
    model = params.models[run.model]
    training = read_training(run.model)
    first = next(iter(training.values()))
    elsewhere, ready = layout.provenance(run.model), layout.ready(run.dataset)
    return {
        "task": run.task,
        "model": run.model,
        "dataset": run.dataset,
        # From the encoded split; unknown if only outputs are available.
        "data": table_sha256(ready / f"{run.split}.parquet") if ready.is_dir() else None,
        "split": run.split,
        # Including defaults, so that every run shows its beam and length rule.
        "decoder": run.decoder.model_dump(mode="json"),
        "scoring": run.written["scoring"],
        "samples": run.samples,
        "seed": run.seed,
        "seeds": list(model.seeds),
        **({} if run.lm == layout.NONE else {"judge": run.lm}),
        "parameters": first["parameters"],
        # The precision of the training; if unknown, its setting, which may be "auto".
        "precision": first.get("precision") or model.training.precision,
        # From the encoded split on which the model is trained.
        "trained_on": first.get("data"),
        "steps": {seed: values["steps"] for seed, values in training.items()},
        "training": {seed: _learned(values) for seed, values in training.items()},
        **({"provenance": read_json(elsewhere)} if elsewhere.exists() else {}),
    }


def _learned(summary: Mapping[str, Any]) -> dict[str, Any]:
    """The reproducible facts of a training. `metrics/measured/` has the others."""
    facts = {name: summary.get(name) for name in ("threads", "tokens", "best_step", "best_dev_loss")}
    history = summary.get("history", [])
    curve = {name: [line[name] for line in history] for name in ("step", "train_loss", "dev_loss")}
    made_by = {name: summary[name] for name in ("processes", "compiled") if summary.get(name)}
    return {**facts, **made_by, "curve": curve}


def read_training(model: str, folder: Path = Path(), *, place: Path | None = None) -> dict[str, Any]:
    """The facts of the training of a model, by seed: `TrainingSummary`.

    Args:
        folder: folder of the profile.
        place: folder of the model, if it is elsewhere.
    """
    return read_json(
        (place or folder / layout.model(model)) / "training.json",
        Annotated[dict[str, TrainingSummary], Field(min_length=1)],
    )


def read_measurement(model: str, folder: Path = Path()) -> Measurement | None:
    """The measured cost of training a model, where it was trained; None if unknown here."""
    path = folder / layout.measured("train", model)
    return Measurement.model_validate(read_json(path, Measurement)) if path.exists() else None


def read_judge(key: str, params: Params) -> nn.Module | None:
    """The judge model of a run, with its lowest seed; None if the run names none."""
    from espalier.models.serialization import load_model

    return None if key == layout.NONE else load_model(layout.model(key), min(params.models[key].seeds))[0].to(device())


def write_metrics(group: str, key: str, numbers: Mapping[str, float | None], details: Mapping[str, Any]) -> None:
    """Write the numbers that DVC compares to `metrics/<group>/<key>.json`, and all others to `metrics/details/...`."""
    write_json(layout.metrics(group, key), numbers)
    write_json(layout.details(group, key), details)
