"""Records: one typed row per example, with the same names at every stage from raw data to metrics."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import Field, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from espalier.text.language import Language

if TYPE_CHECKING:
    import pandas as pd


def optional() -> str:
    """A field that is empty by default. A table has a column for it only if a row fills it."""
    return field(default="", metadata={"optional": True})


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The base of all records. `id` is the same from raw data to metrics; `origin` is the source of the example."""

    #: The columns that hold text of the example.
    sides: ClassVar[tuple[str, ...]] = ("target",)
    #: Whether a parser can fill the columns `<side>_words`, `<side>_tags` and so on of every side.
    parsed: ClassVar[bool] = False
    #: Columns whose distinct values are counted in every split.
    counted: ClassVar[tuple[str, ...]] = ()

    id: str
    origin: str
    language: Language
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verse(Record):
    """A poem. `target` has the form of `espalier.verse.text`; `rhyme` has one letter per unit, "." for none.

    `family` is a common name for all names of the tune, empty if unknown. `tones` has one sign per word, without marks:
    平 level, 仄 oblique, 中 either; empty if unknown. `copies` are the words that repeat earlier words
    (`espalier.verse.copies.write_copies`). `group` is as in `Pair`.
    """

    counted: ClassVar[tuple[str, ...]] = ("tune",)

    author: str
    tune: str
    rhyme: str
    family: str = optional()
    tones: str = optional()
    copies: str = optional()
    group: str = optional()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence(Record):
    """One sentence with its grammar. Columns are as in `espalier.syntax.parse`, empty if unknown.

    `group` is as in `Pair`.
    """

    parsed: ClassVar[bool] = True

    target_words: str = ""
    target_tags: str = ""
    target_tree: str = ""
    target_heads: str = ""
    target_labels: str = ""
    group: str = optional()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair(Record):
    """A text and a second text that answers or paraphrases it, each with its grammar as in `Sentence`.

    Rows of one `group`, such as the dialogue that they come from, stay in one split; empty for none.
    """

    sides: ClassVar[tuple[str, ...]] = ("source", "target")
    parsed: ClassVar[bool] = True

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
    """A row that a stage cannot use, with the reason, a short fixed phrase that can be counted."""

    id: str
    stage: str
    reason: str
    text: str


#: The types of records by name. A reader names one of them, and so does a corpus.
RECORDS: Final[dict[str, type[Record]]] = {"verse": Verse, "sentences": Sentence, "pairs": Pair}

Row = TypeVar("Row", bound=Record | Quarantined)


def values_of(row: Record | Quarantined) -> dict[str, str]:
    """The fields of a row by name, without empty optional fields."""
    return {item.name: value for item in fields(row) if (value := getattr(row, item.name)) or not _is_optional(item)}


def column_names(record_type: type[Row], filled: Collection[str] = ()) -> list[str]:
    """The columns of a table of this record type, of which rows fill these optional ones."""
    return [item.name for item in fields(record_type) if not _is_optional(item) or item.name in filled]


def required_columns(record_type: type[Row]) -> list[str]:
    """The columns that every table of this record type has."""
    return column_names(record_type)


def optional_columns(record_type: type[Row]) -> list[str]:
    """The columns that a table of this record type has only if a row fills them."""
    return [item.name for item in fields(record_type) if _is_optional(item)]


def records_of(table: pd.DataFrame, record_type: type[Row]) -> list[Row]:
    """The rows of a table as records. An optional field for which the table has no column is empty."""
    names = [item.name for item in fields(record_type) if not (_is_optional(item) and item.name not in table)]
    columns = [table[name].tolist() for name in names]
    return [record_type(**dict(zip(names, values, strict=True))) for values in zip(*columns, strict=True)]


def _is_optional(item: Field[Any]) -> bool:
    metadata: Mapping[str, bool] = item.metadata
    return metadata.get("optional", False)


def words_of(row: Record, side: str) -> list[str]:
    """The words of a side: from a parser if available, else split at spaces, in Chinese into characters."""
    words, text = getattr(row, f"{side}_words", ""), getattr(row, side)
    if words:
        return list(words.split(" "))
    return list("".join(text.split())) if row.language == "zh" else text.split()
