"""Registries: objects of one type by name, each imported when it is first used; and the members of protocols."""

import inspect
import pkgutil
from collections.abc import Iterator, Mapping, MutableMapping
from types import MappingProxyType
from typing import Any, TypeVar, get_args, get_origin

from espalier.io.errors import ConfigError


def members(protocol: type) -> list[str]:
    """The attributes and methods that a protocol and its bases declare."""
    declared = [vars(base).get("__annotations__", {}) | vars(base) for base in reversed(protocol.__mro__)]
    return [name for each in declared for name in each if not name.startswith("_")]


def fault(value: object, protocol: type, name: str) -> str | None:
    """The fault of one member: "has no step", "has no step that takes (tokens, state)"; None if there is none.

    Args:
        value: an object, or a class (only its methods and class attributes are checked).
    """
    # Fields without a default, of dataclasses and pydantic models, are only annotations of the class.
    fields = (vars(base).get("__annotations__", {}) for base in value.__mro__) if isinstance(value, type) else ()
    if not hasattr(value, name) and not any(name in each for each in fields):
        return f"has no {name}"
    declared = inspect.getattr_static(protocol, name, None)
    if not inspect.isfunction(declared):
        return None  # an attribute, or a property
    method = getattr(value, name, None)
    if not callable(method):
        return f"has no method {name}"
    unbound = isinstance(value, type) and inspect.isfunction(inspect.getattr_static(value, name))
    parameters = list(inspect.signature(declared).parameters.values())[1:]
    given = [None for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    named = {each.name: None for each in parameters if each.kind is each.KEYWORD_ONLY}
    try:
        inspect.signature(method).bind(*([None] if unbound else []), *given, **named)
    except TypeError:
        return f"has no {name} that takes ({', '.join(each.name for each in parameters)})"
    except ValueError:  # a function without a signature, written in C
        return None
    return None


def first_fault(value: object, protocol: type) -> str | None:
    """The fault of the first member that is missing or has another signature than the protocol's.

    None if no member has a fault.
    """
    return next((found for name in members(protocol) if (found := fault(value, protocol, name))), None)


T = TypeVar("T")


class Registry(MutableMapping[str, T]):
    """Objects of one type by name. A module that is named by "package.module:name" is imported on the first look-up.

    `TASKS["mine"] = Mine()` and `TASKS["mine"] = "my.module:Mine"` add an object. A class is called without arguments,
    unless classes are what the registry holds.

    Args:
        name: the variable that holds the registry, for messages.
        noun: noun for its entries, for messages.
        kind: the type or protocol of the objects; `type[Base]` for classes with the base or protocol `Base`.
        entries: the objects, or their names as "package.module:name".

    Raises:
        ConfigError: a looked up or added object cannot be imported, or has another type than `kind`.
        KeyError: `registry[name]` without such an entry. `find` gives a ConfigError.
    """

    def __init__(
        self, name: str, noun: str, kind: object, entries: Mapping[str, T | str] = MappingProxyType({})
    ) -> None:
        self.name, self.noun, self.kind = name, noun, kind
        #: What stands for each name: an object, or its name, which is not yet checked.
        self.entries: dict[str, T | str] = dict(entries)
        self._imported: dict[str, T] = {}

    def find(self, name: str, *, where: str | None = None) -> T:
        """The object of this name.

        Args:
            where: the key of params.yaml with the name.

        Raises:
            ConfigError: the name is unknown (the message lists the known names), or its object cannot be imported or
                has another type.
        """
        entry(self.noun, self.entries, name, where=where)
        return self[name]

    def __getitem__(self, name: str) -> T:
        target = self.entries[name]
        if not isinstance(target, str):
            return target
        if target not in self._imported:
            where = f"{self.name}['{name}']"
            found = imported(self.noun, target, where=where)
            found = found() if isinstance(found, type) and get_origin(self.kind) is not type else found
            _check(found, self.kind, where)
            self._imported[target] = found
        return self._imported[target]

    def __setitem__(self, name: str, value: T | str) -> None:
        if not isinstance(value, str):
            _check(value, self.kind, f"{self.name}['{name}']")
        self.entries[name] = value

    def __delitem__(self, name: str) -> None:
        del self.entries[name]

    def __contains__(self, name: object) -> bool:  # without an import
        return name in self.entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


def entry(kind: str, entries: Mapping[str, T], name: str, *, where: str | None = None) -> T:
    """Look up an entry by name.

    Args:
        kind: noun for the entries, for messages.
        where: the key of params.yaml with the name.

    Raises:
        ConfigError: the name is unknown; the message lists the known names.
    """
    if name not in entries:
        raise ConfigError.unknown(kind, name, entries, where=where)
    return entries[name]


def imported(kind: str, target: object, *, where: str) -> Any:
    """Import the object named by "package.module:name". An argument that is not a string is returned unchanged.

    Raises:
        ConfigError: the object cannot be imported.
    """
    if not isinstance(target, str):
        return target
    try:
        return pkgutil.resolve_name(target)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(f"cannot import the {kind} {target} ({error})", where=where) from error


def check_members(what: str, value: object, protocol: type, where: str) -> None:
    """Raise a ConfigError if an object or class lacks a member of a protocol, or has another signature."""
    if found := first_fault(value, protocol):
        raise ConfigError(f"{what} {found}", where=where, remedy=see(protocol))


def see(kind: type) -> str:
    """Where a type is defined, as the remedy of an error."""
    return f"see {kind.__name__} in {kind.__module__.replace('.', '/')}.py"


def _check(value: object, kind: Any, where: str) -> None:
    """Raise a ConfigError if `value` has another type than `kind`, which is a type, a protocol, or `type[Base]`."""
    held: tuple[type, ...] = get_args(kind)  # of type[Base]: the classes of this base
    base: type = held[0] if held else kind
    if getattr(base, "_is_protocol", False) and (isinstance(value, type) or not held):
        check_members("it", value, base, where)
    elif not (isinstance(value, type) and issubclass(value, base) if held else isinstance(value, base)):
        name = value.__name__ if isinstance(value, type) else type(value).__name__
        raise ConfigError(f"{name} is no {base.__name__}", where=where, remedy=see(base))
