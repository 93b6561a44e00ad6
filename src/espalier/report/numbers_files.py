"""The numbers of a report for other programs: the tables as CSV, and all numbers behind the verdicts as JSON."""

import csv
from collections.abc import Callable
from io import StringIO
from typing import Any, NotRequired

from typing_extensions import TypedDict

from espalier.metrics.metric import rounded
from espalier.report.build import Report
from espalier.report.comparisons import RESAMPLES, SEED
from espalier.report.orderings import Ordering, printed_reading
from espalier.report.printed import Column, Printed, PrintedOrdering
from espalier.report.tables import Reading
from espalier.report.verdicts import SEEDS, SIGNIFICANT, Measure

#: Why an ordering has no comparison of this report.
EARLIER = "compared by an earlier report"


class WrittenMeasure(TypedDict):
    """A measure in a file of orderings, as far as it is read back."""

    metric: str
    printed_as: NotRequired[str]
    direction: str
    ours: list[float | None]
    effect: float | None
    interval: list[float] | None
    effect_as_printed: NotRequired[float | None]
    interval_as_printed: NotRequired[list[float] | None]
    p: float | None
    better_than_both: str


class WrittenOrdering(TypedDict):
    """An ordering in a file of orderings, as far as it is read back."""

    better: str
    worse: str
    profile: str
    margin: float | None
    p: float | None
    seeds: tuple[int, int]
    steps: tuple[str, str]
    clusters: int
    segments: int
    segments_left_out: int
    measures: list[WrittenMeasure]


class WrittenOrderings(TypedDict):
    """A file of orderings, as far as it is read back."""

    resamples: int
    resampling_seed: int
    orderings: list[WrittenOrdering]


def orderings_json(report: Report) -> dict[str, Any]:
    """The orderings of a report, with numbers of 6 significant digits; unknown ones are null."""
    return {
        "paper": report.paper.key,
        "significant": SIGNIFICANT,
        "seeds_needed": SEEDS,
        "confidence": 0.95,
        "correction": "holm",
        "resamples": RESAMPLES,
        "resampling_seed": SEED,
        "orderings": [_ordering(ordering) for ordering in report.orderings],
    }


def _ordering(ordering: Ordering) -> dict[str, Any]:
    return {
        "claim": ordering.claim,
        "better": ordering.better,
        "worse": ordering.worse,
        "profile": ordering.profile,
        "margin": ordering.margin,
        "verdict": ordering.verdict,
        "why": ordering.why,
        "p": rounded(ordering.p),
        "p_holm": rounded(ordering.adjusted),
        "seeds": list(ordering.seeds),
        "steps": list(ordering.steps),
        "clusters": ordering.clusters,
        "segments": ordering.segments,
        "segments_left_out": ordering.left_out,
        "measures": [_measure(ordering, measure) for measure in ordering.measures],
    }


def _measure(ordering: Ordering, measure: Measure) -> dict[str, Any]:
    by = measure.column.printed_as
    return {
        "metric": measure.column.metric,
        **({"printed_as": by, **_effect(measure.as_printed, "_as_printed")} if by else {}),
        "direction": measure.column.better,
        "printed": _values(measure.printed),
        "printed_effect": rounded(measure.printed_gain),
        "printed_effect_excluded": ordering.excludes(measure),
        "ours": _values(measure.ours),
        **_effect(measure.gain),
        "p": rounded(measure.p),
        "better_than_both": measure.beaten_by,
    }


def _effect(gain: Reading, suffix: str = "") -> dict[str, Any]:
    interval = None if gain.low is None else [rounded(gain.low), rounded(gain.high)]
    return {f"effect{suffix}": rounded(gain.value), f"interval{suffix}": interval}


def _values(readings: tuple[Reading, Reading]) -> list[float | None]:
    return [rounded(reading.value) for reading in readings]


def orderings_from(
    content: WrittenOrderings, printed: Printed, score_of: Callable[[str, str], float | None]
) -> list[Ordering]:
    """The orderings of `orderings_json` that are still true, with the claim's present words and printed numbers.

    An ordering is left out if it has no p-value, if it was computed in another way, if the paper no longer claims it,
    or if a score of a run has changed.

    Args:
        score_of: the present score of a run, or None, by the keys of the run and the metric.
    """
    if (content["resamples"], content["resampling_seed"]) != (RESAMPLES, SEED):
        return []
    orderings = []
    for one in content["orderings"]:
        pair, measures = (one["better"], one["worse"]), one["measures"]
        claim = printed.claim_of(*pair, tuple(measure["metric"] for measure in measures), one["margin"])
        if claim is None or one["p"] is None:
            continue
        columns = [printed.columns[name] for name in claim.columns]
        now = [(column.better, [rounded(score_of(run, column.metric)) for run in pair]) for column in columns]
        then = [(measure["direction"], measure["ours"]) for measure in measures]
        if now == then:
            orderings.append(_ordering_from(one, claim, printed))
    return orderings


def _ordering_from(one: WrittenOrdering, claim: PrintedOrdering, printed: Printed) -> Ordering:
    pair = (claim.better, claim.worse)
    measures = [
        Measure(
            column := printed.columns[name],
            (printed_reading(printed, pair[0], name), printed_reading(printed, pair[1], name)),
            (Reading(measure["ours"][0]), Reading(measure["ours"][1])),
            gain := _gain(measure["effect"], measure["interval"]),
            measure["p"],
            _gain_as_printed(measure, column, gain),
            measure["better_than_both"],
        )
        for name, measure in zip(claim.columns, one["measures"], strict=True)
    ]
    return Ordering(
        claim.words,
        *pair,
        one["profile"],
        claim.margin,
        tuple(measures),
        (one["seeds"][0], one["seeds"][1]),
        one["clusters"],
        one["segments"],
        one["segments_left_out"],
        one["p"],
        (one["steps"][0], one["steps"][1]),
        why=EARLIER,
    )


def _gain_as_printed(measure: WrittenMeasure, column: Column, gain: Reading) -> Reading:
    """The gain that compares with the printed values; without a value if the file has it by another metric."""
    if not column.printed_as:
        return gain
    if measure.get("printed_as") != column.printed_as:
        return Reading(None)
    return _gain(measure.get("effect_as_printed"), measure.get("interval_as_printed"))


def _gain(effect: float | None, interval: list[float] | None) -> Reading:
    return Reading(effect, *(interval or ()))


HEADINGS = (
    "table", "row", "kind", "profile", "tags", "column", "better", "value", "low", "high", "spread", "why",
)  # fmt: skip


def render_csv(report: Report) -> str:
    """All printed and measured numbers of all tables, and the reasons for missing ones."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADINGS)
    for table in report.tables:
        for line in table.lines:
            for column, reading in zip(table.columns, line.cells, strict=True):
                if reading.value is None and not reading.why:
                    continue
                numbers = (reading.value, reading.low, reading.high, reading.spread)
                about = (table.title, line.label, line.kind, line.profile, " · ".join(line.tags))
                written = ("" if each is None else f"{each:.6g}" for each in numbers)
                writer.writerow([*about, column.heading, column.better or "", *written, reading.why])
    return out.getvalue()
