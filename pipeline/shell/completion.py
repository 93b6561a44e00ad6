"""Shell completion of names: keys of params.yaml, and stages.

Each function takes the command and the text typed so far, and returns the names that begin with it. If a file cannot be
read, it returns none.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

import typer

from espalier.io.errors import EspalierError
from pipeline.shell.profiles import Profile, enter


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
    """The keys of the stage that the command runs."""
    return keys_of()[context.info_name or ""]


@_completion
def targets(context: typer.Context) -> Iterator[str]:
    """The stages of the profile, as DVC names them: "train@songnet"."""
    return (f"{stage}@{key}" for stage, keys in keys_of().items() for key in keys)


def keys_of() -> dict[str, list[str]]:
    """The keys of each stage of dvc.yaml that has keys."""
    from pipeline.graph.stage_graph import definitions

    keys = defaultdict[str, list[str]](list)
    for name, key in definitions():
        if key:
            keys[name].append(key)
    return keys
