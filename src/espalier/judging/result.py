"""The result of a study as files: the numbers that DVC compares, and all details, which reports read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, Field

from espalier.io.files import Finite
from espalier.judging.agreement import COEFFICIENTS, Agreement
from espalier.judging.means import Estimate
from espalier.judging.sample import Sample
from espalier.judging.score import Judged, Panel
from espalier.judging.stand_ins import StandIn
from espalier.metrics.metric import rounded, signature_of

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
#: What the names of judged scores begin with, and why such a score is missing.
PREFIX: Final = "judged_"
NO_RATINGS: Final = "no ratings yet"
DECODED_ANEW: Final = "rated before the run was decoded anew"


class RunScores(BaseModel):
    """The judged scores of a system, as the details of a run have them."""

    scores: Annotated[dict[str, Finite | None], Field(min_length=1)]
    intervals: dict[str, tuple[Finite, Finite] | None]
    signatures: dict[str, str]
    undefined: dict[str, str]


class JudgedDetails(BaseModel):
    """The part of `metrics/details/<paper>/judged/<protocol>.json` that a report reads."""

    kind: Literal["judged"]
    outputs: dict[str, str]
    systems: dict[str, RunScores]


def numbers_of(result: Panel) -> dict[str, float]:
    """The means, or the shares of win, tie and loss, by "system.measure"."""
    numbers = {}
    for line in result.systems:
        for name, estimate in line.measures.items():
            if estimate.value is not None and not name.rpartition("_")[2].isdecimal():
                numbers[f"{line.system}.{name}"] = round(float(f"{estimate.value:.5g}"), 4)
    return numbers


def details_of(sample: Sample, judged: Judged, beside: Sequence[StandIn], *, leave_out: bool) -> dict[str, JsonValue]:
    """All of a result.

    Args:
        beside: the stand-ins.
        leave_out: whether `systems`, which reports show, is of those raters alone who passed the checks. `panels` has
            both results always.
    """
    shown = headline(judged, leave_out=leave_out)
    return {
        "kind": "judged",
        "protocol": sample.name,
        "sample": sample.hash,
        "profile": sample.profile,
        "outputs": sample.outputs,
        "raters": [
            {**asdict(line), "with_others": rounded(line.with_others), "failed": line.failed} for line in judged.raters
        ],
        "systems": {line.system: _scores(sample, shown, line.system) for line in shown.systems},
        "panels": {
            "all raters": _panel(judged.everyone),
            **({} if judged.passed is None else {"those who passed the checks": _panel(judged.passed)}),
        },
        "stand_ins": [
            {
                "criterion": each.criterion,
                "metric": each.metric,
                "means": {system: rounded(value) for system, value in each.means.items()},
                "correlation": rounded(each.correlation),
                "interval": _pair(each.interval),
                "texts": each.texts,
            }
            for each in beside
        ],
    }


def headline(judged: Judged, *, leave_out: bool) -> Panel:
    """The panel whose numbers are shown."""
    return judged.passed if leave_out and judged.passed is not None else judged.everyone


def _scores(sample: Sample, panel: Panel, system: str) -> dict[str, JsonValue]:
    """The scores of a system in the form of a run's details."""
    line = next(line for line in panel.systems if line.system == system)
    signature = signature_of("judged", protocol=sample.name, sample=sample.hash, raters=len(panel.raters))
    readings = {name: (each.value, each.low, each.high) for name, each in line.measures.items()}
    for criterion, agreement in line.kappa.items():
        readings[f"{criterion}_kappa"] = (agreement.value, *(agreement.interval or (None, None)))
    return {
        "scores": {PREFIX + name: rounded(value) for name, (value, _, _) in readings.items()},
        "intervals": {
            PREFIX + name: None if low is None else [rounded(low), rounded(high)]
            for name, (_, low, high) in readings.items()
        },
        "signatures": {PREFIX + name: f"{signature}|n:{line.texts}" for name in readings},
        "undefined": {
            PREFIX + name: "no rating" if name in line.measures else "undefined with these answers"
            for name, (value, _, _) in readings.items()
            if value is None
        },
    }


def _panel(panel: Panel) -> dict[str, JsonValue]:
    return {
        "raters": panel.raters,
        "systems": {
            line.system: {
                "texts": line.texts,
                "empty": line.empty,
                "measures": {name: _estimate(each) for name, each in line.measures.items()},
                "kappa": {name: _agreement(each) for name, each in line.kappa.items()},
            }
            for line in panel.systems
        },
        "agreement": {
            criterion: {COEFFICIENTS[each.coefficient]: _agreement(each) for each in found}
            for criterion, found in panel.agreement.items()
        },
        "correction": "holm",
        "claims": [
            {
                "better": line.claim.better,
                "worse": line.claim.worse,
                "criterion": line.criterion,
                "level": line.claim.level,
                "gain": _estimate(line.gain),
                "p_holm": rounded(line.p_holm),
                "verdict": line.verdict,
            }
            for line in panel.claims
        ],
    }


def _estimate(each: Estimate) -> dict[str, JsonValue]:
    interval = None if each.low is None else [rounded(each.low), rounded(each.high)]
    return {"value": rounded(each.value), "interval": interval, "p": rounded(each.p), "ratings": each.ratings}


def _agreement(each: Agreement) -> dict[str, JsonValue]:
    return {
        "value": rounded(each.value),
        "interval": _pair(each.interval),
        "units": each.units,
        "meaning": each.meaning,
    }


def _pair(interval: tuple[float, float] | None) -> JsonValue:
    return None if interval is None else [rounded(interval[0]), rounded(interval[1])]
