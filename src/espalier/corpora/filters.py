"""Filters: counted rules that say which rows a corpus keeps. What they drop has a reason and is kept aside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from espalier.corpora.leakage import letters_of
from espalier.corpora.records import Pair, Quarantined, Record, Sentence, Verse, words_of
from espalier.io.errors import ConfigError, DataError
from espalier.syntax.penn_string import labels_of, levels_of
from espalier.text.language import Language, tokens_of
from espalier.text.normalize import folded, is_traditional
from espalier.text.words import longest_run
from espalier.verse.text import units_of

_Row = TypeVar("_Row", bound=Record)

_VERSE: Final = {"min_units", "max_units", "min_tokens", "max_tokens", "authors", "without_authors"}
_TEXT: Final = {
    "min_words", "max_words", "max_repeat", "max_levels", "min_label_count", "without_empty", "ascii_only",
    "without_traditional",
}  # fmt: skip
#: The rules of each kind of record, besides `deduplicate` and `max_bad_fraction`.
RULES: Final[dict[type[Record], set[str]]] = {Verse: _VERSE, Sentence: _TEXT, Pair: {*_TEXT, "without_identical"}}


class Filters(BaseModel):
    """The rules of one corpus; a rule that is None, empty or false is off. `RULES` has those of each kind of record.

    Of sentences and pairs every side must meet every rule. Words are those that a parser found, or else what stands
    between spaces, in Chinese each character.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    min_units: int | None = Field(default=None, ge=1)
    max_units: int | None = Field(default=None, ge=1)
    min_tokens: int | None = Field(default=None, ge=1, description="tokens of a whole text, marks included")
    max_tokens: int | None = Field(default=None, ge=1)
    authors: tuple[str, ...] = Field(default=(), description="keep these alone")
    without_authors: tuple[str, ...] = Field(default=(), description="keep all but these")
    without_empty: bool = Field(default=False, description="no side of spaces alone")
    ascii_only: bool = False
    without_traditional: bool = Field(default=False, description="nothing that OpenCC's t2s would change")
    min_words: int | None = Field(default=None, ge=1)
    max_words: int | None = Field(default=None, ge=1)
    max_repeat: int | None = Field(default=None, ge=1, description="most times that a word may stand in a row")
    without_identical: bool = Field(default=False, description="no pair whose sides are `folded` to the same")
    max_levels: int | None = Field(default=None, ge=1, description="of a tree, from its root to its parts of speech")
    min_label_count: int | None = Field(
        default=None, ge=1, description="every label of its trees stands as often in all rows that meet the rules above"
    )
    deduplicate: bool | Literal["source", "target", "either"] = Field(
        default=False,
        description="of equal texts, keep the first: equal in their letters (verse) or when `folded`; of pairs "
        "both sides, or the one named, or either of them with either of an earlier pair",
    )
    max_bad_fraction: float = Field(default=1.0, ge=0, le=1, description="more quarantined than this is an error")

    @model_validator(mode="after")
    def _possible(self) -> Filters:
        for name in ("units", "tokens", "words"):
            least, most = getattr(self, f"min_{name}"), getattr(self, f"max_{name}")
            if least is not None and most is not None and least > most:
                raise ValueError(f"min_{name} {least} is greater than max_{name} {most}")
        if both := sorted({*self.authors} & {*self.without_authors}):
            raise ValueError(f"{', '.join(both)} both in authors and in without_authors")
        return self

    def check(self, kind: type[Record], *, where: str = "filters") -> None:
        """See that every rule that is on can judge rows of this kind.

        Raises:
            ConfigError: one cannot. `where` is the filters' own path.
        """
        judged = {"deduplicate", "max_bad_fraction", *RULES[kind]}
        wrong = [name for name, field in type(self).model_fields.items()
                 if name not in judged and getattr(self, name) != field.default]  # fmt: skip
        if wrong:
            raise ConfigError(
                f"no rule for {kind.__name__.lower()} rows", where=f"{where}.{wrong[0]}",
                remedy=f"allowed: {', '.join(sorted(judged))}",
            )  # fmt: skip
        if isinstance(self.deduplicate, str) and kind is not Pair:
            raise ConfigError("only pairs have two sides", where=f"{where}.deduplicate", remedy="true or false")


def screen(rows: Iterable[_Row], filters: Filters) -> tuple[list[_Row], list[Quarantined]]:
    """Part the rows, all of one kind, into those that pass and those that do not, both in the order given.

    A row that breaks several rules gets the first one's reason. The order is, for verse: author, units, tokens,
    duplicate; for sentences and pairs: empty side, not ASCII, Traditional characters, words, repeated word, identical
    sides, levels, infrequent label, duplicate.

    Raises:
        ConfigError: a rule that is on is not for rows of this kind.
        DataError: a rule of trees, and a row without them.
    """
    rows = list(rows)
    for kind in {type(row): None for row in rows}:
        filters.check(kind)
    reasons = [_broken(row, filters) for row in rows]
    if filters.min_label_count is not None:
        counts: Counter[str] = Counter()
        labels = [_labels(row) if reason is None else [] for row, reason in zip(rows, reasons, strict=True)]
        for found in labels:
            counts.update(found)
        rare = {label for label, count in counts.items() if count < filters.min_label_count}
        reasons = [
            reason if reason is not None or rare.isdisjoint(found) else "infrequent label"
            for reason, found in zip(reasons, labels, strict=True)
        ]
    kept: list[_Row] = []
    aside: list[Quarantined] = []
    seen: set[tuple[str, ...]] = set()
    for row, reason in zip(rows, reasons, strict=True):
        if reason is None and filters.deduplicate:
            keys = _keys(row, filters.deduplicate)
            reason = None if seen.isdisjoint(keys) else "duplicate"
            if reason is None:
                seen.update(keys)
        if reason is None:
            kept.append(row)
        else:
            text = "\t".join(getattr(row, side) for side in row.sides)
            aside.append(Quarantined(id=row.id, stage="filter", reason=reason, text=text))
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


def _broken(row: Record, filters: Filters) -> str | None:
    """The reason why a row does not pass by itself, or None."""
    return _broken_verse(row, filters) if isinstance(row, Verse) else _broken_text(row, filters)


def _broken_verse(row: Verse, filters: Filters) -> str | None:
    if filters.authors and row.author not in filters.authors:
        return "another author"
    if row.author in filters.without_authors:
        return "an author left out"
    language: Language = "zh" if row.language == "zh" else "en"
    units = units_of(row.target)
    tokens = sum(len(tokens_of(unit, language)) for unit in units)
    return _outside(len(units), filters.min_units, filters.max_units, "units") or _outside(
        tokens, filters.min_tokens, filters.max_tokens, "tokens"
    )


def _broken_text(row: Record, filters: Filters) -> str | None:
    texts = [getattr(row, side) for side in row.sides]
    words = [words_of(row, side) for side in row.sides]
    if filters.without_empty and not all(text.strip() for text in texts):
        return "empty side"
    if filters.ascii_only and not all(text.isascii() for text in texts):
        return "not ASCII"
    if filters.without_traditional and any(is_traditional(text) for text in texts):
        return "Traditional characters"
    for side in words:
        if reason := _outside(len(side), filters.min_words, filters.max_words, "words"):
            return reason
    if filters.max_repeat is not None and any(longest_run(side) > filters.max_repeat for side in words):
        return "repeated word"
    if filters.without_identical and len({folded(text) for text in texts}) == 1:
        return "identical sides"
    most = filters.max_levels
    if most is not None and any(levels_of(tree) > most for tree in _trees(row, "max_levels")):
        return "too many levels"
    return None


def _outside(count: int, least: int | None, most: int | None, name: str) -> str | None:
    if least is not None and count < least:
        return f"too few {name}"
    return f"too many {name}" if most is not None and count > most else None


def _labels(row: Record) -> list[str]:
    return [label for tree in _trees(row, "min_label_count") for label in labels_of(tree)]


def _trees(row: Record, rule: str) -> list[str]:
    trees = [getattr(row, f"{side}_tree") for side in row.sides]
    if not all(trees):
        raise DataError(f"no tree for the rule {rule}", file=row.origin, row=row.id, remedy="give the corpus a parser")
    return trees


def _keys(row: Record, how: bool | str) -> Sequence[tuple[str, ...]]:
    """What a kept row leaves behind, any of which makes a later row its duplicate."""
    if isinstance(row, Verse):
        # A text of marks alone has no letters; it is itself.
        return [(letters_of(row.target) or row.target,)]
    keys = {side: folded(getattr(row, side)) for side in row.sides}
    if how is True:
        return [tuple(keys.values())]
    return [(keys[side],) for side in ("source", "target") if how in (side, "either")]
