"""Espalier: text generators trained to grow along a frame."""

__version__ = "0.1.0"
