"""A report in the terminal: the same lines as on the web page, in panels that fit the width."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from espalier.report.build import Report
from espalier.report.folding import fold
from espalier.report.notes import letter_of, notes_of
from espalier.report.tables import KEY, Line, Reading, Table, arrow, margin, number, value_of
from espalier.report.verdicts import probability

#: A column of figures with its interval ("98.12–99.20") and the space around it.
_COLUMN = 13
#: A label wider than this is folded.
_LABEL = 34
#: The lines that open a block.
_OPENING = ("paper", "title", "rule")


def render_console(report: Report, console: Console) -> None:
    """Print the tables of measured numbers, then the claims, then the glossary.

    Printed numbers are bold, and numbers of the nursery italic, as on the page and in Markdown.
    """
    console.print(Text.assemble((report.paper.title, "bold"), f"  {report.paper.venue}"), highlight=False)
    for table in (folded.shown for folded in map(fold, report.tables) if folded.measured):
        console.print()
        console.print(Text.assemble((table.title, "bold"), f"  {table.caption}"), highlight=False)
        for start, end in _panels(table, console.width):
            console.print(_grid(table, start, end))
        notes = "; ".join(f"({letter}) {reason}" for reason, letter in notes_of(table.lines).items())
        for text in filter(None, (notes, table.legend)):
            console.print(Text(text, style="dim"), highlight=False)
    _print_orderings(report, console)
    _print_words(report, console)


def _panels(table: Table, width: int) -> Iterator[tuple[int, int]]:
    """Ranges of columns that fit beside the labels. A group of columns is split only if it is too wide by itself."""
    room = max(1, (width - _label_width(table, width) - 2) // _COLUMN)
    start = end = 0
    for _, span in table.groups:
        if end > start and end + span - start > room:
            yield start, end
            start = end
        end += span
        while end - start > room:
            yield start, start + room
            start += room
    if end > start:
        yield start, end


def _label_width(table: Table, width: int) -> int:
    longest = max((cell_len(text) for line in table.lines for text in _label(line).plain.split("\n")), default=0)
    return min(longest, _LABEL, max(12, width // 2))


def _grid(table: Table, start: int, end: int) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, pad_edge=False, header_style="")
    grid.add_column("", max_width=_LABEL, overflow="fold")
    for column in table.columns[start:end]:
        heading = "\n".join(part for part in (column.group, f"{column.name} {arrow(column.better)}".strip()) if part)
        grid.add_column(Text(heading), justify="right", no_wrap=True, min_width=_COLUMN - 2)
    lines = [line for line in table.lines if line.kind != "also" or _says(line, start, end)]
    notes = notes_of(table.lines)
    for index, line in enumerate(lines):
        cells = [_cell(line, line.cells[i], table.columns[i].digits, notes) for i in range(start, end)]
        # A gap after our lines, so that a block holds together; rows of the paper alone stand close.
        closes = line.kind not in _OPENING and any(after.kind in _OPENING for after in lines[index + 1 : index + 2])
        grid.add_row(_label(line), *cells, end_section=closes)
    return grid


def _says(line: Line, start: int, end: int) -> bool:
    return any(reading.value is not None for reading in line.cells[start:end])


def _label(line: Line) -> Text:
    if line.kind == "rule":
        return Text.assemble(("─" * 12, "dim"), f"\n{line.label}", (f"\n{line.note}" if line.note else "", "dim"))
    if line.kind in _OPENING:
        return Text.assemble((line.label, "bold"), (f"\n{line.note}" if line.note else "", "dim"))
    if line.kind == "also":
        return Text(f"    {line.label}", style="dim")
    # How it was decoded on one line, how it came to be on lines below.
    tags = "\n    ".join((" · ".join(line.tags[:2]), *line.tags[2:], *([line.note] if line.kind == "row" else [])))
    return Text.assemble("  ", line.label, (f"\n    {tags}", "dim"))


def _cell(line: Line, reading: Reading, digits: int, notes: Mapping[str, str]) -> Text:
    if line.kind == "rule":
        return Text("─" * (_COLUMN - 2), style="dim")
    if line.kind == "title" or (line.kind == "also" and reading.value is None):
        return Text("")
    letter = letter_of(reading, notes)
    text = Text(value_of(reading, digits) + (f" ({letter})" if letter else ""), style=line.emphasis)
    if around := margin(reading, digits):
        text.append(f"\n{around}", style="dim not bold not italic")
    return text


def _print_orderings(report: Report, console: Console) -> None:
    if not report.orderings:
        return
    console.print()
    console.print(Text.assemble(("Orderings", "bold"), "  What the paper claims, in our numbers"), highlight=False)
    grid = Grid.grid(padding=(0, 2, 0, 0))
    for ordering in report.orderings:
        limit = f" Margin {ordering.margin:g}." if ordering.margin else ""
        lines = [f"{ordering.claim}{limit}", f"{ordering.better} : {ordering.worse}"]
        for measure in ordering.measures:
            ours = " : ".join(number(reading.value, measure.column.digits) for reading in measure.ours)
            chance = "" if measure.p is None else f"  p {probability(measure.p)}"
            lines.append(f"{measure.column.heading}  {ours}{chance}")
        corrected = "" if ordering.adjusted is None else f"p (Holm) {probability(ordering.adjusted)}  "
        lines.append(f"{corrected}{ordering.evidence}")
        grid.add_row(Text(ordering.verdict), Text("\n".join(lines)))
    console.print(grid)


def _print_words(report: Report, console: Console) -> None:
    console.print()
    console.print(KEY, style="dim")
    for name, meaning in (*report.profiles, *report.protocols):
        console.print(Text.assemble((name, "bold"), f"  {meaning}" if meaning else ""), highlight=False)
    for run in report.runs:
        if run.provenance is not None:
            console.print(Text.assemble((run.key, "bold"), f"  made elsewhere: {run.provenance}"), highlight=False)
    if report.missing:
        console.print(Text.assemble(("not run", "bold"), f"  {', '.join(report.missing)}"), highlight=False)
