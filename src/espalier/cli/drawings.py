"""Results as drawings, which commands write with `--out`. It imports matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from espalier.inference.results import Composition, TextGranularity
from espalier.io.files import atomic_file
from espalier.report.drawing import standalone
from espalier.report.figures import granularity_figure
from espalier.report.html import render_drawing
from espalier.report.structures import structures_figure


def granularity_drawing(results: Sequence[TextGranularity], out: Path) -> None:
    """Write SVG with two panels per text: the encoder, and the decoder below it."""
    _write(out, standalone(granularity_figure([("", result) for result in results], "granularity")))


def composition_drawing(results: Sequence[Composition], out: Path) -> None:
    """Write SVG, or HTML if `out` ends so, with the structures of all results."""
    pairs = [
        (" · ".join([f"no. {result.sample + 1}", *result.topics]), result.template_structure, result.text_structure)
        for result in results
    ]
    texts = "; ".join(f"{result.text} after {result.template}" for result in results)
    svg = structures_figure(pairs, "structures", f"Structures of {texts}")
    _write(out, render_drawing(svg, "Structures") if out.suffix == ".html" else standalone(svg))


def _write(out: Path, text: str) -> None:
    with atomic_file(out) as part:
        part.write_text(text, encoding="utf-8")
