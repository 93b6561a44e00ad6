"""Espalier: text generators that follow a given structure."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from espalier.inference.system import load

__version__ = "0.1.0"
__all__ = ["load"]


def __getattr__(name: str) -> Any:
    """`load`, which is imported when it is used: each module imports this one first."""
    if name != "load":
        raise AttributeError(f"module 'espalier' has no attribute '{name}'")
    from espalier.inference.system import load

    return load
