"""Training times as multiples of one model's (C-DNPG, table 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from espalier.report.results import TrainingResult


def relative(trainings: Sequence[TrainingResult], unit: str) -> list[TrainingResult]:
    """The trainings with two more scores, each a multiple of that of the model `unit` of the same profile.

    `time_ratio` is of the hours, and `token_time_ratio` of the time for a token, which early stopping does not change.
    Times of two machines are not compared.
    """
    units = {training.profile: training for training in trainings if training.key == unit}
    return [_relative(training, units.get(training.profile), unit) for training in trainings]


def _relative(training: TrainingResult, unit: TrainingResult | None, name: str) -> TrainingResult:
    if unit is None or unit.machine != training.machine:
        why = f"{name} was not measured" if unit is None else f"{name} was trained on another machine: {unit.machine}"
        return replace(training, undefined=dict.fromkeys(("time_ratio", "token_time_ratio"), why))
    ratios = {
        "time_ratio": _ratio(training.scores.get("hours"), unit.scores.get("hours")),
        "token_time_ratio": _ratio(unit.scores.get("tokens_per_second"), training.scores.get("tokens_per_second")),
    }
    return replace(training, scores={**training.scores, **ratios})


def _ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None
