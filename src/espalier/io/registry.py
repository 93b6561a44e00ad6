"""Registries: entries by name, and the objects that entries name, imported when they are used."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from typing import Any, TypeVar

from espalier.io.errors import ConfigError

T = TypeVar("T")


def entry(kind: str, entries: Mapping[str, T], name: str, *, where: str | None = None) -> T:
    """The entry of that name.

    Args:
        kind: what the entries are, for messages.
        where: the key of params.yaml that has the name.

    Raises:
        ConfigError: there is none; says which there are.
    """
    if name not in entries:
        raise ConfigError.unknown(kind, name, entries, where=where)
    return entries[name]


def imported(kind: str, target: Any, *, where: str) -> Any:
    """The object that "package.module:name" stands for; what is no string is returned as it is.

    Raises:
        ConfigError: it cannot be imported.
    """
    if not isinstance(target, str):
        return target
    try:
        return pkgutil.resolve_name(target)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(f"cannot import the {kind} {target} ({error})", where=where) from error
