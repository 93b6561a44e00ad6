"""Rows of symbols in SCPN's form, one row and one node at a time."""

from __future__ import annotations

from collections.abc import Sequence

from espalier.datasets.pairs.tree_symbols import CLOSE, FIRST_BRACKETED, OPEN, TreeSymbols
from espalier.syntax.levels import bracketed


def bracketed_row(row: Sequence[int], symbols: TreeSymbols) -> list[int]:
    """Three ids per node; nothing for an empty row."""
    names = {"(": OPEN, ")": CLOSE} | {label: FIRST_BRACKETED + place for place, label in enumerate(symbols.labels)}
    return [names[token] for token in bracketed(symbols.decode(row))] if len(row) else []
