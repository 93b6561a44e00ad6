"""Imports of optional packages, and of libraries without the optional packages that they load needlessly."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from espalier.io.errors import ConfigError


@contextmanager
def of_extra(extra: str | None) -> Iterator[None]:
    """For imports of packages that are installed with an extra of this project; None for packages of others.

    Raises:
        ConfigError: one is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        what = f"the package {(error.name or '?').partition('.')[0]} is not installed"
        raise ConfigError(what, remedy=f"install espalier[{extra}]" if extra else "install it") from error


@contextmanager
def without_packages(*names: str) -> Iterator[None]:
    """Make `import` raise ImportError for packages while this lasts, as if they were not installed.

    For libraries that import a slow package only if it is installed. A package that is imported already stays.
    """
    hidden = [name for name in names if name not in sys.modules]
    for name in hidden:
        # Python's documented way to make an import fail: None in sys.modules (reference, section 5.3.1).
        sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        for name in hidden:
            sys.modules.pop(name, None)


def nltk_module(name: str = "") -> Any:
    """NLTK, or the module of that name in it, imported without scipy and scikit-learn: 1.5 s less.

    It uses them in `metrics.association`, `classify.scikitlearn` and `parse.transitionparser` alone, if installed.
    """
    with without_packages("scipy", "sklearn"):
        return import_module(f"nltk.{name}" if name else "nltk")
