"""Tune names of ci (cipai): the sentences of each tune, and where they rhyme.

A pattern is written in the project's grammar of formats: the characters of each clause and the mark after it. Its units
are sentences, so a rhyme at a comma (江城子 has one in some poems) is not represented. Each name has one fixed pattern,
the commonest in the Song dynasty; `tunes.yaml` gives its frequency.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import groupby
from typing import Any

import yaml

from espalier.io.errors import ConfigError
from espalier.verse.books import REMEDY
from espalier.verse.copies import read_copies

#: One clause: its number of characters, and the mark after it.
Clause = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Tune:
    """The pattern, rhymes and tones of a tune.

    Attributes:
        name: the name as in poems ("卜算子").
        pattern: counts and marks ("5，5。7，5。5，5。7，5。"); a unit ends at each 。
        rhyme: one letter per unit, "." for none.
        tone: one sign per unit: "平" for a level rhyme, "仄" for an oblique one.
        stanza: the units of the first of two stanzas; 0 for a single one.
        copies: the places that repeat the word of an earlier place (叠), each with that place.
    """

    name: str
    pattern: str
    rhyme: str
    tone: str
    stanza: int = 0
    copies: tuple[tuple[int, int], ...] = ()

    @property
    def units(self) -> tuple[tuple[Clause, ...], ...]:
        """The sentences, each as its clauses: ((5, "，"), (5, "。")), …"""
        return tuple(_units(self.pattern))


def _units(pattern: str) -> Iterator[tuple[Clause, ...]]:
    clauses = [(int(count), mark) for count, mark in re.findall(r"(\d+)(\D)", pattern)]
    numbers = [0]
    for _, mark in clauses:
        numbers.append(numbers[-1] + (mark == "。"))
    for _, group in groupby(zip(numbers[:-1], clauses, strict=True), key=lambda pair: pair[0]):
        yield tuple(clause for _, clause in group)


@lru_cache(maxsize=1)
def _catalogue() -> dict[str, Tune]:
    text = resources.files("espalier.verse").joinpath("tunes.yaml").read_text(encoding="utf-8")
    rows: dict[str, dict[str, Any]] = yaml.safe_load(text)
    return {
        name: Tune(
            name, row["pattern"], row["rhyme"], row["tone"], row.get("stanza", 0), read_copies(row.get("copies", ""))
        )
        for name, row in rows.items()
    }


def tunes() -> dict[str, Tune]:
    """All tunes by name, in the order of the catalogue."""
    return dict(_catalogue())


def tune(name: str) -> Tune:
    """Look up a tune by name.

    Raises:
        ConfigError: no tune has this name; the message lists all names, and says where to find more.
    """
    named = _catalogue().get(name)
    if named is None:
        names = ", ".join(sorted(_catalogue()))
        remedy = f"allowed: {names}; for the other tunes of the form book, {REMEDY}"
        raise ConfigError(f"unknown tune '{name}'", where="tune", remedy=remedy)
    return named
