"""A report's tables as Markdown, for pages that are read as text."""

from __future__ import annotations

from espalier.report.build import Report
from espalier.report.tables import Line, Table, arrow, margin, number


def render_markdown(report: Report) -> str:
    """The tables alone: the paper's lines in bold, ours below them with their intervals, profile and protocol."""
    return "\n".join(_table(table) for table in report.tables)


def _table(table: Table) -> str:
    headings = [f"{column.group} {column.name} {arrow(column.better)}".split() for column in table.columns]
    rows = [["", *(" ".join(words) for words in headings)], [":--", *("--:" for _ in headings)]]
    for line in table.lines:
        rows.append([_label(line), *(_cell(line, index, table) for index in range(len(headings)))])
    grid = "\n".join("| " + " | ".join(cells) + " |" for cells in rows)
    note = f"\n{table.note}\n" if table.note else ""
    return f"**{table.title}.** {table.caption}\n\n{grid}\n{note}"


def _label(line: Line) -> str:
    if line.kind == "paper":
        return f"**{_plain(line.label)}**"
    if line.kind == "also":
        return _plain(line.label)
    return f"{_plain(line.label)} ({', '.join(_plain(tag) for tag in line.tags)})"


def _cell(line: Line, index: int, table: Table) -> str:
    reading, digits = line.cells[index], table.columns[index].digits
    value, around = number(reading.value, digits), margin(reading, digits)
    if line.kind == "paper":
        return f"**{value}** {around}".strip()
    return f"{value} ({around})" if around else value


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return "".join(f"\\{character}" if character in r"\`*_{}[]<>|#" else character for character in text)
