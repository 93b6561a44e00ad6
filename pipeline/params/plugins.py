"""Plugins: external modules that register entries. Entries are checked on import."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Mapping, MutableMapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, Final

from espalier.corpora.readers import READERS, Reader
from espalier.datasets.encoding import Encoding, Split, Vocabulary
from espalier.datasets.registry import ENCODINGS
from espalier.datasets.structure.structures import STRUCTURES, Structure
from espalier.inference.registry import SERVICES, Service
from espalier.io.errors import ConfigError
from espalier.io.protocols import first_fault
from espalier.io.registry import entry
from espalier.metrics.family import Family
from espalier.metrics.registry import METRICS
from espalier.models.contract import check_class, check_settings
from espalier.models.registry import ARCHITECTURES, Architecture
from espalier.syntax.parsers.registry import BACKENDS, Backend
from espalier.tasks.registry import TASKS
from espalier.tasks.task import Scoring, Task
from pipeline.layout import ROOT

#: The registries that plugins can extend, each with the type or protocol of its entries.
REGISTRIES: Final[Mapping[str, tuple[MutableMapping[str, Any], type]]] = {
    "READERS": (READERS, Reader),
    "ENCODINGS": (ENCODINGS, Encoding),
    "ARCHITECTURES": (ARCHITECTURES, Architecture),
    "TASKS": (TASKS, Task),
    "METRICS": (METRICS, type),
    "BACKENDS": (BACKENDS, Backend),
    "STRUCTURES": (STRUCTURES, Structure),
    "SERVICES": (SERVICES, Service),
}
#: Registries whose entries have no common type, but need the members of a protocol.
PROTOCOLS: Final = (Encoding, Task, Structure)


def import_plugins(names: Any, where: str) -> None:
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
    before = {key: dict(registry) for key, (registry, _) in REGISTRIES.items()}
    try:
        importlib.import_module(name)
        if not name.startswith("pipeline."):  # a rehearsal replaces every reader by one that samples
            _check(before)
    except Exception as error:  # whatever a plugin raises is the user's to correct
        for key, entries in before.items():
            REGISTRIES[key][0].clear()
            REGISTRIES[key][0].update(entries)
        sys.modules.pop(name, None)  # so that the next call imports and checks it again
        if isinstance(error, ConfigError):
            raise ConfigError(error.what, where=f"{where}: {name}: {error.where}", remedy=error.remedy) from error
        missing = isinstance(error, ModuleNotFoundError) and name.startswith(error.name or "?")
        raise ConfigError(
            f"cannot import {name} ({type(error).__name__}: {error}{_line(error)})",
            where=where,
            remedy="name a module that Python can import from the project's root" if missing else "correct the module",
        ) from error


def _line(error: Exception) -> str:
    """The place where a module failed: the last line of the traceback outside packages and this file."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    files = [(Path(frame.filename), frame.lineno) for frame in frames]
    own = [(file, line) for file, line in files if file != Path(__file__) and "site-packages" not in file.parts]
    return f", {own[-1][0].name} line {own[-1][1]}" if own else ""


def _check(before: Mapping[str, Mapping[str, Any]]) -> None:
    """Check that new entries have unused names and the type of their registry."""
    for key, (registry, kind) in REGISTRIES.items():
        for name, value in registry.items():
            where = f"{key}['{name}']"
            if name not in before[key]:
                _check_entry(key, name, value, kind, where)
            elif value is not before[key][name]:
                raise ConfigError("there is an entry of that name", where=where, remedy="choose another name")


def _check_entry(key: str, name: str, value: Any, kind: type, where: str) -> None:
    if kind in PROTOCOLS:
        _check_members("it", value, kind, where)
    elif not isinstance(value, kind):
        raise ConfigError(f"{type(value).__name__} is no {kind.__name__}", where=where, remedy=_see(kind))
    match key:
        case "ENCODINGS":
            _check_members("its vocabulary", value.vocabulary, Vocabulary, where)
            _check_members("its split", value.split, Split, where)
        case "TASKS" if not issubclass(value.scoring, Scoring):
            raise ConfigError("its scoring is no Scoring", where=where, remedy=_see(Scoring))
        case "METRICS" if "/" not in name:
            if value.__abstractmethods__:
                raise ConfigError(f"it has no {min(value.__abstractmethods__)}", where=where, remedy=_see(Family))
            if needed := [each.name for each in fields(value) if each.default is MISSING is each.default_factory]:
                raise ConfigError(f"its setting {needed[0]} has no default", where=where, remedy=_see(Family))
        case "ARCHITECTURES":
            entry("encoding", ENCODINGS, value.encoding, where=where)
            check_settings(value.config, name)
            if isinstance(value.model, type):
                check_class(value.model, name)


def _check_members(what: str, value: Any, protocol: type, where: str) -> None:
    if found := first_fault(value, protocol):
        raise ConfigError(f"{what} {found}", where=where, remedy=_see(protocol))


def _see(kind: type) -> str:
    return f"see {kind.__name__} in {kind.__module__.replace('.', '/')}.py"
