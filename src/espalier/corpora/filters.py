"""Filters: rules for which rows a corpus keeps. Every dropped row is quarantined with a reason."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Final, Literal, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from espalier.corpora.keys import Keys, key_of, repeated
from espalier.corpora.leakage import letters_of
from espalier.corpora.records import Pair, Quarantined, Record, Sentence, Verse, words_of
from espalier.io.errors import ConfigError, DataError
from espalier.io.validation import Strict
from espalier.text.language import tokens_of
from espalier.text.normalize import folded, is_traditional
from espalier.text.words import longest_run
from espalier.verse.text import units_of

#: A label of a Penn string.
_LABEL: Final = re.compile(r"\(([^\s()]+)")
#: Between the sides of a row in the text of a quarantined row.
SIDES_BETWEEN: Final = "\t"
_Row = TypeVar("_Row", bound=Record)

_VERSE: Final = {"min_units", "max_units", "min_tokens", "max_tokens", "authors", "without_authors"}
_TEXT: Final = {
    "min_words", "max_words", "max_repeat", "max_levels", "min_label_count", "without_empty", "ascii_only",
    "without_traditional",
}  # fmt: skip
#: The rules for each type of record and its subtypes, besides `deduplicate` and `max_bad_fraction`.
RULES: Final[dict[type[Record], set[str]]] = {
    Verse: _VERSE, Sentence: _TEXT, Pair: {*_TEXT, "without_identical"}, Record: _TEXT,
}  # fmt: skip


class Filters(Strict):
    """The rules of one corpus. A rule that is None, empty or false is off.

    `RULES` lists the rules for each type of record.

    Every side of a sentence or a pair must pass every rule. Words are as in `espalier.corpora.records.words_of`.
    """

    min_units: int | None = Field(default=None, ge=1)
    max_units: int | None = Field(default=None, ge=1)
    min_tokens: int | None = Field(default=None, ge=1, description="tokens of a whole text, marks included")
    max_tokens: int | None = Field(default=None, ge=1)
    authors: tuple[str, ...] = Field(default=(), description="keep only these")
    without_authors: tuple[str, ...] = Field(default=(), description="drop these")
    without_empty: bool = Field(default=False, description="no side is empty or white space")
    ascii_only: bool = False
    without_traditional: bool = Field(default=False, description="no character that OpenCC's t2s changes")
    min_words: int | None = Field(default=None, ge=1)
    max_words: int | None = Field(default=None, ge=1)
    max_repeat: int | None = Field(default=None, ge=1, description="longest run of one word")
    without_identical: bool = Field(default=False, description="no pair whose sides are equal when `folded`")
    max_levels: int | None = Field(default=None, ge=1, description="of a tree, from its root to its parts of speech")
    min_label_count: int | None = Field(
        default=None,
        ge=1,
        description="every label of a row's trees occurs at least so often in all rows that pass the rules above",
    )
    deduplicate: bool | Literal["source", "target", "either"] = Field(
        default=False,
        description="keep the first of equal texts: equal in their letters (verse) or when `folded`. For pairs: both "
        "sides are equal, or the side that is named, or either side",
    )
    max_bad_fraction: float = Field(default=1.0, ge=0, le=1, description="a larger quarantined fraction is an error")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        # A unit has at least one token.
        pairs = [(f"min_{name}", f"max_{name}") for name in ("units", "tokens", "words")]
        for least, most in [*pairs, ("min_units", "max_tokens")]:
            lower, upper = getattr(self, least), getattr(self, most)
            if lower is not None and upper is not None and lower > upper:
                raise ValueError(f"{least} {lower} is greater than {most} {upper}")
        if both := sorted({*self.authors} & {*self.without_authors}):
            raise ValueError(f"{', '.join(both)} both in authors and in without_authors")
        return self

    def check(self, record_type: type[Record], *, where: str = "filters") -> None:
        """Check that every enabled rule applies to rows of this type.

        Raises:
            ConfigError: a rule does not apply. `where` is the path of the filters in params.yaml.
        """
        rules = next(RULES[base] for base in record_type.__mro__ if base in RULES)
        allowed = {"deduplicate", "max_bad_fraction", *rules}
        wrong = [name for name, field in type(self).model_fields.items()
                 if name not in allowed and getattr(self, name) != field.default]  # fmt: skip
        if wrong:
            raise ConfigError(
                f"no rule for {record_type.__name__.lower()} rows", where=f"{where}.{wrong[0]}",
                remedy=f"allowed: {', '.join(sorted(allowed))}",
            )  # fmt: skip
        if isinstance(self.deduplicate, str) and not issubclass(record_type, Pair):
            raise ConfigError("only pairs have two sides", where=f"{where}.deduplicate", remedy="true or false")


def screen(rows: Iterable[_Row], filters: Filters) -> tuple[list[_Row], list[Quarantined]]:
    """Divide rows of one type into rows that pass and rows that fail, both in the given order.

    The reason of a row is the first rule that it fails. The order is, for verse: author, units, tokens, duplicate; for
    sentences and pairs: empty side, not ASCII, Traditional characters, words, repeated word, identical sides, levels,
    infrequent label, duplicate.

    Raises:
        ConfigError: an enabled rule does not apply to rows of this type.
        DataError: a rule needs trees, and a row has none.
    """
    rows = list(rows)
    found = verdicts(lambda: [rows], filters)
    kept: list[_Row] = []
    quarantined: list[Quarantined] = []
    for row, code in zip(rows, found.codes.tolist(), strict=True):
        if not code:
            kept.append(row)
        else:
            text = SIDES_BETWEEN.join(getattr(row, side) for side in row.sides)
            quarantined.append(Quarantined(id=row.id, stage="filter", reason=found.reasons[code], text=text))
    return kept, quarantined


class Verdicts(NamedTuple):
    """Which rows pass.

    Attributes:
        codes: (rows,) the index of the reason in `reasons`; 0 for a row that passes.
        reasons: the reasons that occur, after "".
    """

    codes: npt.NDArray[np.uint8]
    reasons: Sequence[str]


def verdicts(read: Callable[[], Iterable[Sequence[Record]]], filters: Filters) -> Verdicts:
    """The reason why each row fails, as in `screen`. In memory are a chunk, and for each row a byte and its keys.

    Args:
        read: function that reads all rows anew, in chunks; it is called at most twice.

    Raises:
        ConfigError, DataError: as in `screen`.
    """
    numbers = {"": 0}
    parts: list[npt.NDArray[np.uint8]] = []
    keys: list[Keys] = []
    counts: Counter[str] = Counter()
    for rows in read():
        for record_type in {type(row): None for row in rows}:
            filters.check(record_type)
        reasons = [
            _verse_reason(row, filters) if isinstance(row, Verse) else _text_reason(row, filters) for row in rows
        ]
        parts.append(np.array([numbers.setdefault(reason or "", len(numbers)) for reason in reasons], dtype=np.uint8))
        for row, reason in zip(rows, reasons, strict=True):
            if filters.min_label_count is not None and reason is None:
                counts.update(_labels(row))
        if filters.deduplicate and rows:
            keys.append(np.array([_keys(row, filters.deduplicate) for row in rows], dtype=np.uint64))
    codes = np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint8)
    rare = {label for label, count in counts.items() if count < (filters.min_label_count or 0)}
    if rare:
        infrequent = numbers.setdefault("infrequent label", len(numbers))
        for place, row in enumerate(chain.from_iterable(read())):
            if not codes[place] and not rare.isdisjoint(_labels(row)):
                codes[place] = infrequent
    if filters.deduplicate and keys:
        duplicates = repeated(list(np.concatenate(keys).T), codes == 0)
        codes[duplicates] = numbers.setdefault("duplicate", len(numbers))
    return Verdicts(codes, tuple(numbers))


def why_none(quarantined: Iterable[Quarantined]) -> str:
    """Why no row was kept: how many have which reason, and the first one."""
    rows = iter(quarantined)
    first = next(rows, None)
    if first is None:
        return "no rows were read"
    counts = Counter(row.reason for row in chain([first], rows)).most_common()
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in counts)
    return f"{reasons}; the first is {first.id}: {first.text[:80]!r}"


def require(kept: int, quarantined: int, filters: Filters, *, corpus: str, why: str = "") -> None:
    """Check that rows are left, and that at most the fraction `max_bad_fraction` was quarantined.

    Args:
        quarantined: number of rows quarantined by any stage.
        corpus: its name, for the message.
        why: the reasons, for the message if no row is left.

    Raises:
        DataError: the corpus is empty, or too much of it was quarantined.
    """
    total = kept + quarantined
    if not kept:
        what = f"all {total:,} rows were quarantined{f' ({why})' if why else ''}" if total else "no rows were read"
        raise DataError(
            f"the corpus is empty: {what}", file=corpus, remedy="correct its reader's options, or loosen its filters"
        )
    if quarantined > filters.max_bad_fraction * total:
        raise DataError(
            f"{quarantined:,} of {total:,} rows were quarantined, more than max_bad_fraction "
            f"{filters.max_bad_fraction:g} allows",
            file=corpus,
            remedy="see the reasons in its quarantine table; mend the data, or raise max_bad_fraction",
        )


def _verse_reason(row: Verse, filters: Filters) -> str | None:
    if filters.authors and row.author not in filters.authors:
        return "another author"
    if row.author in filters.without_authors:
        return "an author left out"
    units = units_of(row.target)
    tokens = sum(len(tokens_of(unit, row.language)) for unit in units)
    return _outside(len(units), filters.min_units, filters.max_units, "units") or _outside(
        tokens, filters.min_tokens, filters.max_tokens, "tokens"
    )


def _text_reason(row: Record, filters: Filters) -> str | None:
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
    levels = filters.max_levels
    if levels is not None and any(levels_of(tree) > levels for tree in _trees(row, "max_levels")):
        return "too many levels"
    return None


def _outside(count: int, lower: int | None, upper: int | None, name: str) -> str | None:
    if lower is not None and count < lower:
        return f"too few {name}"
    return f"too many {name}" if upper is not None and count > upper else None


def _trees(row: Record, rule: str) -> list[str]:
    trees = [getattr(row, f"{side}_tree") for side in row.sides]
    if not all(trees):
        raise DataError(f"no tree for the rule {rule}", file=row.origin, row=row.id, remedy="give the corpus a parser")
    return trees


def _labels(row: Record) -> list[str]:
    return [label for tree in _trees(row, "min_label_count") for label in labels_of(tree)]


def _keys(row: Record, how: bool | str) -> list[int]:
    """Keys of a row. A later row with one of these keys is a duplicate."""
    if isinstance(row, Verse):
        # A text without letters is compared unchanged.
        return [key_of(letters_of(row.target) or row.target)]
    keys = {side: folded(getattr(row, side)) for side in row.sides}
    if how is True:
        return [key_of(*keys.values())]
    return [key_of(keys[side]) for side in ("source", "target") if how in (side, "either")]


def levels_of(tree: str) -> int:
    """The depth of a tree in a Penn string: 1 for only a root, 0 for none. Parts of speech count, words do not."""
    depth = deepest = 0
    for character in tree:
        if character == "(":
            depth += 1
            deepest = max(deepest, depth)
        elif character == ")":
            depth -= 1
    return deepest


def labels_of(tree: str) -> list[str]:
    """The labels of all nodes of a tree in a Penn string, including parts of speech."""
    return _LABEL.findall(tree)
