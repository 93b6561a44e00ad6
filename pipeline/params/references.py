"""References of params.yaml to other entries."""

from collections.abc import Collection

from espalier.io.errors import ConfigError
from pipeline.layout import NONE
from pipeline.params.entries import Params


def check_reference(path: str, name: str, allowed: Collection[str], *, optional: bool = True) -> None:
    """Raise a ConfigError if a reference is to no entry; `NONE` is one if it is optional."""
    if name in allowed or (optional and name == NONE):
        return
    raise ConfigError.unknown("reference", name, [*allowed, NONE] if optional else allowed, where=path)


def source_folders(params: Params) -> list[str]:
    """The folders of all sources: SHELF/SOURCE."""
    return [f"{source.shelf}/{name}" for name, source in params.sources.every.items()]
