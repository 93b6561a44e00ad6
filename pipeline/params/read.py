"""Reading params.yaml and the catalogue of sources."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from espalier.corpora.catalogue import Source
from espalier.datasets.registry import ENCODINGS
from espalier.io.errors import ConfigError
from espalier.io.registry import entry
from espalier.io.validation import validated
from espalier.io.yaml_files import load_yaml
from espalier.models.registry import ARCHITECTURES
from espalier.syntax.parsers.registry import BACKENDS
from espalier.tasks.registry import TASKS
from espalier.training.config import TrainingConfig
from pipeline.layout import NONE, PARAMS
from pipeline.params.check import check
from pipeline.params.entries import Baseline, Catalogue, Dataset, Datasets, Model, Params, ParserEntry, Run
from pipeline.params.plugins import import_plugins

Entry = TypeVar("Entry", Model, Run, Baseline)
AnyScored = TypeVar("AnyScored", Run, Baseline)


def load_params(path: Path = PARAMS) -> Params:
    """Read params.yaml, import its plugins, and check the result, in which all settings have their types.

    Raises:
        ConfigError: the file is missing or is not YAML, a plugin cannot be imported, or a value is invalid.
    """
    value = with_plugins(path)
    params = _typed(validated(Params, value, str(path)))
    published = load_catalogue(params, path.parent) if params.sources.published else {}
    check(params, published)
    return params


def with_plugins(path: Path = PARAMS) -> dict[str, Any]:
    """Read params.yaml, whose values are not checked yet, and import its plugins.

    Raises:
        ConfigError: as `read_yaml`; or a plugin cannot be imported.
    """
    value = read_yaml(path)
    import_plugins(value.get("plugins"), f"{path}: plugins")
    return value


def load_catalogue(params: Params, folder: Path = Path()) -> dict[str, Source]:
    """The catalogue entry of every published source, by key.

    Raises:
        ConfigError: sources.yaml is missing or is not YAML, or has an invalid value.
    """
    return _catalogue(params, folder).sources


def free_sources(params: Params) -> frozenset[str]:
    """The sources of the catalogue that a released model may learn from.

    Raises:
        ConfigError: sources.yaml is missing or is not YAML, or has an invalid value.
    """
    return frozenset(_catalogue(params, Path()).free)


def _catalogue(params: Params, folder: Path) -> Catalogue:
    path = folder / params.catalogue
    return validated(Catalogue, read_yaml(path), str(path))


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


def _typed(params: Params) -> Params:
    """The params with the settings of each entry as their types, over those of its preset."""
    datasets = {
        way: {key: _dataset(f"datasets.{way}.{key}", dataset) for key, dataset in getattr(params.datasets, way).items()}
        for way in Datasets.model_fields
    }
    typed = {
        "parsers": {key: _parser(f"parsers.{key}", parser) for key, parser in params.parsers.items()},
        "datasets": params.datasets.model_copy(update=datasets),
        "models": {key: _model(f"models.{key}", model, params) for key, model in params.models.items()},
        "runs": {key: _scored(f"runs.{key}", run, params) for key, run in params.runs.items()},
        "baselines": {key: _scored(f"baselines.{key}", row, params) for key, row in params.baselines.items()},
    }
    return params.model_copy(update=typed)


def _parser(path: str, parser: ParserEntry) -> ParserEntry:
    backend = BACKENDS.find(parser.backend, where=f"{path}.backend")
    if parser.treebank == NONE or backend.training is None:
        return parser
    kind = backend.settings()
    given = {"language": parser.language} if "language" in kind.model_fields else {}
    return parser.typed(validated(kind, given | parser.training, f"{path}.training"))


def _dataset(path: str, dataset: Dataset) -> Dataset:
    kind = ENCODINGS.find(dataset.encoding, where=f"{path}.encoding")
    return dataset.typed(validated(kind.settings, dataset.model_extra, path))


def _model(path: str, model: Model, params: Params) -> Model:
    kind = ARCHITECTURES.find(model.arch, where=f"{path}.arch")
    return _over_preset(path, model, params, {"network": kind.config, "training": TrainingConfig})


def _scored(path: str, entry_: AnyScored, params: Params) -> AnyScored:
    kind = TASKS.find(entry_.task, where=f"{path}.task")
    return _over_preset(path, entry_, params, {"decoder": kind.decoder, "scoring": kind.scoring})


def _over_preset(path: str, entry_: Entry, params: Params, kinds: Mapping[str, type[BaseModel]]) -> Entry:
    """An entry with settings of these types, over the values of its preset; the entry's own values win."""
    preset = entry("preset", params.presets, entry_.preset, where=f"{path}.preset")
    if lacking := [name for name in kinds if getattr(preset, name) is None]:
        raise ConfigError(
            f"preset {entry_.preset} has no {' and no '.join(lacking)}",
            where=f"{path}.preset",
            remedy=f"write {lacking[0]}: {{}} into it, or name another",
        )
    written = {name: {**getattr(preset, name), **getattr(entry_, name)} for name in kinds}
    return entry_.typed(
        written, {name: validated(kind, written[name], f"{path}.{name}") for name, kind in kinds.items()}
    )
