"""The structures of a template, aligned above those of a text written under it, as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.text import Text

if TYPE_CHECKING:
    from espalier.datasets.structure.structures import StructuredText


@dataclass(frozen=True, slots=True)
class AlignedLine:
    """One line of two aligned structures.

    Attributes:
        label: "template", "text", or the name of a structure; for the text, "pc 13/15" means that 13 of 15 symbols are
            kept.
        cells: tokens or symbols, one per place; "" past the end.
        differs: for each place, whether the symbol differs from the template.
        tokens: whether the cells are tokens.
    """

    label: str
    cells: tuple[str, ...]
    differs: tuple[bool, ...]
    tokens: bool


def lines_of(template: StructuredText, text: StructuredText) -> tuple[AlignedLine, ...]:
    """The tokens and symbols of the template, then those of the text, all of equal length."""
    places = max(len(template.tokens), len(text.tokens))
    lines = [_line("template", template.tokens, places, tokens=True)]
    lines += [_line(name, symbols, places) for name, symbols in template.symbols.items()]
    lines.append(_line("text", text.tokens, places, tokens=True))
    for name, symbols in text.symbols.items():
        pairs = list(zip_longest(template.symbols[name], symbols))
        kept = sum(wanted == found for wanted, found in pairs)
        differs = [wanted != found for wanted, found in pairs]
        lines.append(_line(f"{name} {kept}/{places}", symbols, places, differs))
    return tuple(lines)


def render_structures(template: StructuredText, text: StructuredText, width: int) -> Text:
    """The lines for a terminal, wrapped to `width`. Differences are red and underlined.

    Terminal control characters in tokens must already be escaped.
    """
    lines = lines_of(template, text)
    label = max(cell_len(line.label) for line in lines) + 2
    widths = [each + 1 for each in widths_of(lines)]
    blocks = [
        Text("\n").join(_rendered(line, label, widths, start, end) for line in lines)
        for start, end in panels_of(widths, width - label)
    ]
    return Text("\n\n").join(blocks)


def _line(
    label: str, cells: Sequence[str], places: int, differs: Sequence[bool] = (), *, tokens: bool = False
) -> AlignedLine:
    rest = places - len(cells)
    return AlignedLine(label, (*cells, *[""] * rest), (*differs, *[False] * (places - len(differs))), tokens)


def widths_of(lines: Sequence[AlignedLine]) -> list[int]:
    """The width of each place, in narrow characters."""
    return [max(map(cell_len, cells)) for cells in zip(*(line.cells for line in lines), strict=True)]


def panels_of(widths: Sequence[int], room: int) -> Iterator[tuple[int, int]]:
    """Ranges of places that fit into the width. A wider place has its own range; no places give one empty range."""
    start = used = 0
    for place, width in enumerate(widths):
        if place > start and used + width > room:
            yield start, place
            start, used = place, 0
        used += width
    yield start, len(widths)


def _rendered(line: AlignedLine, label: int, widths: Sequence[int], start: int, end: int) -> Text:
    found = Text(set_cell_size(line.label, label), style="dim")
    for place in range(start, end):
        cell = line.cells[place]
        style = "bold not dim" if line.tokens else "red underline not dim" if line.differs[place] else "not dim"
        found.append(cell, style)
        found.append(" " * (widths[place] - cell_len(cell)))
    found.rstrip()
    return found
