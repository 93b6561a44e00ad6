"""Trained models as Python objects: what `espalier.load` gives, and what it writes."""
