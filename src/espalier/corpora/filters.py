"""Filters: counted rules that say which rows a corpus keeps. What they drop has a reason and is kept aside."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from espalier.corpora.leakage import letters_of
from espalier.corpora.records import Quarantined, Verse
from espalier.io.errors import DataError
from espalier.verse.text import Language, tokens_of, units_of

_Row = TypeVar("_Row", bound=Verse)


class Filters(BaseModel):
    """The rules of one corpus; a rule that is None, empty or false is off."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    min_units: int | None = Field(default=None, ge=1)
    max_units: int | None = Field(default=None, ge=1)
    min_tokens: int | None = Field(default=None, ge=1, description="tokens of a whole text, marks included")
    max_tokens: int | None = Field(default=None, ge=1)
    authors: tuple[str, ...] = Field(default=(), description="keep these alone")
    without_authors: tuple[str, ...] = Field(default=(), description="keep all but these")
    deduplicate: bool = Field(default=False, description="of texts equal in their letters, keep the first")
    max_bad_fraction: float = Field(default=1.0, ge=0, le=1, description="more quarantined than this is an error")

    @model_validator(mode="after")
    def _possible(self) -> Filters:
        for least, most, name in (
            (self.min_units, self.max_units, "units"),
            (self.min_tokens, self.max_tokens, "tokens"),
        ):
            if least is not None and most is not None and least > most:
                raise ValueError(f"min_{name} {least} is greater than max_{name} {most}")
        if both := sorted({*self.authors} & {*self.without_authors}):
            raise ValueError(f"{', '.join(both)} both in authors and in without_authors")
        return self


def screen(rows: Iterable[_Row], filters: Filters) -> tuple[list[_Row], list[Quarantined]]:
    """Part the rows into those that pass and those that do not, both in the order given.

    A row that breaks several rules gets the first one's reason: author, units, tokens, duplicate.
    """
    kept: list[_Row] = []
    aside: list[Quarantined] = []
    seen: set[str] = set()
    for row in rows:
        reason = _broken(row, filters)
        if reason is None and filters.deduplicate:
            # A text of marks alone has no letters; it is itself.
            key = letters_of(row.target) or row.target
            reason = "duplicate" if key in seen else None
            seen.add(key)
        if reason is None:
            kept.append(row)
        else:
            aside.append(Quarantined(id=row.id, stage="filter", reason=reason, text=row.target))
    return kept, aside


def require(kept: int, quarantined: int, filters: Filters, *, corpus: str) -> None:
    """Fail where too little is left: nothing at all, or less than `max_bad_fraction` allows.

    Args:
        kept: rows that stay.
        quarantined: rows put aside since the raw data, whichever stage did it.
        filters: whose `max_bad_fraction` counts.
        corpus: its name, for the message.

    Raises:
        DataError: the corpus is empty, or too much of it was quarantined.
    """
    total = kept + quarantined
    if not kept:
        why = f"all {total:,} rows were quarantined" if total else "no rows came in"
        raise DataError(
            f"the corpus is empty: {why}",
            file=corpus,
            remedy="see the reasons in its quarantine table; loosen its filters",
        )
    if quarantined > filters.max_bad_fraction * total:
        raise DataError(
            f"{quarantined:,} of {total:,} rows were quarantined, more than max_bad_fraction "
            f"{filters.max_bad_fraction:g} allows",
            file=corpus,
            remedy="see the reasons in its quarantine table; mend the data, or raise max_bad_fraction",
        )


def _broken(row: Verse, filters: Filters) -> str | None:
    """The reason why a row does not pass, or None."""
    if filters.authors and row.author not in filters.authors:
        return "another author"
    if row.author in filters.without_authors:
        return "an author left out"
    language: Language = "zh" if row.language == "zh" else "en"
    units = units_of(row.target)
    tokens = sum(len(tokens_of(unit, language)) for unit in units)
    for count, least, most, name in (
        (len(units), filters.min_units, filters.max_units, "units"),
        (tokens, filters.min_tokens, filters.max_tokens, "tokens"),
    ):
        if least is not None and count < least:
            return f"too few {name}"
        if most is not None and count > most:
            return f"too many {name}"
    return None
