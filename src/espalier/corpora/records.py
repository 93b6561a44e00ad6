"""Records: one typed row per example, the same names from raw data to metric."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import ClassVar, Final, TypeVar

import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What every example has. `id` is stable from raw data to metric; `origin` is the catalogue entry it came from."""

    #: The columns that hold text of the example, in the order in which leakage looks at them.
    sides: ClassVar[tuple[str, ...]] = ("target",)

    id: str
    origin: str
    language: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verse(Record):
    """A poem. `target` is written as `espalier.verse.text` says; `rhyme` has one letter per unit, "." for none."""

    author: str
    tune: str
    rhyme: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence(Record):
    """One sentence with its grammar; columns as `espalier.syntax.parse` has them, empty where nothing is known."""

    target_words: str = ""
    target_tags: str = ""
    target_tree: str = ""
    target_heads: str = ""
    target_labels: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair(Record):
    """A text and another that answers or paraphrases it, each with its grammar as in `Sentence`.

    `group` names what no split may part, such as the dialogue that a pair was taken from; empty for none.
    """

    sides: ClassVar[tuple[str, ...]] = ("source", "target")

    source: str
    group: str = ""
    source_words: str = ""
    source_tags: str = ""
    source_tree: str = ""
    source_heads: str = ""
    source_labels: str = ""
    target_words: str = ""
    target_tags: str = ""
    target_tree: str = ""
    target_heads: str = ""
    target_labels: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined:
    """A row that a stage put aside, and why. `reason` is a short fixed phrase, so that reasons can be counted."""

    id: str
    stage: str
    reason: str
    text: str


#: What the rows of each task are.
KINDS: Final[dict[str, type[Record]]] = {"verse": Verse, "sentences": Sentence, "pairs": Pair}

Row = TypeVar("Row", Record, Verse, Sentence, Pair, Quarantined)


def table_of(rows: Iterable[Record | Quarantined], kind: type[Record] | type[Quarantined]) -> pd.DataFrame:
    """A table with one column per field of `kind`, also when there are no rows."""
    names = [field.name for field in fields(kind)]
    return pd.DataFrame([asdict(row) for row in rows], columns=names).astype("str")


def records_of(table: pd.DataFrame, kind: type[Row]) -> list[Row]:
    """The rows of a table as records; the inverse of `table_of`."""
    names = [field.name for field in fields(kind)]
    columns: Sequence[list[str]] = [table[name].tolist() for name in names]
    return [kind(**dict(zip(names, values, strict=True))) for values in zip(*columns, strict=True)]


def words_of(row: Record, side: str) -> list[str]:
    """The words of a side as a parser found them; else what stands between spaces, in Chinese each character."""
    words, text = getattr(row, f"{side}_words", ""), getattr(row, side)
    if words:
        return words.split(" ")
    return list("".join(text.split())) if row.language == "zh" else text.split()
