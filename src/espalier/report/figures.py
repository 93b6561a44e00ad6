"""Curves, studies and heatmaps as inline SVG."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pydantic import TypeAdapter, ValidationError

from espalier.inference.results import TextGranularity
from espalier.io.errors import ArtifactError
from espalier.report.drawing import HUES, INK, LEAF, SOFT, drawing, svg_of
from espalier.report.results import Curve
from espalier.report.studies import Panel, Study

_SERIES = (LEAF, *HUES)
#: Each colour has its own marker and dash, for readers and printers without colour.
_MARKS = "osD^vP"
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)), (0, (8, 3)), (0, (3, 1, 1, 1, 1, 1)))
#: Distance between lines at one tick, so that their intervals can be distinguished.
_APART = 0.07
#: A curve of more points than this is thinned evenly; its last point stays.
_POINTS = 400
_ACROSS = 4


def loss_figures(curves: Sequence[Curve]) -> list[tuple[str, str]]:
    """One drawing per profile, as (profile, SVG), with one panel per model: training and development loss by step."""
    return [
        (profile, svg)
        for profile, group in groupby(curves, key=lambda curve: curve.profile)
        if (svg := _losses(list(group), f"loss-{profile}"))
    ]


def study_figure(study: Study) -> str:
    """One panel per metric or corpus, and one line per profile, run or column; "" if there is nothing to draw."""
    if not study.panels:
        return ""
    names = list(dict.fromkeys(name for panel in study.panels if panel.ticks or panel.rows for name, _ in panel.lines))
    with drawing(len(study.panels), across=3, height=2.6 if names else 2.3) as (figure, panels):
        for axes, panel in zip(panels, study.panels, strict=True):
            if panel.ticks:
                _by_ticks(axes, panel, study, names)
            elif panel.rows:
                _measured(axes, panel, study, names)
            else:
                _against_setting(axes, panel, study)
        if names:
            _legend(figure, panels, names)
        label = f"{study.title}: {', '.join(panel.heading for panel in study.panels)} against {study.setting}"
        return svg_of(figure, study.id, label)


@dataclass(frozen=True)
class Heatmap:
    """Values from 0 to 1: rows from bottom to top, columns from left to right."""

    heading: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Sequence[float]]


def heatmap_figure(panels: Sequence[Heatmap], name: str, label: str) -> str:
    """One panel per heatmap, one below the other.

    Warm colours are near 0 and cold ones near 1, as in C-DNPG's figure 2.

    Args:
        name: prefix of ids in the drawing.
        label: description for readers who cannot see the drawing.
    """
    with drawing(len(panels), across=1, height=0.75 + 0.28 * max(len(panel.rows) for panel in panels)) as (
        figure, drawn
    ):  # fmt: skip
        for axes, panel in zip(drawn, panels, strict=True):
            axes.pcolormesh(list(panel.values), cmap="coolwarm_r", vmin=0, vmax=1, edgecolors="white", linewidth=0.6)
            axes.set_title(panel.heading, loc="left", fontsize=9, color=INK, parse_math=False)
            for row, values in enumerate(panel.values):
                for column, value in enumerate(values):
                    ink = "white" if abs(value - 0.5) > 0.35 else "#1e2220"
                    place = column + 0.5, row + 0.5
                    axes.text(*place, f"{value:.2f}", ha="center", va="center", fontsize=7, color=ink)
            axes.set_yticks([row + 0.5 for row in range(len(panel.rows))], list(panel.rows), parse_math=False)
            places = [column + 0.5 for column in range(len(panel.columns))]
            axes.set_xticks(places, list(panel.columns), rotation=30, ha="right", parse_math=False)
            axes.tick_params(length=0)
            axes.spines[:].set_visible(False)
        return svg_of(figure, name, label)


def _losses(curves: Sequence[Curve], name: str) -> str:
    with drawing(len(curves), across=_ACROSS, height=1.75, share_y=True) as (figure, panels):
        for axes, curve in zip(panels, curves, strict=True):
            train = _finite((step, loss) for step, loss, _ in curve.points)
            dev = _finite((step, loss) for step, _, loss in curve.points)
            axes.plot(*_columns(_thinned(train)), color=SOFT, linewidth=0.9, label="training")
            axes.plot(*_columns(dev), color=LEAF, linewidth=1.6, marker="o", markersize=2.2, label="development")
            axes.set_title(curve.model, loc="left", fontsize=9, color=INK, parse_math=False)
        return svg_of(figure, name, "Training and development loss of " + ", ".join(curve.model for curve in curves))


def _against_setting(axes: Axes, panel: Panel, study: Study) -> None:
    axes.set_title(panel.heading, loc="left", fontsize=9, color=INK, parse_math=False)
    settings = sorted({x for _, points in panel.lines for x, _ in points})
    if settings[0] > 0:
        axes.set_xscale("log")
    for index, (profile, points) in enumerate(panel.lines):
        colour = _SERIES[index % len(_SERIES)]
        xs, ys = [x for x, _ in points], [reading.value or 0.0 for _, reading in points]
        axes.plot(xs, ys, color=colour, linewidth=1.5, marker="o", markersize=3)
        for x, reading in points:
            if reading.low is not None and reading.high is not None:
                axes.plot([x, x], [reading.low, reading.high], color=colour, linewidth=0.8)
        level = dict(panel.levels).get(profile)
        if level is not None:
            axes.axhline(level.value or 0.0, color=colour, linewidth=0.9, linestyle=(0, (4, 3)))
        if len(panel.lines) > 1:
            axes.annotate(
                profile, (xs[-1], ys[-1]), (5, 0), textcoords="offset points", va="center", fontsize=8, color=colour
            )
    axes.set_xticks(settings, [f"{x:g}" for x in settings])
    axes.minorticks_off()
    axes.set_xlabel(study.setting, fontsize=8, color=SOFT, parse_math=False)


def _by_ticks(axes: Axes, panel: Panel, study: Study, names: Sequence[str]) -> None:
    axes.set_title(panel.heading, loc="left", fontsize=9, color=INK, parse_math=False)
    for name, points in panel.lines:
        style = _style(names.index(name))
        shift = _APART * (names.index(name) - (len(names) - 1) / 2)
        xs = [x + shift for x, _ in points]
        axes.plot(xs, [reading.value or 0.0 for _, reading in points], label=name, **style)
        for x, (_, reading) in zip(xs, points, strict=True):
            if reading.low is not None and reading.high is not None:
                axes.plot([x, x], [reading.low, reading.high], color=style["color"], linewidth=0.8)
    axes.set_xticks(range(len(panel.ticks)), list(panel.ticks))
    axes.set_xlabel(study.setting, fontsize=8, color=SOFT, parse_math=False)


def _measured(axes: Axes, panel: Panel, study: Study, names: Sequence[str]) -> None:
    axes.set_title(panel.heading, loc="left", fontsize=9, color=INK, parse_math=False)
    for name, points in panel.lines:
        style = _style(names.index(name)) | {"markersize": 2.2}
        axes.plot([x for x, _ in points], [reading.value or 0.0 for _, reading in points], label=name, **style)
    axes.locator_params(axis="x", nbins=8, integer=True)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(study.setting, fontsize=8, color=SOFT, parse_math=False)


def _style(index: int) -> dict[str, Any]:
    colour, turn = _SERIES[index % len(_SERIES)], index % len(_MARKS)
    return {
        "color": colour,
        "marker": _MARKS[turn],
        # Beyond the colours the dashes move on by one, so that no line looks like another.
        "linestyle": _DASHES[(turn + index // len(_MARKS)) % len(_DASHES)],
        "linewidth": 1.4,
        "markersize": 3.5,
    }


def _legend(figure: Figure, panels: Sequence[Axes], names: Sequence[str]) -> None:
    lines = {name: line for axes in panels for line, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    legend = figure.legend(
        [lines[name] for name in names], names, loc="outside lower center", ncols=min(len(names), 6), frameon=False,
        fontsize=8, labelcolor=INK, handlelength=4,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)


def _finite(points: Iterator[tuple[int, float | None]]) -> list[tuple[int, float]]:
    return [(step, value) for step, value in points if value is not None and math.isfinite(value)]


def _thinned(points: list[tuple[int, float]]) -> list[tuple[int, float]]:
    stride = math.ceil(len(points) / _POINTS) or 1
    return points[::stride] + (points[-1:] if (len(points) - 1) % stride else [])


def _columns(points: list[tuple[int, float]]) -> tuple[list[int], list[float]]:
    return [step for step, _ in points], [value for _, value in points]


_READ = TypeAdapter(TextGranularity)


def granularity_figure(texts: Sequence[tuple[str, TextGranularity]], name: str) -> str:
    """Two panels per text: the encoder, and the decoder below it. A label precedes the heading.

    Args:
        name: prefix of ids in the drawing.
    """
    panels = [
        Heatmap(
            f"{label}, {side}: {text}" if label else f"{side}: {text}",
            [f"layer {layer}" for layer in layers],
            pieces,
            [*layers.values()],
        )
        for label, result in texts
        for side, text, pieces, layers in result.sides
    ]
    sources = dict.fromkeys(result.source for _, result in texts)
    return heatmap_figure(panels, name, "Granularity of each piece in each layer of " + "; ".join(sources))


def read_granularity(row: Mapping[str, str], key: str, label: str) -> tuple[str, TextGranularity] | None:
    """The label, and the granularity of a text kept by the run `key`; None if it kept none.

    Raises:
        ArtifactError: the kept value is not a granularity.
    """
    if not row.get("granularity"):
        return None
    try:
        kept = {**json.loads(row["granularity"]), "source": row["source"], "text": row["text"]}
        return label, _READ.validate_python(kept)
    except (ValueError, TypeError, ValidationError) as error:
        raise ArtifactError(
            f"row {row['id']} has no granularity that can be read", where=f"outputs of {key}", remedy="decode again"
        ) from error
