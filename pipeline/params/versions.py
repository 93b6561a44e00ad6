"""A check that versions.yaml has the version of each component in params.yaml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.params.entries import Params
from pipeline.records.artifacts import version_of


def check_versions(params: Params, versions: Mapping[str, Any]) -> None:
    """Report a missing line of versions.yaml, before DVC does so at the start of each stage.

    Raises:
        ConfigError: a component, such as one of a plugin, has no version.
    """
    for group, name, user in _used(params):
        version_of(group, name, versions, user=user)


def _used(params: Params) -> Iterator[tuple[str, str, str]]:
    """The group and name of each component, and an entry that uses it."""
    for key, corpus in params.corpora.items():
        yield "readers", corpus.reader, f"corpora.{key}"
    for key, parser in params.parsers.items():
        yield "parsers", parser.backend, f"parsers.{key}"
    for key, dataset in params.datasets.every.items():
        yield "encodings", dataset.encoding, f"datasets: {key}"
    for key, model in params.models.items():
        yield "models", model.arch, f"models.{key}"
    for key, run in params.runs.items():
        yield from ((group, run.task, f"runs.{key}") for group in ("decoding", "metrics"))
    for key, baseline in params.baselines.items():
        yield from ((group, baseline.task, f"baselines.{key}") for group in ("baselines", "decoding", "metrics"))
