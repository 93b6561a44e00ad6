"""What stages are made of: the published sources, local files and generated corpora that they read through others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from espalier.corpora.catalogue import Source
from espalier.corpora.readers import READERS
from pipeline.graph.stage_graph import Stage, graph_of
from pipeline.params.entries import Params
from pipeline.params.read import load_catalogue


@dataclass(frozen=True)
class Origins:
    """Where data come from.

    Attributes:
        published: sources of the catalogue, by key.
        local: keys of local files.
        generated: keys of corpora that a grammar of this project grows.
    """

    published: dict[str, Source]
    local: tuple[str, ...]
    generated: tuple[str, ...]


def origins_of(params: Params, stages: Iterable[Stage]) -> Origins:
    """What these stages of the present profile read, directly or through stages that they need."""
    graph, reached, queue = graph_of(params), set[Stage](), [*stages]
    while queue:
        stage = queue.pop()
        if stage not in reached:
            reached.add(stage)
            queue += graph[stage]
    catalogue = load_catalogue(params) if params.sources.published else {}
    return Origins(
        {key: catalogue[key] for key in params.sources.published if ("download", key) in reached},
        tuple(key for key in params.sources.local if ("copy", key) in reached),
        tuple(
            key
            for key, corpus in params.corpora.items()
            if ("filter", key) in reached and not READERS[corpus.reader].reads_sources
        ),
    )
