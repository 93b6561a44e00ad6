"""Drawings as inline SVG without date, script or font file. The page chooses the colours for light and dark.

Placeholder colours of lines become CSS variables, so one drawing serves both themes.
"""

import io
import math
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any, Final

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

#: Placeholder colour -> the page's variable. The placeholders are near-blacks that no drawing would use by itself.
_COLOURS = {
    "#010101": "var(--ink)",
    "#010102": "var(--soft)",
    "#010103": "var(--line)",
    "#010104": "var(--leaf)",
    "#010105": "var(--hue-b)",
    "#010106": "var(--hue-c)",
    "#010107": "var(--hue-d)",
    "#010108": "var(--hue-a)",
    "#010109": "var(--hue-f)",
}
INK, SOFT, LINE, LEAF, *HUES = _COLOURS
#: The light page's values of the variables.
LIGHT: Final = {
    "ink": "#1e2220", "soft": "#5c635f", "line": "#dadfd8", "leaf": "#25664a", "hue-a": "#b03a2e",
    "hue-b": "#1f6b8c", "hue-c": "#7d6300", "hue-d": "#6a4ba3", "hue-f": "#a53d76",
}  # fmt: skip


@contextmanager
def drawing(
    count: int, *, across: int, height: float, share_y: bool = False
) -> Iterator[tuple[Figure, Sequence[Axes]]]:
    """A figure of `count` panels, `across` per row. Text stays text, measured in the font shipped with matplotlib."""
    settings: dict[Any, Any] = {
        "svg.hashsalt": "espalier",
        "svg.fonttype": "none",
        "font.family": ["DejaVu Sans"],
        "axes.unicode_minus": False,
    }
    with matplotlib.rc_context(settings):
        rows = math.ceil(count / across)
        figure = Figure(figsize=(10.4, height * rows + 0.1), layout=ConstrainedLayoutEngine(hspace=0.08))
        grid = figure.subplots(rows, across, sharey=share_y, squeeze=False).ravel().tolist()
        for axes in grid[count:]:
            axes.remove()
        for axes in grid[:count]:
            axes.spines[["top", "right"]].set_visible(False)
            axes.spines[["left", "bottom"]].set_color(LINE)
            axes.tick_params(colors=SOFT, labelsize=7.5, length=2.5, width=0.6)
            axes.set_facecolor("none")
            axes.locator_params(nbins=4)
        yield figure, grid[:count]


def svg_of(figure: Figure, name: str, label: str) -> str:
    """The SVG of a figure.

    Args:
        name: prefix of ids in the drawing.
        label: description for readers who cannot see the drawing.
    """
    buffer = io.StringIO()
    nothing = {"Date": None, "Creator": None, "Format": None, "Type": None}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # text stays text: the reader's font draws it
        figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    svg = buffer.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = _in_tags(r"#01010[1-9]\b", lambda match: _COLOURS[match.group()], svg)
    # Several drawings share one page: their ids must not meet.
    prefix = re.sub(r"[^a-z0-9]+", "-", name.lower())
    svg = _in_tags(r'(?:\bid|href)="#?|url\(#', lambda match: f"{match.group()}{prefix}-", svg)
    svg = _in_tags(r'\s(?:width|height)="[\d.]+pt"', "", svg)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1).strip() + "\n"


def standalone(svg: str) -> str:
    """A drawing as a separate SVG file, with the colours of the light page and a background."""
    svg = _in_tags(r'style="[^"]*"', lambda style: re.sub(r"var\(--([\w-]+)\)", _light, style.group()), svg)
    ground = '<rect width="100%" height="100%" fill="#fcfcfa"/>'
    return '<?xml version="1.0" encoding="utf-8"?>\n' + svg.replace(">", f">{ground}", 1)


def _light(variable: re.Match[str]) -> str:
    return LIGHT.get(variable.group(1), variable.group())


def _in_tags(pattern: str, replacement: str | Callable[[re.Match[str]], str], svg: str) -> str:
    """`re.sub` only inside tags, since drawn text may match the pattern. ">" in texts and values is escaped."""
    return re.sub(r"<[a-z][^>]*>", lambda tag: re.sub(pattern, replacement, tag.group()), svg)
