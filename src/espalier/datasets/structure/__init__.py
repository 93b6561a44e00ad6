"""Texts with structures of their tokens (SAT)."""
