"""The hyperparameters of the paper beside those of our models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from espalier.io.errors import ConfigError
from espalier.report.printed import Hyperparameter, Printed, PrintedHyperparameters


@dataclass(frozen=True, slots=True)
class HyperparameterLine:
    """One hyperparameter. `paper` is empty if neither text nor code states it; `ours` has one value per model."""

    name: str
    paper: str
    source: str
    ours: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """A table of hyperparameters for the models of one system."""

    system: str
    profile: str
    models: tuple[str, ...]
    lines: tuple[HyperparameterLine, ...]


def hyperparameters_of(
    printed: Printed, settings: Mapping[str, Mapping[str, Any]], profile: str
) -> tuple[Hyperparameters, ...]:
    """One table for each system for which the profile has a model.

    Args:
        settings: {key of a model: its `network`, `training`, `dataset` and `decoder`}, each a mapping of names to
            values.

    Raises:
        ConfigError: a printed hyperparameter names a setting that all models of its system lack.
    """
    tables = []
    for system in printed.hyperparameters:
        models = tuple(key for key in system.models if key in settings)
        if models:
            own = [settings[key] for key in models]
            lines = tuple(_line(value, own, system) for value in system.values)
            tables.append(Hyperparameters(system.system, profile, models, lines))
    return tuple(tables)


def _line(
    value: Hyperparameter, settings: Sequence[Mapping[str, Any]], system: PrintedHyperparameters
) -> HyperparameterLine:
    found = [_value(own, value.ours) for own in settings] if value.ours else [None] * len(settings)
    if value.ours and all(each is None for each in found):
        raise ConfigError(
            f"no model of {system.system} has the setting '{value.ours}'",
            where=f"hyperparameters: {value.name}",
            remedy="name one, such as network.layers",
        )
    return HyperparameterLine(
        value.name, _worded(value.paper), value.source or "", tuple(map(_worded, found)), value.note
    )


def _value(settings: object, path: str) -> object:
    """The value under a path such as `network.encoders.0.layers`; None if there is none."""
    for name in path.split("."):
        if isinstance(settings, Mapping) and name in settings:
            settings = settings[name]
        elif isinstance(settings, list | tuple) and name.isdecimal() and int(name) < len(settings):
            settings = settings[int(name)]
        else:
            return None
    return settings


def _worded(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case list() | tuple():
            return ", ".join(map(_worded, value))
    return str(value)
