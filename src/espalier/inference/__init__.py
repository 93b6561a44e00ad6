"""Trained models as Python objects: `espalier.load` and its results."""
