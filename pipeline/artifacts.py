"""Artifacts that several stages read and write."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from espalier.corpora.readers import READERS
from espalier.corpora.records import Row, records_of
from espalier.datasets.encoding import Encoding
from espalier.io.files import read_json, write_json
from espalier.io.tables import read_table
from espalier.tasks.task import Ready
from pipeline import layout
from pipeline.params import Corpus, Params, read_yaml

#: The JSON files of a ready dataset that are of every encoding.
NO_EXTRAS = ("vocabulary", "details")


def read_records(folder: Path, name: str, kind: type[Row]) -> list[Row]:
    """The records of one table of a folder."""
    return records_of(read_table(folder / f"{name}.parquet"), kind)


def read_ready(dataset: str, split: str, kind: Encoding) -> Ready:
    """A split of `data/ready/<dataset>/`, ids and records; any but the training split, whose records are not kept."""
    folder = layout.ready(dataset)
    vocabulary = kind.vocabulary.load(folder / "vocabulary.json")
    return Ready(
        records=read_records(folder, f"{split}.records", kind.record),
        data=kind.split.load(folder / f"{split}.parquet", vocabulary),
        extras={file.stem: read_json(file) for file in folder.glob("*.json") if file.stem not in NO_EXTRAS},
        unfit=len(read_table(folder / f"{split}.quarantine.parquet")),
    )


def lexicon_of(source: str) -> Path | None:
    """The folder of a source with WordNet's files; None for none."""
    return None if source == layout.NONE else layout.raw(source)


def judge_of(corpus: Corpus) -> Callable[[list[str]], bool] | None:
    """Says of a text's words whether the grammar that grew the corpus allows them; None for published corpora."""
    judge = READERS[corpus.reader].judge
    return pkgutil.resolve_name(judge) if isinstance(judge, str) else judge


def run_settings(key: str, params: Params) -> dict[str, Any]:
    """What a run's details say of how it was made."""
    run = params.runs[key]
    model = params.models[run.model]
    training = read_json(layout.model(run.model) / "training.json")
    elsewhere = layout.provenance(run.model)
    return {
        "task": run.task,
        "model": run.model,
        "dataset": run.dataset,
        "split": run.split,
        "decoder": run.decoder,
        "scoring": run.scoring,
        "samples": run.samples,
        "seed": run.seed,
        "seeds": list(model.seeds),
        "parameters": next(iter(training.values()))["parameters"],
        "steps": {seed: values["steps"] for seed, values in training.items()},
        **({"provenance": read_json(elsewhere)} if elsewhere.exists() else {}),
    }


def read_versions() -> dict[str, Any]:
    """The versions of all components, from versions.yaml."""
    return read_yaml(layout.ROOT / "versions.yaml")


def write_metrics(group: str, key: str, numbers: Mapping[str, float | None], details: Mapping[str, Any]) -> None:
    """Numbers for DVC to show and compare in `metrics/<group>/<key>.json`, all else in `details/<group>/<key>.json`."""
    write_json(layout.metrics(group, key), numbers)
    write_json(layout.details(group, key), details)
