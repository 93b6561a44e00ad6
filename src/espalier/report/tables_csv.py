"""The tables of a report as CSV, one row per number, for other programs."""

from __future__ import annotations

import csv
from io import StringIO

from espalier.report.build import Report

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
