"""Validation of settings and options: a mistake gives one line with the key's path and the allowed values."""

import inspect
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from reprlib import Repr
from typing import Any, Literal, TypeVar, Unpack, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from espalier.io.errors import ConfigError

Kind = TypeVar("Kind", bound=BaseModel)

#: Shows the beginning of a value, however large it is.
_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 160


class Strict(BaseModel):
    """The base of settings in which unknown keys are errors, and which do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def validated(kind: type[Kind], value: object, where: str, *, names: str = "key") -> Kind:
    """Convert `value` to the type `kind`. The first mistake is raised as one line with the path of its key.

    Args:
        names: noun for the keys, for messages.

    Raises:
        ConfigError: a key is unknown or missing, or a value has the wrong type.
    """
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        errors = error.errors()
        # An unknown key before one that is missing, which may be the same misspelt.
        first = next((each for each in errors if each["type"] == "extra_forbidden"), errors[0])
        place = first["loc"]
        if first["type"] == "extra_forbidden":
            siblings = _siblings(kind, place)
            raise ConfigError.unknown(names, str(place[-1])[:80], siblings, where=_joined(where, place[:-1])) from error
        remedy = "add it" if first["type"] == "missing" else f"it is {_SHORT.repr(first['input'])}"[:200]
        if place[-1:] == ("[key]",):  # the key itself, not its value
            place, remedy = place[:-2], "rename it"
        raise ConfigError(first_mistake(error)[1], where=_joined(where, place), remedy=remedy) from error


def check_options(
    function: Callable[..., Any], options: Mapping[str, Any], where: str, *, given: Collection[str] = ()
) -> None:
    """Check that options are keyword arguments of a function, have the declared types, and are complete.

    Keyword arguments that are `Unpack` of a TypedDict, of which none is needed, are those of the TypedDict.

    Args:
        given: other parameters, which the caller of the function provides. Parameters without a type accept any value.

    Raises:
        ConfigError: a key is unknown or missing, or a value has the wrong type.
    """
    fields, extra = options_of(function, given=given)
    kinds: dict[str, Any] = dict(fields)
    config = ConfigDict(strict=True, extra=extra, arbitrary_types_allowed=True, protected_namespaces=())
    validated(create_model("Options", __config__=config, **kinds), dict(options), where, names="option")


def options_of(
    function: Callable[..., Any], *, given: Collection[str] = ()
) -> tuple[dict[str, tuple[Any, Any]], Literal["forbid", "allow"]]:
    """The options of a function, each with its type and its default (... for none), and what others are."""
    parameters = {name: each for name, each in inspect.signature(function).parameters.items() if name not in given}
    try:
        types = get_type_hints(function, include_extras=True)
    except NameError:  # a type that is imported for type checkers only
        types = {}
    fields: dict[str, tuple[Any, Any]] = {}
    extra: Literal["forbid", "allow"] = "forbid"
    for name, each in parameters.items():
        kind = types.get(name, Any)
        if each.kind is not each.VAR_KEYWORD:
            fields[name] = kind, ... if each.default is each.empty else each.default
        elif get_origin(kind) is Unpack:
            fields |= {key: (own, None) for key, own in get_type_hints(get_args(kind)[0]).items()}
        else:
            extra = "allow"
    return fields, extra


def repeated(names: Iterable[str]) -> set[str]:
    """The names that occur more than once."""
    return {name for name, count in Counter(names).items() if count > 1}


def listed(value: object) -> object:
    """Take one name in YAML as a list of one. For pydantic's `BeforeValidator`."""
    return [value] if isinstance(value, str) else value


def require_known(where: str, names: Iterable[str], allowed: Collection[str], *, kind: str = "") -> None:
    """Raise a ValueError that names the first name which is not allowed. For pydantic's `model_validator`.

    Args:
        where: the path of the names in the file.
        kind: what the names are, such as "column"; empty if the path says it.
    """
    for name in names:
        if name not in allowed:
            what = f"{kind} '{name}'" if kind else f"'{name}'"
            raise ValueError(f"{where}: unknown {what}; allowed: {', '.join(allowed)}")


def first_mistake(error: ValidationError) -> tuple[str, str]:
    """The dotted path of the first mistake, and its description."""
    first = error.errors()[0]
    return _path(first["loc"]), first["msg"].removeprefix("Value error, ")


def _joined(where: str, place: tuple[int | str, ...]) -> str:
    return f"{where}: {_path(place)}" if place else where


def _path(place: tuple[int | str, ...]) -> str:
    return ".".join(map(str, place))[:200]


def _siblings(kind: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    """The keys that are allowed beside an unknown key."""
    models: list[type[BaseModel]] = [kind]
    for part in path[:-1]:
        here = [model.model_fields[str(part)].annotation for model in models if part in model.model_fields]
        # Else a key of a map, a place in a list, or the tag of one of several types.
        models = _models_in(here[0]) if here else [model for model in models if part in _tags(model)] or models
    return list(dict.fromkeys(name for model in models for name in model.model_fields))


def _models_in(annotation: object) -> list[type[BaseModel]]:
    """The settings classes within a type annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]


def _tags(kind: type[BaseModel]) -> tuple[Any, ...]:
    """The values of the field that distinguishes the types of a union."""
    return get_args(kind.model_fields["kind"].annotation) if "kind" in kind.model_fields else ()
