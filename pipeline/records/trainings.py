"""What is kept of trainings: their hours and their curves."""

from __future__ import annotations

import csv
import math
from pathlib import Path

from espalier.io.errors import ArtifactError, MissingError
from espalier.report.benchmarks import load_benchmark
from espalier.report.printed import Printed
from espalier.report.results import Curve, TrainingResult
from pipeline import layout
from pipeline.params.entries import Params
from pipeline.records.artifacts import Measurement, read_measurement


def measurement_of(model: str, params: Params) -> Measurement | None:
    """The measured cost of training a model; None in the nursery."""
    return None if params.profile == "nursery" else read_measurement(model)


def trainings_of(params: Params, paper: str, printed: Printed) -> list[TrainingResult]:
    """The hours of each training of the paper, and the time per step in the benchmarks named by its tables."""
    steps: dict[str, float] = {}  # by the model's title
    for name in filter(None, (table.benchmark for table in printed.tables)):
        steps |= load_benchmark(layout.ROOT / "benchmarks" / "results" / f"{name}.json").ratios(params.profile)
    trainings = []
    for key, model in params.models.items():
        if model.paper != paper:
            continue
        measured = measurement_of(key, params)
        scores = measured.scores if measured else {}
        if model.title in steps:
            scores["step_ratio"] = steps[model.title]
        if scores:
            machine = measured.machine if measured else ""
            trainings.append(TrainingResult(key=key, profile=params.profile, machine=machine, scores=scores))
    return trainings


def curves_of(params: Params, paper: str) -> list[Curve]:
    """The curves of the paper's models that are here.

    Raises:
        MissingError: a model that is here has none.
    """
    curves = []
    for key, model in params.models.items():
        file = layout.curve(paper, key)
        if model.paper == paper and file.exists():
            curves.append(Curve(model=key, profile=params.profile, points=_points(file, model.seeds[0])))
        elif model.paper == paper and layout.model(key).exists():
            raise MissingError("no such file", where=file)
    return curves


def _points(path: Path, seed: int) -> list[tuple[int, float, float]]:
    """Step, training loss and dev loss of one seed.

    Raises:
        ArtifactError: the file lacks these numbers.
    """
    points = []
    with path.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.reader(file), 1):
            try:
                if number == 1:
                    if row != list(layout.CURVE_COLUMNS):
                        raise ValueError
                elif int(row[0]) == seed:
                    points.append((int(row[1]), _finite(row[2]), _finite(row[3])))
            except (ValueError, IndexError) as error:
                raise ArtifactError(
                    f"row {number} is no {', '.join(layout.CURVE_COLUMNS)}", where=path, remedy="train the model again"
                ) from error
    return points


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError
    return value
