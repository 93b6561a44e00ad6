"""Espalier: text generators trained to grow along a frame."""

from espalier.inference.system import load

__version__ = "0.1.0"
__all__ = ["load"]
