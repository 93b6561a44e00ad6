"""Whether an object or class has the members of a protocol."""

from __future__ import annotations

import inspect


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
    """The fault of the first member that is missing or has another signature than the protocol's;

    None if there is none.
    """
    return next((found for name in members(protocol) if (found := fault(value, protocol, name))), None)
