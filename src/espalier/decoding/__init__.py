"""Beam search, sampling and constraints, for every model of `espalier.models.contract`."""
