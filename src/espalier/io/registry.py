"""Registries: entries by name, and lazy import of the objects they name."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from typing import Any, TypeVar

from espalier.io.errors import ConfigError

T = TypeVar("T")


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


def imported(kind: str, target: Any, *, where: str) -> Any:
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
