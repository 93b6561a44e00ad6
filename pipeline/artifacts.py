"""Artifacts that several stages read and write."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from espalier.corpora.records import Row, records_of
from espalier.datasets.encoding import Encoding
from espalier.io.files import read_json, write_json
from espalier.io.tables import read_table
from espalier.tasks.task import Ready
from pipeline import layout


def read_records(folder: Path, name: str, kind: type[Row]) -> list[Row]:
    """The records of one table of a folder."""
    return records_of(read_table(folder / f"{name}.parquet"), kind)


def read_ready(dataset: str, split: str, kind: Encoding) -> Ready:
    """A split of `data/ready/<dataset>/`, ids and records; any but the training split, whose records are not kept."""
    folder = layout.ready(dataset)
    vocabulary = kind.vocabulary.load(folder / "vocabulary.json")
    return Ready(
        records=read_records(folder, f"{split}.records", kind.record),  # type: ignore[type-var]
        data=kind.split.load(folder / f"{split}.parquet", vocabulary),
        extras={file.stem: read_json(file) for file in folder.glob("*.json") if file.stem != "vocabulary"},
        unfit=len(read_table(folder / f"{split}.quarantine.parquet")),
    )


def write_metrics(group: str, key: str, numbers: Mapping[str, float | None], details: Mapping[str, Any]) -> None:
    """Numbers for DVC to show and compare in `metrics/<group>/<key>.json`, all else in `details/<group>/<key>.json`."""
    write_json(layout.metrics(group, key), numbers)
    write_json(layout.details(group, key), details)
