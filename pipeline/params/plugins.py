"""Plugins: external modules that register entries. Entries are checked on import."""

import importlib
import sys
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, Final

from espalier.corpora.readers import READERS
from espalier.datasets.encoding import Split, Vocabulary
from espalier.datasets.registry import ENCODINGS
from espalier.datasets.structure.structures import STRUCTURES
from espalier.inference.registry import SERVICES
from espalier.io.errors import ConfigError, said_by
from espalier.io.registry import Registry, check_members, see
from espalier.metrics.family import Family
from espalier.metrics.registry import METRICS
from espalier.models.contract import check_class, check_settings
from espalier.models.registry import ARCHITECTURES
from espalier.syntax.parsers.registry import BACKENDS
from espalier.tasks.registry import TASKS
from espalier.tasks.settings import Decoder, Scoring
from pipeline.layout import ROOT

#: The registries that plugins can extend. Each checks the type of what is added.
REGISTRIES: Final[Mapping[str, Registry[Any]]] = {
    each.name: each for each in (READERS, ENCODINGS, ARCHITECTURES, TASKS, METRICS, BACKENDS, STRUCTURES, SERVICES)
}
#: The module that registered an entry, by registry and name.
MODULES: Final[dict[tuple[str, str], str]] = {}


def import_plugins(names: object, where: str) -> None:
    """Import modules from the root of the project, and check the entries that they register.

    Args:
        names: value of `plugins` in params.yaml. Anything but a list of names is left to validation.
        where: path of the key, for messages.

    Raises:
        ConfigError: a module cannot be imported, or it registers a used name or an entry that lacks a member.
    """
    if not isinstance(names, list) or not names:
        return
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    for name in map(str, names):
        if name not in sys.modules:
            _import(name, where)


def _import(name: str, where: str) -> None:
    before = {key: dict(registry.entries) for key, registry in REGISTRIES.items()}
    try:
        importlib.import_module(name)
        if not name.startswith("pipeline."):  # a rehearsal replaces every reader by one that samples
            _check(before)
            MODULES.update(
                ((key, new), name) for key, registry in REGISTRIES.items() for new in registry if new not in before[key]
            )
    except Exception as error:  # whatever a plugin raises is the user's to correct
        for key, entries in before.items():
            REGISTRIES[key].entries = entries
        sys.modules.pop(name, None)  # so that the next call imports and checks it again
        if isinstance(error, ConfigError):
            raise ConfigError(error.what, where=f"{where}: {name}: {error.where}", remedy=error.remedy) from error
        missing = isinstance(error, ModuleNotFoundError) and name.startswith(error.name or "?")
        raise ConfigError(
            f"cannot import {name} ({said_by(error, __file__)})",
            where=where,
            remedy="name a module that Python can import from the project's root" if missing else "correct the module",
        ) from error


def _check(before: Mapping[str, Mapping[str, Any]]) -> None:
    """Check that new entries have unused names, and what the type of their registry does not tell."""
    for key, registry in REGISTRIES.items():
        for name, value in registry.entries.items():
            where = f"{key}['{name}']"
            if name not in before[key]:
                _check_entry(key, name, registry[name], where)
            elif value is not before[key][name]:
                raise ConfigError("there is an entry of that name", where=where, remedy="choose another name")


def _check_entry(key: str, name: str, value: Any, where: str) -> None:
    match key:
        case "ENCODINGS":
            check_members("its vocabulary", value.vocabulary, Vocabulary, where)
            check_members("its split", value.split, Split, where)
        case "TASKS":
            for what, kind in (("decoder", Decoder), ("scoring", Scoring)):
                if not issubclass(getattr(value, what), kind):
                    raise ConfigError(f"its {what} is no {kind.__name__}", where=where, remedy=see(kind))
        case "METRICS" if "/" not in name:
            if value.__abstractmethods__:
                raise ConfigError(f"it has no {min(value.__abstractmethods__)}", where=where, remedy=see(Family))
            if needed := [each.name for each in fields(value) if each.default is MISSING is each.default_factory]:
                raise ConfigError(f"its setting {needed[0]} has no default", where=where, remedy=see(Family))
        case "ARCHITECTURES":
            ENCODINGS.find(value.encoding, where=where)
            check_settings(value.config, name)
            if isinstance(value.model, type):
                check_class(value.model, name)
