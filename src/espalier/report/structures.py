"""Drawings of the structures of a template, aligned above those of a text written under it (SAT, figures 2 and 3)."""

from collections.abc import Mapping, Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from rich.cells import cell_len

from espalier.datasets.structure.structures import StructuredText
from espalier.report.alignment import AlignedLine, lines_of, panels_of, widths_of
from espalier.report.drawing import HUES, INK, LINE, SOFT, drawing, svg_of
from espalier.text.language import Language, join_tokens, tokens_of

#: The width of a drawing, in narrow characters, and the height of a row, in inches.
_ROOM, _ROW = 112, 0.19
_DIFFERS: Final = HUES[3]


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
        widths = [each + 2 for each in widths_of(lines)]
        for number, (start, end) in enumerate(panels_of(widths, _ROOM - first)):
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
