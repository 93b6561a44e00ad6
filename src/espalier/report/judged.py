"""What people say of the runs, in a report: their scores beside the printed ones, and how each study was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from espalier.judging.protocol import REFERENCE
from espalier.judging.result import DECODED_ANEW, NO_RATINGS, PREFIX, JudgedDetails, Reading
from espalier.report.printed import Printed
from espalier.report.results import RunResult
from espalier.report.tables import number
from espalier.report.verdicts import probability


@dataclass(frozen=True, slots=True)
class Judging:
    """A study, as lists of cells.

    Attributes:
        raters: number of raters whose ratings are shown; `left_out` names the others.
        agreement: criterion, coefficient, value, what it means.
        claims: claim, gain, adjusted p, verdict.
        stand_ins: criterion, automatic metric, its mean for each system, correlation with the ratings.
        stale: runs that were decoded anew since.
    """

    protocol: str
    sample: str
    raters: int
    left_out: tuple[str, ...]
    agreement: tuple[tuple[str, str, str, str], ...]
    claims: tuple[tuple[str, str, str, str], ...]
    stand_ins: tuple[tuple[str, str, str, str], ...]
    stale: tuple[str, ...]


def with_judged(
    printed: Printed, results: Sequence[RunResult], studies: Sequence[JudgedDetails], now: Mapping[str, str]
) -> list[RunResult]:
    """The results with the scores that people gave them; a missing one has its reason.

    Args:
        studies: studies of the paper's runs.
        now: hash of the present outputs of each judged run. Ratings of other outputs are not shown.
    """
    columns = {ours.metric for column in printed.columns.values() for ours in column.ours}
    missing = {name: NO_RATINGS for name in columns if name.startswith(PREFIX)}
    if not missing and not studies:
        return list(results)
    return [_with_scores(run, missing, studies, results, now) for run in results]


def _with_scores(
    run: RunResult,
    missing: Mapping[str, str],
    studies: Sequence[JudgedDetails],
    results: Sequence[RunResult],
    now: Mapping[str, str],
) -> RunResult:
    scores, intervals = dict(run.scores), dict(run.intervals)
    signatures, undefined = dict(run.signatures), {**missing, **run.undefined}
    datasets = {other.key: other.dataset for other in results}
    for study in studies:
        # The references of the judged runs are a row of their dataset.
        is_reference = run.row == "human" and run.dataset in {datasets.get(key) for key in study.outputs}
        own = study.systems.get(REFERENCE if is_reference else run.key)
        if own is None:
            continue
        if _stale(study, now, "" if is_reference else run.key):
            undefined |= dict.fromkeys(own.scores, DECODED_ANEW)
            continue
        scores |= own.scores
        intervals |= own.intervals
        signatures |= own.signatures
        undefined = {name: why for name, why in undefined.items() if name not in own.scores} | own.undefined
    metrics = {"scores": scores, "intervals": intervals, "signatures": signatures, "undefined": undefined}
    return replace(run, metrics={**run.metrics, **metrics})


def _stale(study: JudgedDetails, now: Mapping[str, str], key: str) -> list[str]:
    """The runs of a study that were decoded anew: in pairs any of them, else the named one; for "" any."""
    pairs = any(name.endswith("_win") for scores in study.systems.values() for name in scores.scores)
    return [run for run, sha in study.outputs.items() if now.get(run) != sha and (pairs or key in ("", run))]


def judgings_of(studies: Sequence[JudgedDetails], now: Mapping[str, str]) -> tuple[Judging, ...]:
    """The studies for display."""
    return tuple(_judging(study, now) for study in studies)


def _judging(study: JudgedDetails, now: Mapping[str, str]) -> Judging:
    shown = study.shown
    names = {line.rater for line in study.raters}
    return Judging(
        protocol=study.protocol,
        sample=study.sample,
        raters=len(shown.raters),
        left_out=tuple(sorted(names - set(shown.raters))),
        agreement=tuple(
            (criterion, name, _cell(each), each.meaning)
            for criterion, found in shown.agreement.items()
            for name, each in found.items()
        ),
        claims=tuple(
            (
                f"{line.better} over {line.worse}, {line.criterion}"
                + ("" if line.level is None else f", level {line.level}"),
                _cell(line.gain),
                probability(line.p_holm),
                line.verdict,
            )
            for line in shown.claims
        ),
        stand_ins=tuple(
            (
                line.criterion,
                line.metric,
                "; ".join(f"{system} {number(value, 3)}" for system, value in line.means.items()),
                _cell(Reading(value=line.correlation, interval=line.interval)),
            )
            for line in study.stand_ins
        ),
        stale=tuple(run for run, sha in study.outputs.items() if now.get(run) != sha),
    )


def _cell(each: Reading) -> str:
    """A value with its interval."""
    if each.interval is None:
        return number(each.value, 2)
    return f"{number(each.value, 2)} ({number(each.interval[0], 2)} to {number(each.interval[1], 2)})"
