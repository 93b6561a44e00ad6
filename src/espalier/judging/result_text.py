"""A result as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from espalier.judging.agreement import COEFFICIENTS, Agreement
from espalier.judging.means import Estimate
from espalier.judging.result import NO_RATINGS
from espalier.judging.sample import Sample
from espalier.judging.score import Judged, Panel, RaterLine
from espalier.judging.stand_ins import StandIn

_NONE: Final = "–"


def result_text(sample: Sample, judged: Judged, beside: Sequence[StandIn], *, leave_out: bool) -> str:
    """Raters, systems, agreement, claims and stand-ins. With `leave_out` those who passed the checks come first."""
    panels = [("All raters", judged.everyone)]
    if judged.passed is not None:
        failed = ", ".join(line.rater for line in judged.raters if line.failed)
        panels.append((f"Without {failed}, who failed the checks", judged.passed))
    if leave_out:
        panels.reverse()
    parts = [_head(sample), _raters(judged.raters)]
    for title, panel in panels:
        parts += [f"{title} ({len(panel.raters)})", _systems(sample, panel), _agreement(panel)]
        if panel.claims:
            parts.append(_claims(panel))
    return "\n\n".join([*parts, *_stand_ins(beside)])


def waiting_text(sample: Sample, beside: Sequence[StandIn]) -> str:
    """The systems before there are ratings, with the stand-ins."""
    rows = [
        ["system", *sample.protocol.criteria],
        *([system, *[NO_RATINGS] * len(sample.protocol.criteria)] for system in sample.protocol.systems),
    ]
    return "\n\n".join([_head(sample), _columns(rows), *_stand_ins(beside)])


def _head(sample: Sample) -> str:
    return f"{sample.name}, sample {sample.hash}: {sample.protocol.title}, {sample.protocol.inputs} inputs"


def _raters(lines: Sequence[RaterLine]) -> str:
    rows = [["rater", "answers", "checks failed", "repeats alike", "with the others", ""]]
    for line in lines:
        together = _NONE if line.with_others is None else f"{line.with_others:.2f}"
        same = f"{line.same} of {line.again}"
        rows.append(
            [line.rater, str(line.answers), f"{line.wrong} of {line.checks}", same, together, "FAILED" * line.failed]
        )
    return _columns(rows)


def _systems(sample: Sample, panel: Panel) -> str:
    if not panel.systems:
        return ""
    names = list(panel.systems[0].measures)
    first = f"{sample.protocol.systems[0]} against" if sample.protocol.design == "pairs" else "system"
    kappas = [f"{name} kappa" for name in panel.systems[0].kappa]
    rows = [[first, "texts", "empty", *names, *kappas]]
    for line in panel.systems:
        cells = [_reading(line.measures[name]) for name in names]
        rows.append([line.system, str(line.texts), str(line.empty), *cells, *map(_reading, line.kappa.values())])
    # One row for each measure: more measures than systems would be too wide.
    return _columns([list(row) for row in zip(*rows, strict=True)])


def _agreement(panel: Panel) -> str:
    rows = [["agreement", *COEFFICIENTS.values()]]
    for criterion, found in panel.agreement.items():
        rows.append([criterion, *(f"{_reading(each)} {each.meaning}".strip() for each in found)])
    return _columns(rows)


def _claims(panel: Panel) -> str:
    rows = [["claim", "gain", "p (Holm)", "verdict"]]
    for line in panel.claims:
        level = "" if line.claim.level is None else f", level {line.claim.level}"
        claim = f"{line.claim.better} over {line.claim.worse}, {line.criterion}{level}"
        p = _NONE if line.p_holm is None else "< 0.001" if line.p_holm < 0.001 else f"{line.p_holm:.3f}"
        rows.append([claim, _reading(line.gain), p, line.verdict])
    return _columns(rows)


def _stand_ins(beside: Sequence[StandIn]) -> list[str]:
    if not beside:
        return []
    systems = list(dict.fromkeys(system for each in beside for system in each.means))
    rows = [["stand-in (automatic)", "for", *systems, "Spearman with the ratings"]]
    for each in beside:
        means = [f"{each.means[system]:.4g}" if system in each.means else _NONE for system in systems]
        value = NO_RATINGS if not each.texts else _NONE
        if each.correlation is not None:
            value = _with_interval(each.correlation, each.interval)
        rows.append([each.metric, each.criterion, *means, value])
    return [_columns(rows)]


def _reading(each: Estimate | Agreement) -> str:
    return _NONE if each.value is None else _with_interval(each.value, each.interval)


def _with_interval(value: float, interval: tuple[float, float] | None) -> str:
    return f"{value:z.2f}" if interval is None else f"{value:z.2f} ({interval[0]:z.2f} to {interval[1]:z.2f})"


def _columns(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
