"""The numbers of a report for other programs: the tables as CSV, and all numbers behind the verdicts as JSON."""

import csv
from io import StringIO
from typing import Any

from espalier.metrics.metric import rounded
from espalier.report.build import Report
from espalier.report.comparisons import RESAMPLES, SEED
from espalier.report.orderings import Ordering
from espalier.report.tables import Reading
from espalier.report.verdicts import SEEDS, SIGNIFICANT, Measure


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
        **({"printed_as": by, "effect_as_printed": rounded(measure.as_printed.value)} if by else {}),
        "direction": measure.column.better,
        "printed": _values(measure.printed),
        "printed_effect": rounded(measure.printed_gain),
        "printed_effect_excluded": ordering.excludes(measure),
        "ours": _values(measure.ours),
        "effect": rounded(measure.gain.value),
        "interval": None if measure.gain.low is None else [rounded(measure.gain.low), rounded(measure.gain.high)],
        "p": rounded(measure.p),
        "better_than_both": measure.beaten_by,
    }


def _values(readings: tuple[Reading, Reading]) -> list[float | None]:
    return [rounded(reading.value) for reading in readings]


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
