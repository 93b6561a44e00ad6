"""Imports of optional packages, and of libraries without the slow optional packages that they would load."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from espalier.io.errors import ConfigError


@contextmanager
def of_extra(extra: str | None) -> Iterator[None]:
    """Report a missing package of an extra as an error. `extra` is None for packages that belong to no extra.

    Raises:
        ConfigError: a package is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        what = f"the package {(error.name or '?').partition('.')[0]} is not installed"
        raise ConfigError(what, remedy=f"install espalier[{extra}]" if extra else "install it") from error


@contextmanager
def without_packages(*names: str) -> Iterator[None]:
    """In this context, `import` of the given packages raises ImportError as if they were not installed.

    Use it for libraries that import a slow package only if it is installed. Packages already imported stay.
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
    """NLTK or one of its modules, imported without scipy and scikit-learn, which saves 1.5 s.

    NLTK uses these, if installed, only in `metrics.association`, `classify.scikitlearn` and `parse.transitionparser`.
    """
    with without_packages("scipy", "sklearn"):
        return import_module(f"nltk.{name}" if name else "nltk")
