"""Espalier: text generators that follow a given structure."""

from espalier.inference.system import load

__version__ = "0.1.0"
__all__ = ["load"]
