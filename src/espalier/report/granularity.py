"""The granularity of word pieces of texts, as heatmaps (C-DNPG, figure 2)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pydantic import TypeAdapter, ValidationError

from espalier.inference.results import TextGranularity
from espalier.io.errors import ArtifactError
from espalier.report.figures import Heatmap, heatmap_figure

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
