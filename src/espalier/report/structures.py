"""The structures of a template, aligned above those of a text written under it (SAT, figures 2 and 3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from espalier.datasets.structure.structures import StructuredText
from espalier.report.drawing import HUES, INK, LINE, SOFT, drawing, svg_of
from espalier.text.language import Language, join_tokens, tokens_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The width of a drawing, in narrow characters, and the height of a row, in inches.
_ROOM, _ROW = 112, 0.19
_DIFFERS: Final = HUES[3]


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
    widths = [each + 1 for each in _widths(lines)]
    blocks = [
        Text("\n").join(_rendered(line, label, widths, start, end) for line in lines)
        for start, end in _panels(widths, width - label)
    ]
    return Text("\n\n").join(blocks)


def structures_figure(pairs: Sequence[tuple[str, StructuredText, StructuredText]], name: str, label: str) -> str:
    """The lines as inline SVG, one pair below the other. Differences are framed.

    Args:
        pairs: (heading, template, text) of each pair.
        name: prefix of ids in the drawing.
        label: description for readers who cannot see the drawing.
    """
    panels = list[tuple[str, tuple[AlignedLine, ...], int, list[int], int, int]]()
    for heading, template, text in pairs:
        lines = lines_of(template, text)
        first = max(cell_len(line.label) for line in lines) + 2
        widths = [each + 2 for each in _widths(lines)]
        for number, (start, end) in enumerate(_panels(widths, _ROOM - first)):
            panels.append((heading if not number else "", lines, first, widths, start, end))
    rows = max(len(lines) for _, lines, *_ in panels)
    with drawing(len(panels), across=1, height=0.4 + _ROW * rows) as (figure, drawn):
        for axes, (heading, lines, first, widths, start, end) in zip(drawn, panels, strict=True):
            axes.set_title(heading, loc="left", fontsize=9, color=INK, parse_math=False)
            axes.set_xlim(0, _ROOM)
            axes.set_ylim(rows, 0)
            axes.axis("off")
            axes.axhline(len(lines) / 2, color=LINE, linewidth=0.6)
            for row, line in enumerate(lines):
                _draw(axes, line, row, first, widths, start, end)
        return svg_of(figure, name, label)


def read_aligned(
    row: Mapping[str, str], language: Language, label: str, names: Sequence[str]
) -> tuple[str, StructuredText, StructuredText] | None:
    """A heading, the template and the text of a row; None if the row lacks words or tags of either.

    Args:
        row: an output row. Its reference is the template, whose first `prompt` tokens are the prompt.
        label: beginning of the heading.
        names: names of the structures.
    """
    if "text_words" not in row:
        return None
    template = _tagged(row["reference"], row["reference_words"], row["reference_tags"], language, names)
    text = _tagged(row["text"], row["text_words"], row["text_tags"], language, names)
    prompt = join_tokens(template.tokens[: int(row.get("prompt") or 0)], language)
    return (f"{label}, prompt: {prompt}" if prompt else label), template, text


def aligned_figure(texts: Sequence[tuple[str, StructuredText, StructuredText]], name: str) -> str:
    """`structures_figure` for the results of `read_aligned`."""
    headings = dict.fromkeys(heading for heading, _, _ in texts)
    return structures_figure(texts, name, f"Structures of templates and texts: {'; '.join(headings)}")


def _tagged(text: str, words: str, tags: str, language: Language, names: Sequence[str]) -> StructuredText:
    """A text with its symbols; without symbols if it could not be tagged."""
    cut = [tokens_of(word, language) for word in words.split()]
    if not cut or len(cut) != len(tags.split()):
        return StructuredText(tuple(tokens_of(text, language)), dict.fromkeys(names, ()))
    return StructuredText.of(cut, tags.split(), names)


def _draw(axes: Axes, line: AlignedLine, row: int, first: int, widths: Sequence[int], start: int, end: int) -> None:
    from matplotlib.patches import Rectangle

    weight = "bold" if line.tokens else "normal"
    axes.text(0, row + 0.5, line.label, va="center", fontsize=8, color=SOFT, parse_math=False)
    left = float(first)
    for place in range(start, end):
        centre = left + widths[place] / 2
        colour = INK if line.tokens else _DIFFERS if line.differs[place] else SOFT
        axes.text(
            centre, row + 0.5, line.cells[place], ha="center", va="center", fontsize=8, color=colour, weight=weight,
            parse_math=False,
        )  # fmt: skip
        if line.differs[place]:
            corner = left + 0.3, row + 0.08
            axes.add_patch(Rectangle(corner, widths[place] - 0.6, 0.84, fill=False, edgecolor=_DIFFERS, linewidth=0.7))
        left += widths[place]


def _line(
    label: str, cells: Sequence[str], places: int, differs: Sequence[bool] = (), *, tokens: bool = False
) -> AlignedLine:
    rest = places - len(cells)
    return AlignedLine(label, (*cells, *[""] * rest), (*differs, *[False] * (places - len(differs))), tokens)


def _widths(lines: Sequence[AlignedLine]) -> list[int]:
    """The width of each place, in narrow characters."""
    return [max(map(cell_len, cells)) for cells in zip(*(line.cells for line in lines), strict=True)]


def _panels(widths: Sequence[int], room: int) -> Iterator[tuple[int, int]]:
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
