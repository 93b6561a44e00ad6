"""The command `granularity`: how far C-DNPG takes each piece for a detail, in each layer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from espalier.cli.models import models
from espalier.cli.requests import (
    answer,
    as_options,
    read_requests,
    require_count,
    require_drawing,
    write_drawing,
)
from espalier.inference.requests import PairRequest
from espalier.inference.results import TextGranularity

LANGUAGE: Final = "en"


def requests_of(file: Path | None, given: Sequence[PairRequest]) -> list[PairRequest]:
    """Requests, one text per line."""
    return read_requests(file, given, lambda fields, name: PairRequest(" ".join(fields), name=name), "one text a line")


def write(
    requests: Sequence[PairRequest],
    model: str | None,
    *,
    out: Path | None,
    beam: int,
    length_power: float,
    json: bool,
) -> None:
    """Print the granularity of each text and of its paraphrase, and draw it.

    Args:
        out: where the drawing is written, as SVG; None draws nothing.
    """
    require_count(len(requests))
    require_drawing(out, len(requests), [".svg"])
    system = models().open("granularity", LANGUAGE, model=model)
    results: list[TextGranularity] = []
    with as_options():
        writer = system.writer("granularity", beam=beam, length_power=length_power)
        unread = answer(writer, requests, lambda _, result: page_of(result), as_json=json, then=results.append)
    if out is not None and results:
        draw(results, out)
    if unread:
        raise SystemExit(1)


def draw(results: Sequence[TextGranularity], out: Path) -> None:
    """Write a drawing with two panels per text: the encoder, and the decoder below it."""
    from espalier.report.drawing import standalone
    from espalier.report.granularity import granularity_figure

    write_drawing(out, standalone(granularity_figure([("", result) for result in results], "granularity")))


def page_of(result: TextGranularity) -> str:
    """Two tables, for encoder and decoder: one column per piece, one row per layer, the last layer first."""
    lines = []
    for side, _, pieces, layers in result.sides:
        widths = [max(len(piece), 4) for piece in pieces]
        lines.append("  ".join([f"{side:8}", *map(str.rjust, pieces, widths)]))
        for layer, values in reversed([*layers.items()]):
            numbers = [f"{value:.2f}".rjust(width) for value, width in zip(values, widths, strict=True)]
            lines.append("  ".join([f"layer {layer}".ljust(8), *numbers]))
    return "\n".join([*lines, ""])
