"""The tables of a report as Markdown."""

from collections.abc import Mapping, Sequence

from espalier.report.build import Report
from espalier.report.folding import fold, letter_of, notes_of
from espalier.report.hyperparameters import Hyperparameters
from espalier.report.orderings import Ordering
from espalier.report.tables import KEY, NURSERY, Line, Table, arrow, margin, number, value_of
from espalier.report.verdicts import Measure, probability


def render_markdown(report: Report) -> str:
    """Measured tables, the claims of the paper, the hyperparameters, and finally printed numbers without measured ones.

    Printed numbers are bold, and numbers of the nursery italic. Our lines have intervals, profile and protocol.
    """
    folded = [fold(table) for table in report.tables]
    parts = [f"{KEY}\n"]
    parts += [_table(each.shown, each.shown.caption, each.unmeasured) for each in folded if each.measured]
    parts += [_orderings(report.orderings)] if report.orderings else []
    parts += map(_hyperparameters, report.hyperparameters)
    parts += [_table(each.rest, f"{each.rest.caption}: {each.summary}") for each in folded if each.summary]
    return "\n".join(parts)


def _table(table: Table, caption: str, unmeasured: str = "") -> str:
    headings = [f"{column.group} {column.name} {arrow(column.better)}".split() for column in table.columns]
    rows = [["", *(" ".join(words) for words in headings)], [":--", *("--:" for _ in headings)]]
    notes = notes_of(table.lines)
    for line in table.lines:
        rows.append([_label(line), *(_cell(line, index, table, notes) for index in range(len(headings)))])
    grid = grid_of(rows)
    reasons = " ".join(f"({letter}) {_plain(reason)}." for reason, letter in notes.items())
    note = "".join(f"\n{text}\n" for text in (reasons, unmeasured, table.note, table.legend) if text)
    return f"**{table.title}.** {caption}\n\n{grid}\n{note}"


def _orderings(orderings: Sequence[Ordering]) -> str:
    headings = ["The paper's claim", "By", "Printed", "Ours", "Better by", "p", "p (Holm)", "Verdict", "Evidence"]
    rows = [headings, [":--", ":--", *("--:",) * 5, ":--", ":--"]]
    for ordering in orderings:
        where = f" ({_plain(ordering.profile)})" if ordering.profile else ""
        limit = f" Margin {ordering.margin:g}." if ordering.margin else ""
        claim = f"{_plain(ordering.claim)}{limit} {_plain(ordering.better)} : {_plain(ordering.worse)}{where}"
        verdict = [probability(ordering.adjusted), ordering.verdict, _plain(ordering.evidence)]
        for place, measure in enumerate(ordering.measures):
            first = place == 0
            rows.append(
                [
                    claim if first else "",
                    *_measure(measure, ordering.profile),
                    *(verdict if first else [""] * len(verdict)),
                ]
            )
    return f"**Orderings.** What the paper claims, in our numbers\n\n{grid_of(rows)}\n"


def _measure(measure: Measure, profile: str) -> list[str]:
    digits = measure.column.digits
    printed, ours = (
        " : ".join(number(reading.value, digits) for reading in two) for two in (measure.printed, measure.ours)
    )
    gain, around = number(measure.gain.value, digits), margin(measure.gain, digits)
    better_by = f"{gain} ({around})" if around else gain
    # As in the tables, no printed number is shown beside a number of the nursery.
    pair = ["", f"*{ours}*"] if profile == NURSERY else [f"**{printed}**", ours]
    return [measure.column.heading, *pair, better_by, probability(measure.p)]


def _hyperparameters(table: Hyperparameters) -> str:
    rows = [["", "Paper", "Found in", *(f"{model} ({table.profile})" for model in table.models), "Note"]]
    rows += [[":--"] * len(rows[0])]
    rows += [[line.name, line.paper or "not stated", line.source, *line.ours, line.note] for line in table.lines]
    grid = grid_of([[_plain(cell) for cell in row] for row in rows])
    return f"**Hyperparameters.** {_plain(table.system)}\n\n{grid}\n"


def grid_of(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table: its header, the delimiter row, and its rows."""
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


def _label(line: Line) -> str:
    if line.kind == "rule":
        return _plain(": ".join(filter(None, (line.label, line.note))))
    if line.kind in ("paper", "title"):
        return f"**{_plain(line.label)}**"
    if line.kind == "also":
        return _plain(line.label)
    label = f"{line.label}, {line.note}" if line.kind == "row" and line.note else line.label
    return f"{_plain(label)} ({', '.join(_plain(tag) for tag in line.tags)})"


def _cell(line: Line, index: int, table: Table, notes: Mapping[str, str]) -> str:
    reading, digits = line.cells[index], table.columns[index].digits
    if line.kind in ("title", "rule") or (line.kind == "also" and reading.value is None):
        return ""
    mark = {"bold": "**", "italic": "*", "": ""}[line.emphasis if reading.value is not None else ""]
    value, around = f"{mark}{value_of(reading, digits)}{mark}", margin(reading, digits)
    if letter := letter_of(reading, notes):
        value += f" ({letter})"
    if line.kind == "paper":
        return f"{value} {around}".strip()
    return f"{value} ({around})" if around else value


def _plain(text: str) -> str:
    """Text with Markdown characters escaped."""
    return "".join(f"\\{character}" if character in r"\`*_{}[]<>|#" else character for character in text)
