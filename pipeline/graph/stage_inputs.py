"""The inputs of a stage, as dvc.yaml declares them: files, settings and versions."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from espalier.io.hashing import file_sha256, files_sha256
from pipeline import layout
from pipeline.graph.stage_graph import definitions, value_at
from pipeline.params.read import read_yaml
from pipeline.params.versions import read_versions, version_of

#: The names in records of what dvc.yaml and versions.yaml call otherwise.
_RECORDED: Final = {"dataset": "data", "lm": "judge", "models": "model"}


@dataclass(frozen=True)
class Inputs:
    """The inputs of a stage.

    Attributes:
        paths: files and folders, by the fields that name them; None if a field is "none".
        settings: values of the entry, laid over those of its preset.
        versions: versions of components by their group in versions.yaml.
    """

    paths: dict[str, Path | None]
    settings: dict[str, Any]
    versions: dict[str, Any]


def inputs_of(stage: str, key: str) -> Inputs:
    """The inputs of a stage of the present profile."""
    definition = definitions()[stage, key]
    entries, known = read_yaml(layout.PARAMS), read_versions()
    settings, versions = dict[str, Any](), dict[str, Any]()
    for file, path in definition.params:
        if file == layout.PARAMS:
            name, value = path.rpartition(".")[2], value_at(entries, path)
            # dvc.yaml names the entry's own values first, which win.
            settings[name] = {**value, **settings[name]} if name in settings else value
        else:
            group, _, component = path.partition(".")
            versions[group] = version_of(group, component, known) if component else known[group]
    paths = {name: None if path.stem == layout.NONE else path for name, path in definition.deps}
    return Inputs(paths, settings, versions)


def record_of(stage: str, key: str, models: Path = Path()) -> dict[str, Any]:
    """The hashes of a stage's inputs, its settings and its versions, by which another machine knows what was made here.

    The hash of what is not there is None.

    Args:
        models: folder that contains the models, if it is not that of the present profile.
    """
    inputs = inputs_of(stage, key)
    recorded = {_RECORDED.get(group, group): version for group, version in inputs.versions.items()}
    return {
        **{_RECORDED.get(name, name): _sha256(path, models) for name, path in inputs.paths.items()},
        "settings": inputs.settings,
        # One version stands alone.
        "versions": recorded if len(recorded) > 1 else next(iter(recorded.values())),
    }


def _sha256(path: Path | None, models: Path) -> str | None:
    if path is not None and path.is_relative_to(layout.model("")):
        path = models / path
    if path is None or not path.exists():
        return None
    return files_sha256(path) if path.is_dir() else file_sha256(path)
