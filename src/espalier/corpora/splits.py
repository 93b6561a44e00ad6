"""Splits: which rows are for training, development and test. A split depends on a seed, not on the order of rows."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from espalier.corpora.leakage import format_key, letters_of
from espalier.corpora.linked import linked
from espalier.io.errors import ConfigError
from espalier.io.hashing import seed_from
from espalier.io.validation import Strict

if TYPE_CHECKING:
    import pandas as pd

SPLITS: Final = ("train", "dev", "test")
#: Why a row is in no split.
LEFT_OUT: Final = "format of dev or test"


class AllTrain(Strict):
    """All rows are for training, as in a corpus for pre-training."""

    kind: Literal["all_train"]


class RandomSplit(Strict):
    """`dev` and `test` rows are sampled; the others are for training."""

    kind: Literal["random"]
    seed: int
    dev: int = Field(ge=0)
    test: int = Field(ge=0)


class AuthorSplit(Strict):
    """`dev` and `test` rows are sampled from the rows of one author; all others are for training."""

    kind: Literal["author"]
    author: str
    seed: int
    dev: int = Field(ge=0)
    test: int = Field(ge=0)


class TitleSplit(Strict):
    """Held-out tune names: all poems of a name are in one split.

    Names are sampled uniformly until the sizes of both splits are within `tolerance`. SongNet section 4.2: 19,244 / 847
    / 962 poems; the released code holds out 25 names for each.

    A name does not determine a format: two tunes may share a format, and one tune may have several names. `by: family`
    holds out all names of a tune together. With `new_formats`, training rows with the format of a dev or test row are
    left out of all splits.
    """

    kind: Literal["title"]
    seed: int
    dev_titles: int = Field(default=25, ge=1)
    test_titles: int = Field(default=25, ge=1)
    dev_size: int = Field(default=847, ge=1)
    test_size: int = Field(default=962, ge=1)
    tolerance: float = Field(default=0.1, ge=0, description="as a fraction of each size")
    keep_in_train: tuple[str, ...] = Field(default=(), description="names that stand for no one format, such as 失调名")
    attempts: int = Field(default=100_000, ge=1)
    largest: float = Field(
        default=1.0, gt=0, le=1, description="the largest title of dev, and of test, as a fraction of its rows"
    )
    by: Literal["tune", "family"] = Field(default="tune", description="the column that is a title")
    test_names: tuple[str, ...] = Field(default=(), description="these are held out for test, and none is sampled")
    new_formats: bool = Field(default=False, description="no format of dev or test, lengths and marks, trains")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        """Check that the sizes are possible: a title has at least one row, and at most its largest share."""
        for name, titles, size in (("dev", self.dev_titles, self.dev_size), ("test", self.test_titles, self.test_size)):
            if titles - size > self.tolerance * size:
                raise ValueError(f"{name}_titles {titles} have more rows than {name}_size {size} allows")
            if titles * self.largest < 1:
                raise ValueError(f"{name}_titles {titles}, each at most {self.largest:.0%} of the rows: too few")
        return self


class GroupSplit(Strict):
    """Whole groups are sampled, with at most `dev` and `test` rows. No group is in two splits.

    Two rows are in one group if they have the same `group` (a dialogue), if `sides` is set and a side of each has the
    same letters, or if each is in one group with a third row. Groups are taken in random order. A group that does not
    fit into dev or test is for training, as most large groups are; a split that no group fits into is an error.

    With `stratify`, origins have the same proportions in dev and test as in the whole table (`apportion`). If an origin
    has too few groups that fit, other origins fill the gap. Dev and test reach their sizes if enough groups have one
    row. Sides without letters (numbers, marks) are then compared unchanged, so that no side is in two splits.
    """

    kind: Literal["group"]
    seed: int
    dev: int = Field(ge=0)
    test: int = Field(ge=0)
    sides: bool = Field(default=True, description="rows that share a source or a target are in one group")
    stratify: Literal["none", "origin"] = Field(default="none", description="the column whose proportions are kept")


class PublishedSplit(Strict):
    """The published split, named in the id before the number: `ud_english_ewt-dev-000012`."""

    kind: Literal["published"]
    dev: tuple[str, ...] = Field(default=("dev",), description="names of the splits for development")
    test: tuple[str, ...] = Field(default=("test",), description="names of the splits for test; all others train")

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if both := sorted({*self.dev} & {*self.test}):
            raise ValueError(f"{', '.join(both)} both in dev and in test")
        return self


Split = Annotated[
    AllTrain | RandomSplit | AuthorSplit | TitleSplit | GroupSplit | PublishedSplit, Field(discriminator="kind")
]


def published_part(id: str) -> str:
    """The name of the published split in an id, such as dev in `ud_english_ewt-dev-000012`; empty if there is none."""
    return ("", *re.split("[-/]", id))[-2]


def split_of(table: pd.DataFrame, split: Split, *, where: str = "split") -> pd.Series[str]:
    """'train', 'dev' or 'test' for each row of a table; '' for a row in none of them.

    Args:
        table: table of records with the column `id` and the columns that the split needs.
        where: the path of the split in params.yaml, for messages.

    Returns:
        A series with the index of the table, named "split".

    Raises:
        ConfigError: there are too few rows or titles, no sample has the sizes, a required column is missing, or two
            splits share a `group`.
    """
    match split:
        case AllTrain():
            chosen: dict[str, str] = {}
        case RandomSplit():
            chosen = _sample(list(table["id"]), split, where, "rows")
        case AuthorSplit():
            authors = _column(table, "author", where)
            chosen = _sample(list(table.loc[authors == split.author, "id"]), split, where, f"rows by '{split.author}'")
        case TitleSplit():
            names = list(_column(table, split.by, where))
            titles = _titles(Counter(names), split, where)
            chosen = {id: titles[name] for id, name in zip(table["id"], names, strict=True) if name in titles}
            if split.new_formats:
                chosen |= dict.fromkeys(_with_held_formats(table, chosen), "")
        case GroupSplit():
            chosen = _grouped(table, split, where)
        case PublishedSplit():
            chosen = _published(list(table["id"]), split, where)
    splits = table["id"].map(lambda id: chosen.get(id, "train")).astype("str").rename("split")
    _check_groups(table, splits, where)
    return splits


def _column(table: pd.DataFrame, name: str, where: str) -> pd.Series[str]:
    if name not in table:
        raise ConfigError(f"the records have no {name}", where=where, remedy="choose another kind of split")
    return table[name]


def _check_groups(table: pd.DataFrame, splits: pd.Series[str], where: str) -> None:
    """Raise an error if rows of one `group` are in two splits."""
    if "group" not in table:
        return
    first: dict[str, str] = {}
    for group, name in zip(table["group"], splits, strict=True):
        if group and name and first.setdefault(group, name) != name:
            raise ConfigError(
                f"group '{group}' is in {first[group]} and in {name}", where=where, remedy="split by kind: group"
            )


def _sample(ids: list[str], split: RandomSplit | AuthorSplit, where: str, what: str) -> dict[str, str]:
    """Sample rows in the order of the hashes of their ids: one row more or less moves at most one other row."""
    if split.dev + split.test > len(ids):
        raise ConfigError(
            f"dev {split.dev:,} + test {split.test:,} is more than the {len(ids):,} {what}",
            where=where,
            remedy="ask for fewer",
        )
    order = sorted(ids, key=lambda id: (seed_from(split.seed, id), id))
    names = ["test"] * split.test + ["dev"] * split.dev
    return dict(zip(order, names, strict=False))


def _grouped(table: pd.DataFrame, split: GroupSplit, where: str) -> dict[str, str]:
    """Sample whole groups while they fit, in the order of the hashes of their alphabetically first ids."""
    ids = list(table["id"])
    if split.dev + split.test > len(ids):
        raise ConfigError(
            f"dev {split.dev:,} + test {split.test:,} is more than the {len(ids):,} rows",
            where=where,
            remedy="ask for fewer",
        )
    strata = list(table["origin"]) if split.stratify == "origin" else [""] * len(ids)
    groups = defaultdict[int, list[tuple[str, str]]](list)
    for row, group in enumerate(components(table, sides=split.sides, bare=split.stratify != "none")):
        groups[group].append((ids[row], strata[row]))
    members = sorted(
        (sorted(group) for group in groups.values()), key=lambda rows: (seed_from(split.seed, rows[0][0]), rows)
    )
    sizes = Counter(strata)
    test = apportion(split.test, sizes, sizes)
    room = {"test": test, "dev": apportion(split.dev, sizes, sizes - Counter(test))}
    chosen, unchosen = _fill(members, room)
    # Room that an origin could not fill is open to all: every row then has the same stratum.
    remaining = {name: {"": sum(counts.values())} for name, counts in room.items()}
    more, left = _fill([[(id, "") for id, _ in group] for group in unchosen], remaining)
    chosen |= more
    for name, wanted in (("dev", split.dev), ("test", split.test)):
        if wanted and name not in chosen.values():
            smallest = f"; the smallest has {min(map(len, left)):,}" if left else ""
            raise ConfigError(
                f"no group of rows fits into {name} of {wanted:,} rows{smallest}",
                where=where,
                remedy="ask for more rows, or for smaller groups: sides: false" if split.sides else "ask for more rows",
            )
    return chosen


def _fill(
    groups: list[list[tuple[str, str]]], room: Mapping[str, dict[str, int]]
) -> tuple[dict[str, str], list[list[tuple[str, str]]]]:
    """The split of every id whose group fits into one, and the groups that fit into none.

    Args:
        groups: (id, stratum) of the rows of each group.
        room: for each split, the number of rows still missing from each stratum; updated in place.
    """
    chosen: dict[str, str] = {}
    unchosen = []
    for group in groups:
        size = Counter(stratum for _, stratum in group)
        name = next((name for name, counts in room.items() if all(size[of] <= counts.get(of, 0) for of in size)), None)
        if name is None:
            unchosen.append(group)
            continue
        for stratum in size:
            room[name][stratum] -= size[stratum]
        chosen |= {id: name for id, _ in group}
    return chosen, unchosen


def apportion(count: int, shares: Mapping[str, float], caps: Mapping[str, int]) -> dict[str, int]:
    """Divide `count` among names in proportion to their shares, up to a cap for each name.

    The excess over a cap is divided among the others in the same proportions. Fractions are rounded by the largest
    remainders; ties are broken alphabetically. The result sums to less than `count` only if every name with a share has
    reached its cap.

    Args:
        shares: not negative; need not sum to 1.
        caps: largest count of each name; 0 for a missing name.
    """
    # As decimals, so that 0.1 is a tenth and equal remainders are equal.
    weights = {name: Fraction(str(share)) for name, share in sorted(shares.items()) if share > 0}
    parts = dict.fromkeys(sorted(shares), 0)
    while weights:
        total = sum(weights.values())
        quotas = {name: count * weight / total for name, weight in weights.items()}
        full = [name for name, quota in quotas.items() if quota >= caps.get(name, 0)]
        if not full:
            parts |= {name: int(quota) for name, quota in quotas.items()}
            over = count - sum(map(int, quotas.values()))
            for name in sorted(quotas, key=lambda name: int(quotas[name]) - quotas[name])[:over]:
                parts[name] += 1
            break
        for name in full:
            parts[name] = caps.get(name, 0)
            count -= parts[name]
            del weights[name]
    return parts


def components(table: pd.DataFrame, *, sides: bool, bare: bool = False) -> list[int]:
    """The group number of each row: connected components of rows that share a key.

    Args:
        sides: whether the sides of a row are keys, besides its `group`.
        bare: whether sides without letters are keys too.
    """
    # A source may equal another row's target. Names of groups are compared only with each other.
    columns = [[(True, group) if group else None for group in table["group"]]] if "group" in table else []
    if sides:
        for name in ("source", "target"):
            if name in table:
                keys = (letters_of(text) or (text if bare else "") for text in table[name])
                columns.append([(False, key) if key else None for key in keys])
    return linked(len(table), columns)


def _published(ids: list[str], split: PublishedSplit, where: str) -> dict[str, str]:
    names = {id: published_part(id) for id in ids}
    known = set(names.values())
    if missing := [name for name in (*split.dev, *split.test) if name not in known]:
        raise ConfigError(
            f"no row's id names the split '{missing[0]}'", where=where, remedy="name those of the source, or none"
        )
    of = dict.fromkeys(split.dev, "dev") | dict.fromkeys(split.test, "test")
    return {id: of[name] for id, name in names.items() if name in of}


def _titles(counts: Counter[str], split: TitleSplit, where: str) -> dict[str, str]:
    """The split of every held-out title. By rejection sampling, all pairs of sets that fit are equally likely."""
    if missing := [name for name in split.test_names if name not in counts]:
        raise ConfigError(f"no row has the title {missing[0]}", where=f"{where}.test_names", remedy="correct it")
    names = sorted(set(counts) - {*split.keep_in_train, *split.test_names})
    wanted = {"dev": split.dev_titles} | ({} if split.test_names else {"test": split.test_titles})
    sizes = {"dev": split.dev_size, "test": split.test_size}
    held_out = sum(wanted.values())
    if held_out > len(names):
        raise ConfigError(
            f"{held_out} titles are to be held out, but there are {len(names)}", where=where, remedy="hold out fewer"
        )
    rng = random.Random(seed_from("titles", split.seed))
    for _ in range(split.attempts):
        # Only its method random() gives the same numbers in every version of Python.
        order = [name for _, name in sorted((rng.random(), name) for name in names)]
        drawn = {"dev": order[: split.dev_titles], "test": order[split.dev_titles : held_out]}
        if all(_fits(drawn[part], counts, sizes[part], split) for part in wanted):
            of = {name: part for part, titles in drawn.items() for name in titles}
            return of | dict.fromkeys(split.test_names, "test")
    sought = " and ".join(f"{count} titles of about {sizes[part]:,} rows" for part, count in wanted.items())
    raise ConfigError(
        f"none of {split.attempts:,} samples has {sought}",
        where=where,
        remedy=f"{len(names)} titles share {sum(counts[name] for name in names):,} rows; change the sizes, or raise "
        "tolerance or largest",
    )


def _with_held_formats(table: pd.DataFrame, chosen: Mapping[str, str]) -> list[str]:
    """The ids of unchosen rows with the format of a chosen row."""
    formats = dict(zip(table["id"], map(format_key, table["target"], table["language"]), strict=True))
    held = {formats[id] for id in chosen}
    return [id for id, key in formats.items() if id not in chosen and key in held]


def _fits(titles: list[str], counts: Counter[str], size: int, split: TitleSplit) -> bool:
    rows = [counts[title] for title in titles]
    return abs(sum(rows) - size) <= split.tolerance * size and max(rows) <= split.largest * sum(rows)
