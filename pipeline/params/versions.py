"""The versions of components, and a check that versions.yaml has every component that params.yaml uses."""

from collections.abc import Iterator, Mapping
from typing import Any

from espalier.io.errors import ConfigError
from pipeline import layout
from pipeline.params.entries import Params
from pipeline.params.read import read_yaml


def read_versions() -> dict[str, Any]:
    """The versions of all components, from versions.yaml."""
    return read_yaml(layout.ROOT / layout.VERSIONS)


def version_of(
    group: str, name: str, versions: Mapping[str, Any] | None = None, *, user: str = ""
) -> int | dict[str, int]:
    """The version of a component, such as ("models", "songnet").

    Args:
        versions: contents of versions.yaml; read from the file by default.
        user: the entry that uses the component, for messages.

    Raises:
        ConfigError: the component, such as one of a plugin, has no version.
    """
    known = (read_versions() if versions is None else versions).get(group) or {}
    if name not in known:
        line = f"{name}: {{model: 1}}" if group == "models" else f"{name}: 1"
        raise ConfigError(
            f"no version of {name}" + (f", which {user} uses" if user else ""),
            where=f"{layout.VERSIONS}: {group}",
            remedy=f"add the line {line}, and raise the number when the component's code changes",
        )
    return known[name]


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
