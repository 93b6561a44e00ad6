"""Artifacts that the stages of every form read and write in one way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from espalier.corpora.records import Quarantined, Row, records_of, table_of
from espalier.io.errors import DataError
from espalier.io.files import atomic_folder, write_json
from espalier.io.tables import read_table, write_table
from espalier.metrics.bootstrap import Array
from espalier.metrics.metric import Score, details_json
from pipeline import layout
from pipeline.params import Run


class Saved(Protocol):
    """What can be written to a file."""

    def save(self, path: Path) -> None:
        """Write it."""


def read_split(corpus: str, split: str, kind: type[Row]) -> list[Row]:
    """The records of one split of a corpus."""
    return records_of(read_table(layout.corpus(corpus) / f"{split}.parquet"), kind)


def write_ready(
    key: str, vocabulary: Saved, splits: Mapping[str, Saved], aside: Iterable[Quarantined], **more: Any
) -> None:
    """Make `data/ready/<key>/` whole: the vocabulary, one table a split, what did not fit, and JSON files by name."""
    with atomic_folder(layout.ready(key)) as folder:
        vocabulary.save(folder / "vocabulary.json")
        for name, data in splits.items():
            data.save(folder / f"{name}.parquet")
        write_table(folder / "quarantine.parquet", table_of(aside, Quarantined))
        for name, value in more.items():
            write_json(folder / f"{name}.json", value)


def write_metrics(group: str, key: str, numbers: Mapping[str, float | None], details: Mapping[str, Any]) -> None:
    """Numbers for DVC to show and compare in `metrics/<group>/<key>.json`, all else in `details/<group>/<key>.json`."""
    write_json(layout.metrics(group, key), numbers)
    write_json(layout.details(group, key), details)


def write_scores(
    key: str,
    run: Run,
    rows: pd.DataFrame,
    statistics: Mapping[str, Array],
    found: Mapping[str, Score],
    counts: Mapping[str, int],
) -> None:
    """The scores of a run as JSON, and the statistics that they are made of beside the ids of their rows."""
    columns = {
        f"{family}.{place}": values[:, place]
        for family, values in statistics.items()
        for place in range(values.shape[1])
    }
    segments = pd.concat([rows[["id", "cluster", "seed", "sample"]], pd.DataFrame(columns)], axis=1)
    write_table(layout.segments(run.paper, key), segments)
    write_json(layout.metrics(run.paper, key), {**details_json(found), "counts": counts})


def fits_none(run: Run, count: int, what: str) -> DataError:
    """The error of a model that has ids for none of the `count` rows of a run's split."""
    return DataError(
        f"model {run.model} fits none of {count} {what}",
        file=layout.corpus(run.corpus) / f"{run.split}.parquet",
        remedy="choose a corpus of its kind",
    )
