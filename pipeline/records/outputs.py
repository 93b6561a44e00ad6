"""Writing the outputs and scores of runs and of rows without a trained model."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from espalier.cli.progress import say
from espalier.datasets.encoding import Split
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


def write_outputs(
    path: Path, tables: Sequence[pd.DataFrame], dev: Sequence[pd.DataFrame | None], facts: Mapping[str, str]
) -> None:
    """Write the output rows of all seeds as one table, with dev likelihoods and `facts` in its metadata."""
    others = [table for table in dev if table is not None]
    more = {"dev": json.dumps(pd.concat(others, ignore_index=True).to_dict("list"))} if others else {}
    write_table(path, pd.concat(tables, ignore_index=True), {**facts, **more})


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
