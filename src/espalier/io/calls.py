"""Calls from Python: a wrong argument is one line with the function, the argument, what it takes and what came.

The types are those of the annotations. They are compared as callers mean them, not as `isinstance` and pydantic do: a
text is no list of texts, a flag is no number, a number of NumPy is one, and values are neither copied nor converted.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from errno import ENAMETOOLONG
from functools import cache, partial, wraps
from importlib import import_module
from importlib.util import resolve_name
from numbers import Integral, Real
from reprlib import Repr
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, Literal, NamedTuple, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from espalier.io.errors import ArgumentError, CallError
from espalier.io.registry import first_fault

Called = TypeVar("Called", bound=Callable[..., Any])

#: Shows the beginning of a text or number, however long it is.
_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60
_COLLECTIONS = (Sequence, Iterable, Set, list, set, frozenset)


def checked_call(called: Called) -> Called:
    """Let wrong calls of a function, or of the constructor of a class, raise a CallError before anything else happens.

    Arguments that are not given are not checked, and neither are those after `**`.
    """
    if isinstance(called, type):
        called.__init__ = _checked(called.__init__, called.__name__, called)  # type: ignore[misc]
        return called
    name = called.__qualname__.rpartition("<locals>.")[2]
    return cast("Called", _checked(called, name, called))


def _checked(function: Callable[..., Any], name: str, owner: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(function)
    kinds = {each.name: each.kind for each in signature.parameters.values()}

    @wraps(function)
    def call(*args: Any, **keywords: Any) -> object:
        try:
            bound = signature.bind(*args, **keywords)
        except TypeError as error:
            takes = ", ".join(each for each in kinds if each != "self") or "none"
            raise CallError(str(error), where=name, remedy=f"its arguments: {takes}") from None
        for argument, value in bound.arguments.items():
            if argument in ("self", "cls") or kinds[argument] is inspect.Parameter.VAR_KEYWORD:
                continue
            kind = kind_of(owner, argument)
            given = value if kinds[argument] is inspect.Parameter.VAR_POSITIONAL else (value,)
            for each in given:
                require_kind(name, argument, each, kind)
        try:
            return function(*args, **keywords)
        except UnicodeEncodeError as error:
            at = next((each for each, value in bound.arguments.items() if value is error.object), "text")
            raise CallError("a text that is not Unicode", where=f"{name}, {at}") from error
        except OSError as error:
            if error.errno != ENAMETOOLONG:
                raise
            raise ArgumentError("too long for the name of a file", where=f"{name}, {error.filename}"[:80]) from error
        except ValueError as error:
            if str(error) != "embedded null byte":
                raise
            raise ArgumentError("a null character in the name of a file", where=name) from error

    return call


def require_range(name: str, value: float, minimum: float | None, maximum: float | None = None) -> None:
    """Raise an ArgumentError unless `minimum` <= value <= `maximum`; a bound that is None is not checked."""
    if minimum is not None and not value >= minimum:
        raise ArgumentError(f"{value} is too small", where=name, remedy=f"at least {minimum}")
    if maximum is not None and value > maximum:
        raise ArgumentError(f"{value} is too large", where=name, remedy=f"at most {maximum:,}")


def require_kind(called: str, argument: str, value: object, kind: object) -> None:
    """Raise a CallError if a value, or a part of it, is not of a type.

    Args:
        called: name of the function; "" if the caller adds it.
        kind: a type as in annotations.
    """
    if found := misfit(value, kind):
        where = ", ".join(filter(None, [called, f"{argument}{found.place}"]))
        literals = [each for each in (found.kind, *get_args(found.kind)) if get_origin(each) is Literal]
        if literals and isinstance(found.value, str):
            raise CallError.unknown(argument, _SHORT.repr(found.value)[1:-1], get_args(literals[0]), where=where)
        what, alone = f"{shown(found.value)} instead of {described(found.kind)}", isinstance(value, str)
        remedy = "write [...] around it" if alone and misfit([value], kind) is None else None
        raise CallError(what, where=where, remedy=remedy)


class Misfit(NamedTuple):
    """A value, or a part of one at a place such as "[3]", that is not of the type that it should have."""

    place: str
    value: object
    kind: object


def misfit(value: object, kind: object) -> Misfit | None:
    """The first part of a value that is not of a type; None if there is none."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        found = [misfit(value, each) for each in inner]
        deep = [each for each in found if each and each.place]
        return None if None in found else deep[0] if len(deep) == 1 else Misfit("", value, kind)
    base = origin or kind
    wrong = Misfit("", value, kind)
    if base is Literal:
        return None if any(type(value) is type(each) and value == each for each in inner) else wrong
    if base is Any or isinstance(base, TypeVar) or not isinstance(base, type):
        return None
    if not _is_of(value, base):
        return wrong
    return next(_inside(value, base, inner), None) if inner else None


def _is_of(value: object, base: type) -> bool:
    if base in (int, float):
        return isinstance(value, Integral if base is int else Real) and not isinstance(value, bool)
    if base is bool:
        return isinstance(value, bool) or (type(value).__module__, type(value).__name__[:4]) == ("numpy", "bool")
    if base in _COLLECTIONS and (isinstance(value, str | bytes) or getattr(value, "ndim", 1) == 0):
        return False
    if base is tuple and isinstance(value, list):  # which does as well
        return True
    if base is Sequence and not isinstance(value, Mapping | type):  # an array, or a column of a table, but no table
        return hasattr(value, "__len__") and hasattr(value, "__getitem__") and not hasattr(value, "columns")
    if getattr(base, "_is_protocol", False):
        return value is not None and not isinstance(value, type) and first_fault(value, base) is None
    return isinstance(value, base)


def _inside(value: object, base: type, inner: tuple[Any, ...]) -> Iterator[Misfit]:
    """The wrong parts of a collection. An iterator is not looked into, which would use it up."""
    parts: Iterable[tuple[str, object, object]] = ()
    if base is tuple and inner[-1:] != (...,):
        if not isinstance(value, Collection) or len(value) != len(inner):
            yield Misfit("", value, tuple[inner])  # type: ignore[valid-type]
            return
        parts = ((f"[{place}]", each, kind) for place, (each, kind) in enumerate(zip(value, inner, strict=True)))
    elif isinstance(value, Mapping) and issubclass(base, Mapping):
        parts = (part for key, each in value.items() for part in (("", key, inner[0]), (f"[{key!r}]", each, inner[1])))
    elif (base in _COLLECTIONS or base is tuple) and isinstance(value, Collection):
        parts = ((f"[{place}]", each, inner[0]) for place, each in enumerate(value))
    for place, each, kind in parts:
        if found := misfit(each, kind):
            yield Misfit(place + found.place, found.value, found.kind)


def shown(value: object) -> str:
    """A value in a message: its type, and the beginning of a text or number."""
    plain = isinstance(value, str | bytes | int | float)
    return "None" if value is None else type(value).__name__ + (f" {_SHORT.repr(value)}" if plain else "")


def described(kind: object) -> str:
    """A type in a message: "int or None", "a list of str"."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return " or ".join(map(described, inner))
    if origin is Literal:
        return " or ".join(map(repr, inner))
    base = origin or kind
    named = "None" if base is NoneType else getattr(base, "__name__", str(base))
    named = "a list" if base in (Sequence, Iterable, list) else "a mapping" if base is Mapping else named
    inner = tuple(each for each in inner if each not in (..., Any) and not isinstance(each, TypeVar))
    return f"{named} of {' and '.join(map(described, inner))}" if inner else named


# --- Types of arguments -----------------------------------------------------------------------------------------------


@cache
def kind_of(owner: Callable[..., Any], argument: str) -> object:
    """The type of an argument of a function, or of a field of a dataclass; Any without an annotation.

    A module may import the type for type checkers alone. Then it is imported here.
    """
    bases = owner.__mro__ if isinstance(owner, type) else (owner,)
    held: Any = next((base for base in bases if argument in _annotations(base)), None)
    if held is None:
        return Any
    module, text = sys.modules[held.__module__], _annotations(held)[argument]
    wanted = (
        {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)} if isinstance(text, str) else ()
    )
    late = dict[str, Any]()
    for name in {*wanted} - vars(module).keys():
        if (late_import := _late_imports(module.__name__).get(name)) is not None:
            late[name] = late_import()
    try:
        return get_type_hints(SimpleNamespace(__annotations__={argument: text}), vars(module), late)[argument]
    except NameError:
        return Any


def _annotations(owner: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a function; of a class those of the constructor that it writes itself, else of its fields."""
    made = getattr(vars(owner).get("__dataclass_params__"), "init", False) if isinstance(owner, type) else True
    written = owner if made else vars(owner).get("__init__", owner)
    return inspect.get_annotations(inspect.unwrap(written))


@cache
def _late_imports(module: str) -> dict[str, Callable[[], object]]:
    """The imports of a module for type checkers alone, to be made by calls, by the names that they bind."""
    found = dict[str, Callable[[], object]]()
    try:
        source = inspect.getsource(sys.modules[module])
    except OSError:  # installed without its source
        return found
    for block in ast.parse(source).body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            for node in block.body:
                if isinstance(node, ast.Import):
                    for each in node.names:  # without `as`, `import a.b` binds a, as __import__ does
                        load = import_module if each.asname else __import__
                        found[each.asname or each.name.partition(".")[0]] = partial(load, each.name)
                elif isinstance(node, ast.ImportFrom):
                    origin = resolve_name("." * node.level + (node.module or ""), sys.modules[module].__package__)
                    found |= {each.asname or each.name: partial(_part, origin, each.name) for each in node.names}
    return found


def _part(module: str, name: str) -> object:
    """What `from module import name` binds, which may be a module."""
    found = import_module(module)
    return getattr(found, name) if hasattr(found, name) else import_module(f"{module}.{name}")
