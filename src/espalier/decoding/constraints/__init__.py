"""Constraints: what may come next, as masks over a vocabulary."""
