"""Leakage: how many examples of one split also occur, whole or in part, in another."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from espalier.corpora.records import Record, Verse
from espalier.text.language import Language, tokens_of
from espalier.verse.text import pattern_of, units_of

if TYPE_CHECKING:
    import pandas as pd

#: The rows of the first split are compared with those of the second.
PAIRS = (("dev", "train"), ("test", "train"), ("test", "dev"))

#: Shorter units are common phrases ("何处。", "ah me !"); sharing them is not leakage.
SHARED_UNIT_TOKENS = 8

Key = str | tuple[str, ...]


def letters_of(text: str) -> str:
    """The letters and characters of a text, ignoring case, width, marks, digits and spaces."""
    return "".join(filter(str.isalpha, unicodedata.normalize("NFKC", text).lower()))


def format_key(text: str, language: str) -> str:
    """The format of a verse: its marks and the number of words between them. Equal formats have equal keys."""
    return pattern_of(text, "zh" if language == "zh" else "en")


def leakage(splits: Mapping[str, pd.DataFrame], record_type: type[Record]) -> dict[str, int]:
    """Count, for each of `PAIRS`, the rows of the first split that also occur in the second.

    The keys are fixed for a `record_type`: `<split>_<other>_<how>`, where `how` is
    `exact` (all sides equal), `normalised` (all sides equal in their letters), for records of several sides
    `shared_<side>` (that side equal in its letters), and for verse `shared_tune` (all names of the tune, if known),
    `shared_format` (the same lengths and marks) and `shared_unit` (any unit of at least `SHARED_UNIT_TOKENS` tokens
    equal in its letters). A side without letters is compared unchanged.
    A missing split counts as empty. Time is linear in the text.
    """
    ways = _ways(record_type)
    # One pass over each split.
    keys = {name: {how: [set(way(row)) for row in _rows(table, record_type)] for how, way in ways.items()}
            for name, table in splits.items()}  # fmt: skip
    known = {name: {how: set().union(*rows) for how, rows in of.items()} for name, of in keys.items()}
    return {
        f"{split}_{other}_{how}": sum(not row.isdisjoint(known[other][how]) for row in keys[split][how])
        if split in keys and other in keys
        else 0
        for split, other in PAIRS
        for how in ways
    }


def _ways(record_type: type[Record]) -> dict[str, Callable[[dict[str, str]], Iterator[Key]]]:
    """For each way of comparing rows, a function from a row to its keys. Rows that share a key are alike."""

    def exact(row: dict[str, str]) -> Iterator[Key]:
        yield tuple(row[side] for side in record_type.sides)

    def normalised(row: dict[str, str]) -> Iterator[Key]:
        key = tuple(letters_of(row[side]) for side in record_type.sides)
        if all(key):
            yield key

    def shared(side: str) -> Callable[[dict[str, str]], Iterator[Key]]:
        def key_of(row: dict[str, str]) -> Iterator[Key]:
            if key := letters_of(row[side]):
                yield key

        return key_of

    ways: dict[str, Callable[[dict[str, str]], Iterator[Key]]] = {"exact": exact, "normalised": normalised}
    if len(record_type.sides) > 1:
        ways |= {f"shared_{side}": shared(side) for side in record_type.sides}
    if issubclass(record_type, Verse):
        ways |= {"shared_tune": _tune, "shared_format": _format, "shared_unit": _units}
    return ways


def _tune(row: dict[str, str]) -> Iterator[Key]:
    if name := row.get("family") or row["tune"]:
        yield name


def _format(row: dict[str, str]) -> Iterator[Key]:
    yield format_key(row["target"], row["language"])


def _units(row: dict[str, str]) -> Iterator[Key]:
    language: Language = "zh" if row["language"] == "zh" else "en"
    for unit in units_of(row["target"]):
        if len(tokens_of(unit, language)) >= SHARED_UNIT_TOKENS and (key := letters_of(unit)):
            yield key


def _rows(table: pd.DataFrame, record_type: type[Record]) -> Iterator[dict[str, str]]:
    of_verse = ["tune", *(["family"] if "family" in table else [])] if issubclass(record_type, Verse) else []
    names = ["language", *record_type.sides, *of_verse]
    for values in zip(*(table[name] for name in names), strict=True):
        yield dict(zip(names, values, strict=True))
