"""Settings as types: a mistake is one line, with its key's path and what is allowed there."""

from __future__ import annotations

from reprlib import Repr
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from espalier.io.errors import ConfigError

Kind = TypeVar("Kind", bound=BaseModel)

#: Shows the beginning of a value, however large it is.
_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 160


def validated(kind: type[Kind], value: Any, where: str) -> Kind:
    """`value` as a `kind`; the first mistake becomes one line with its key's path."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        place, what = first["loc"], first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            raise ConfigError.unknown(
                "key", str(place[-1])[:80], _siblings(kind, place), where=f"{where}: {_path(place)}"
            ) from error
        remedy = "add it" if first["type"] == "missing" else f"it is {_SHORT.repr(first['input'])}"[:200]
        if place[-1:] == ("[key]",):  # the key itself, not its value
            place, remedy = place[:-2], "rename it"
        raise ConfigError(what, where=f"{where}: {_path(place)}" if place else where, remedy=remedy) from error


def _path(place: tuple[int | str, ...]) -> str:
    return ".".join(map(str, place))[:200]


def _siblings(kind: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    """The keys that are allowed where an unknown one was found."""
    models: list[type[BaseModel]] = [kind]
    for part in path[:-1]:
        here = [model.model_fields[str(part)].annotation for model in models if part in model.model_fields]
        # Else a key of a map, a place in a list, or the tag of one of several types.
        models = _models_in(here[0]) if here else [model for model in models if part in _tags(model)] or models
    return list(dict.fromkeys(name for model in models for name in model.model_fields))


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """The types of ours that an annotation is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]


def _tags(kind: type[BaseModel]) -> tuple[Any, ...]:
    """The values of the field that tells several types apart."""
    return get_args(kind.model_fields["kind"].annotation) if "kind" in kind.model_fields else ()
