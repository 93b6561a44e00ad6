"""The granularity of the pieces of texts, as heatmaps (C-DNPG, figure 2)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from espalier.inference.results import TextGranularity
from espalier.io.errors import ArtifactError
from espalier.report.examples import Examples
from espalier.report.figures import Heatmap, heatmap_figure
from espalier.report.printed import PrintedHeatmaps
from espalier.report.results import RunResult

_READ = TypeAdapter(TextGranularity)


@dataclass(frozen=True, slots=True)
class HeatmapGroup:
    """The heatmaps of one profile: the label of a run, and the granularity of a text and of what the run wrote."""

    profile: str
    texts: tuple[tuple[str, TextGranularity], ...]


@dataclass(frozen=True, slots=True)
class Heatmaps:
    """Heatmaps for a report. `missing` are the keys of runs that keep no granularity."""

    id: str
    title: str
    caption: str
    note: str
    groups: tuple[HeatmapGroup, ...]
    missing: tuple[str, ...]


def heatmaps_of(printed: PrintedHeatmaps, examples: Sequence[Examples], runs: Sequence[RunResult]) -> Heatmaps:
    """The first of the named examples, text by text; under each the runs in their order."""
    kept = {
        key: [run for run in runs if run.key == key and any(row.get("granularity") for row in run.rows)]
        for key in printed.runs
    }
    groups = []
    for group in (group for each in examples if each.id == printed.examples for group in each.groups):
        found = {
            (key, row["id"]): _granularity(row, key)
            for key, members in kept.items()
            for run in members
            if run.profile == group.profile
            for row in reversed(run.rows)  # the first seed's, of several
            if row["id"] in {one.id for one in group.examples[: printed.count]} and row.get("granularity")
        }
        texts = [
            (label, found[key, one.id])
            for one in group.examples[: printed.count]
            for key, label in printed.runs.items()
            if (key, one.id) in found
        ]
        groups += [HeatmapGroup(group.profile, tuple(texts))] if texts else []
    missing = tuple(key for key, members in kept.items() if not members)
    return Heatmaps(printed.id, printed.title, printed.caption, printed.note, tuple(groups), missing)


def granularity_figure(texts: Sequence[tuple[str, TextGranularity]], name: str) -> str:
    """For each text a panel for the encoder, and one for the decoder below it; a label stands before the heading.

    Args:
        name: prefix of the drawing's ids.
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


def _granularity(row: Mapping[str, str], key: str) -> TextGranularity:
    try:
        return _READ.validate_python({**json.loads(row["granularity"]), "source": row["source"], "text": row["text"]})
    except (ValueError, TypeError, ValidationError) as error:
        raise ArtifactError(
            f"row {row['id']} has no granularity that can be read", where=f"outputs of {key}", remedy="decode again"
        ) from error
