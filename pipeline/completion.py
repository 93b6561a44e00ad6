"""The names that a shell completes: keys of params.yaml, stages, models, tunes.

Each function gets the command and what was typed so far, and returns the names that begin with it; none where a file
cannot be read.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import typer

from espalier.io.errors import EspalierError
from pipeline.layout import PARAMS, ROOT
from pipeline.profiles import Profile, enter


def _completion(names: Callable[[typer.Context], Iterable[str]]) -> Callable[[typer.Context, str], list[str]]:
    def complete(context: typer.Context, incomplete: str) -> list[str]:
        try:
            profile = context.params.get("profile")
            enter(Profile(profile) if profile else None)
            return [name for name in names(context) if name.startswith(incomplete)]
        except (EspalierError, OSError, ValueError, KeyError, TypeError):
            return []

    return complete


@_completion
def keys(context: typer.Context) -> Iterable[str]:
    """The keys of the stage that is the command."""
    return _keys()[context.info_name or ""]


@_completion
def models(context: typer.Context) -> Iterable[str]:
    """The models of the profile."""
    return _keys()["train"]


@_completion
def targets(context: typer.Context) -> Iterator[str]:
    """The stages of the profile, as DVC names them: "train@songnet"."""
    return (f"{stage}@{key}" for stage, keys in _keys().items() for key in keys)


@_completion
def tunes(context: typer.Context) -> Iterable[str]:
    """The tunes of the catalogue."""
    from espalier.verse.tunes import tunes as catalogue

    return catalogue()


def _keys() -> dict[str, list[str]]:
    """The keys of each stage of dvc.yaml that has some; `foreach` names their place in params.yaml."""
    from pipeline.params import read_yaml

    params, stages = read_yaml(PARAMS), read_yaml(ROOT / "dvc.yaml")["stages"]

    def at(place: str) -> Any:
        return functools.reduce(lambda part, name: part[name], place.split("."), params)

    return {name: list(at(each["foreach"].strip("${}"))) for name, each in stages.items() if "foreach" in each}
