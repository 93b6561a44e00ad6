"""The printed scores of people as Markdown, with ours beside them, or that there are none yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from espalier.judging.result import NO_RATINGS, PREFIX
from espalier.report.markdown import grid_of
from espalier.report.printed import Column, Printed
from espalier.report.tables import BLANK

#: Scores by metric, of a run in a profile: {(profile, run): scores}.
Scores = Mapping[tuple[str, str], Mapping[str, float | None]]


def judged_table(printed: Printed, ours: Scores) -> str:
    """The rows of a paper's tables that people judged, each with the runs of ours that were judged below it."""
    parts = []
    for table in printed.tables:
        columns = [printed.columns[name] for name in table.columns]
        shown = [column for column in columns if any(reading.metric.startswith(PREFIX) for reading in column.ours)]
        if not shown:
            continue
        names = [name for name in table.columns if printed.columns[name] in shown]
        rows = [["", *(column.heading for column in shown)], [":--", *("--:" for _ in shown)]]
        for row in table.rows:
            values = [row.printed[name].value if name in row.printed else None for name in names]
            rows.append([f"**{row.label}**", *_cells(shown, values)])
            judged = [(profile, run) for ref in row.runs for profile, run in ours if run == ref.run]
            for profile, run in judged:
                scores = ours[profile, run]
                rows.append([f"`{run}` ({profile})", *_cells(shown, [scores.get(column.metric) for column in shown])])
            if not judged:
                rows.append(["ours", *[NO_RATINGS] * len(shown)])
        parts.append(f"**{printed.paper.name}, {table.title.lower()}.** {table.caption}\n\n{grid_of(rows)}")
    return "\n\n".join(parts)


def _cells(columns: Sequence[Column], values: Sequence[float | None]) -> list[str]:
    return [
        BLANK if value is None else f"{value:.{column.digits}f}" for column, value in zip(columns, values, strict=True)
    ]
