"""Reading params.yaml and the catalogue of sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from espalier.corpora.catalogue import Source
from espalier.io.errors import ConfigError
from espalier.io.registry import entry
from espalier.io.validation import validated
from espalier.io.yaml_files import load_yaml
from pipeline.layout import PARAMS
from pipeline.params.check import check
from pipeline.params.entries import Baseline, Catalogue, Model, Params, Run
from pipeline.params.plugins import import_plugins


def load_params(path: Path = PARAMS) -> Params:
    """Read params.yaml, import its plugins, merge entries with their presets, and check the result.

    Raises:
        ConfigError: the file is missing or is not YAML, a plugin cannot be imported, or a value is invalid.
    """
    value = read_yaml(path)
    import_plugins(value.get("plugins"), f"{path}: plugins")
    params = _with_presets(validated(Params, value, str(path)))
    published = load_catalogue(params, path.parent) if params.sources.published else {}
    check(params, published)
    return params


def load_catalogue(params: Params, folder: Path = Path()) -> dict[str, Source]:
    """The catalogue entry of every published source, by key.

    Args:
        folder: folder of the profile.

    Raises:
        ConfigError: sources.yaml is missing or is not YAML, or has an invalid value.
    """
    path = folder / params.catalogue
    return validated(Catalogue, read_yaml(path), str(path)).sources


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a YAML file that contains a mapping.

    Raises:
        ConfigError: the file is missing, cannot be read (see `load_yaml`) or is not a mapping.
    """
    try:
        value = load_yaml(path)
    except FileNotFoundError as error:
        raise ConfigError(
            "no such file", where=path, remedy="run in the project's root or a profile's folder"
        ) from error
    if not isinstance(value, dict):
        raise ConfigError("not a mapping of keys to values", where=path, remedy="write KEY: VALUE lines")
    return value


def _with_presets(params: Params) -> Params:
    """Merge the values of each entry with those of its preset; the entry's own values win."""
    models = {
        key: _over_preset(params, f"models.{key}", model, ("network", "training"))
        for key, model in params.models.items()
    }
    runs = {key: _over_preset(params, f"runs.{key}", run, ("decoder", "scoring")) for key, run in params.runs.items()}
    baselines = {
        key: _over_preset(params, f"baselines.{key}", baseline, ("decoder", "scoring"))
        for key, baseline in params.baselines.items()
    }
    return params.model_copy(update={"models": models, "runs": runs, "baselines": baselines})


Entry = TypeVar("Entry", Model, Run, Baseline)


def _over_preset(params: Params, path: str, entry_: Entry, names: tuple[str, str]) -> Entry:
    where = f"{path}.preset"
    preset = entry("preset", params.presets, entry_.preset, where=where)
    if lacking := [name for name in names if getattr(preset, name) is None]:
        raise ConfigError(
            f"preset {entry_.preset} has no {' and no '.join(lacking)}",
            where=where,
            remedy=f"write {lacking[0]}: {{}} into it, or name another",
        )
    return entry_.model_copy(update={name: {**getattr(preset, name), **getattr(entry_, name)} for name in names})
