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
from espalier.judging.score import Judged, Panel, SystemLine
from espalier.judging.stand_ins import StandIn
from espalier.metrics.metric import rounded, signature_of

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
#: What the names of judged scores begin with, and why such a score is missing.
PREFIX: Final = "judged_"
NO_RATINGS: Final = "no ratings yet"
DECODED_ANEW: Final = "rated before the run was decoded anew"
#: The names of the two results.
ALL: Final = "all raters"
PASSED: Final = "those who passed the checks"


class RunScores(BaseModel):
    """The judged scores of a system, as the details of a run have them."""

    scores: Annotated[dict[str, Finite | None], Field(min_length=1)]
    intervals: dict[str, tuple[Finite, Finite] | None]
    signatures: dict[str, str]
    undefined: dict[str, str]


class Reading(BaseModel):
    """A value with its interval; for agreement, what it means."""

    value: Finite | None
    interval: tuple[Finite, Finite] | None = None
    meaning: str = ""


class ClaimDetails(BaseModel):
    """A claim with its verdict."""

    better: str
    worse: str
    criterion: str
    level: int | None
    gain: Reading
    p_holm: Finite | None
    verdict: str


class PanelDetails(BaseModel):
    """The part of a panel's result that a report shows."""

    raters: tuple[str, ...]
    agreement: dict[str, dict[str, Reading]]
    claims: tuple[ClaimDetails, ...]


class RaterDetails(BaseModel):
    """A rater, and whether the rater failed the checks."""

    rater: str
    failed: bool


class StandInDetails(BaseModel):
    """An automatic metric beside a criterion."""

    criterion: str
    metric: str
    means: dict[str, Finite]
    correlation: Finite | None
    interval: tuple[Finite, Finite] | None


class JudgedDetails(BaseModel):
    """The part of `metrics/details/<paper>/judged/<protocol>.json` that a report reads.

    Attributes:
        outputs: SHA-256 of the judged outputs, by run.
        systems: scores of each system by the raters who are shown; `shown` is their whole result.
        panels: results of all raters, and of those who passed the checks if some failed.
    """

    kind: Literal["judged"]
    protocol: str
    sample: str
    left_out: bool
    outputs: dict[str, str]
    raters: tuple[RaterDetails, ...]
    systems: dict[str, RunScores]
    panels: Annotated[dict[str, PanelDetails], Field(min_length=1, max_length=2)]
    stand_ins: tuple[StandInDetails, ...]

    @property
    def shown(self) -> PanelDetails:
        """The result of the raters whose ratings are shown."""
        return self.panels.get(PASSED, self.panels[ALL]) if self.left_out else self.panels[ALL]


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
        "systems": {line.system: _scores(sample, shown, line) for line in shown.systems},
        "left_out": leave_out,
        "panels": {ALL: _panel(judged.everyone), **({} if judged.passed is None else {PASSED: _panel(judged.passed)})},
        "stand_ins": _stand_ins(beside),
    }


def waiting_details(sample: Sample, beside: Sequence[StandIn]) -> dict[str, JsonValue]:
    """What is known before there are ratings."""
    return {"kind": "waiting", "protocol": sample.name, "sample": sample.hash, "stand_ins": _stand_ins(beside)}


def _stand_ins(beside: Sequence[StandIn]) -> list[JsonValue]:
    return [
        {
            "criterion": each.criterion,
            "metric": each.metric,
            "means": {system: rounded(value) for system, value in each.means.items()},
            "correlation": rounded(each.correlation),
            "interval": _pair(each.interval),
            "texts": each.texts,
        }
        for each in beside
    ]


def headline(judged: Judged, *, leave_out: bool) -> Panel:
    """The panel whose numbers are shown."""
    return judged.passed if leave_out and judged.passed is not None else judged.everyone


def _scores(sample: Sample, panel: Panel, line: SystemLine) -> dict[str, JsonValue]:
    """The scores of a system in the form of a run's details."""
    signature = signature_of("judged", protocol=sample.name, sample=sample.hash, raters=len(panel.raters))
    readings: dict[str, Estimate | Agreement] = {
        **line.measures,
        **{f"{criterion}_kappa": each for criterion, each in line.kappa.items()},
    }
    return {
        "scores": {PREFIX + name: rounded(each.value) for name, each in readings.items()},
        "intervals": {PREFIX + name: _pair(each.interval) for name, each in readings.items()},
        "signatures": {PREFIX + name: f"{signature}|n:{line.texts}" for name in readings},
        "undefined": {
            PREFIX + name: "no rating" if name in line.measures else "undefined with these answers"
            for name, each in readings.items()
            if each.value is None
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
    return {
        "value": rounded(each.value),
        "interval": _pair(each.interval),
        "p": rounded(each.p),
        "ratings": each.ratings,
    }


def _agreement(each: Agreement) -> dict[str, JsonValue]:
    return {
        "value": rounded(each.value),
        "interval": _pair(each.interval),
        "units": each.units,
        "meaning": each.meaning,
    }


def _pair(interval: tuple[float, float] | None) -> JsonValue:
    return None if interval is None else [rounded(interval[0]), rounded(interval[1])]
