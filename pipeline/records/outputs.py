"""Writing the outputs and scores of runs and of rows without a trained model."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import pandas as pd
import pyarrow as pa

from espalier.cli.progress import say
from espalier.datasets.encoding import Split
from espalier.io.chunks import read_chunks, table_writer
from espalier.io.files import together
from espalier.io.tables import write_table
from espalier.tasks.data import Outputs
from espalier.tasks.scoring import scored
from espalier.tasks.settings import Scoring
from espalier.tasks.task import ScoringTask
from pipeline import layout
from pipeline.records.artifacts import write_metrics

Data_ = TypeVar("Data_", bound=Split[Any, Any, Any])
Scoring_ = TypeVar("Scoring_", bound=Scoring)


class OutputParts:
    """Output rows that wait in files until all are known, and then become one table: `with OutputParts(folder) as`.

    The table is written at the end, since its metadata is before its rows, and the types of its columns are those of
    all rows.

    Args:
        folder: where the rows wait; it is empty at the beginning, and deleted at the end.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._files = folder, list[Path]()
        self._schemas = list[pa.Schema]()

    def __enter__(self) -> Self:
        shutil.rmtree(self._folder, ignore_errors=True)  # of a killed process
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def add(self, rows: pd.DataFrame) -> None:
        """Append rows."""
        table = pa.Table.from_pandas(rows, preserve_index=False)
        self._files.append(self._folder / f"{len(self._files)}.parquet")
        self._schemas.append(table.schema)
        write_table(self._files[-1], table)

    def write(self, path: Path, dev: Sequence[pd.DataFrame | None], facts: Mapping[str, str], at_once: int) -> None:
        """Write all rows, with dev likelihoods and `facts` in the metadata, `at_once` rows in memory at a time."""
        schema = pa.unify_schemas(self._schemas, promote_options="permissive")
        with table_writer(path, schema, _metadata(dev, facts)) as append:
            for file in self._files:
                for chunk in read_chunks(file, at_once):
                    append(chunk)


def write_outputs(path: Path, table: pd.DataFrame, dev: pd.DataFrame | None, facts: Mapping[str, str]) -> None:
    """Write output rows as a table, with dev likelihoods and `facts` in its metadata."""
    write_table(path, table, _metadata([dev], facts))


def _metadata(dev: Sequence[pd.DataFrame | None], facts: Mapping[str, str]) -> dict[str, str]:
    others = [table for table in dev if table is not None]
    more = {"dev": json.dumps(pd.concat(others, ignore_index=True).to_dict("list"))} if others else {}
    return {**facts, **more}


def write_scores(
    group: str,
    key: str,
    kind: ScoringTask[Data_, Any, Any, Scoring_],
    outputs: Outputs[Data_],
    scoring: Scoring_,
    settings: Mapping[str, Any],
) -> None:
    """Score outputs, and write their metrics, details and segments."""
    segments, numbers, details = scored(kind, outputs, scoring)
    with together():
        write_table(layout.segments(group, key), segments)
        write_metrics(group, key, numbers, {**details, "settings": settings})
    say(f"{key}: {', '.join(f'{name} {value:,}' for name, value in numbers.items())}")
