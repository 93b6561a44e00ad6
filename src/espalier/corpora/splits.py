"""Splits: which rows train, which are looked at while training, and which judge; drawn under a seed, in any order."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from typing import Annotated, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from espalier.corpora.leakage import letters_of
from espalier.io.errors import ConfigError
from espalier.io.hashing import seed_from


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AllTrain(_Strict):
    """Everything trains: a corpus to pre-train on."""

    kind: Literal["all_train"]


class RandomSplit(_Strict):
    """`dev` and `test` rows drawn at random, the rest trains."""

    kind: Literal["random"]
    seed: int
    dev: int = Field(ge=0)
    test: int = Field(ge=0)


class AuthorSplit(_Strict):
    """`dev` and `test` rows drawn at random from one author's; his other rows, and everyone else's, train."""

    kind: Literal["author"]
    author: str
    seed: int
    dev: int = Field(ge=0)
    test: int = Field(ge=0)


class TitleSplit(_Strict):
    """Whole tune names held out, so that dev and test ask for formats that training never saw.

    Names are drawn evenly, and drawn again until both splits have their size within `tolerance`. SongNet section 4.2:
    19,244 / 847 / 962 poems; the released code holds out 25 names for each.
    """

    kind: Literal["title"]
    seed: int
    dev_titles: int = Field(default=25, ge=1)
    test_titles: int = Field(default=25, ge=1)
    dev_size: int = Field(default=847, ge=1)
    test_size: int = Field(default=962, ge=1)
    tolerance: float = Field(default=0.1, ge=0, description="as a fraction of each size")
    keep_in_train: tuple[str, ...] = Field(default=(), description="names that name no one format, such as 失调名")
    attempts: int = Field(default=100_000, ge=1)


class GroupSplit(_Strict):
    """Whole groups drawn at random, so that no split has a part of another's: at most `dev` and `test` rows of them.

    Rows are of one group that have the same `group` (a dialogue), and, with `sides`, that share a side, its letters
    compared; what is of one group with a third row is of one group. Groups come in random order, and one that is larger
    than what is still wanted stays in training: large groups do, mostly.
    """

    kind: Literal["group"]
    seed: int
    dev: int = Field(ge=0)
    test: int = Field(ge=0)
    sides: bool = Field(default=True, description="also keep together rows that share a source or a target")


class PublishedSplit(_Strict):
    """The split of whoever published the rows, which their ids name before the number: `ud_english_ewt-dev-000012`."""

    kind: Literal["published"]
    dev: tuple[str, ...] = Field(default=("dev",), description="names whose rows are looked at while training")
    test: tuple[str, ...] = Field(default=("test",), description="names whose rows judge; all others train")


Split = Annotated[
    AllTrain | RandomSplit | AuthorSplit | TitleSplit | GroupSplit | PublishedSplit, Field(discriminator="kind")
]


def split_of(table: pd.DataFrame, split: Split, *, where: str = "split") -> pd.Series[str]:
    """'train', 'dev' or 'test' for each row of a table with columns `id`, and those by which it is split.

    Returns:
        A series of the table's length, in its order and under its index, named "split".

    Raises:
        ConfigError: too few rows or titles, or no draw has the sizes asked for. `where` is the key's path.
    """
    match split:
        case AllTrain():
            chosen: dict[str, str] = {}
        case RandomSplit():
            chosen = _drawn(list(table["id"]), split, where, "rows")
        case AuthorSplit():
            ids = list(table.loc[table["author"] == split.author, "id"])
            chosen = _drawn(ids, split, where, f"rows by '{split.author}'")
        case TitleSplit():
            titles = _titles(Counter(table["tune"]), split, where)
            chosen = {id: titles[tune] for id, tune in zip(table["id"], table["tune"], strict=True) if tune in titles}
        case GroupSplit():
            chosen = _grouped(table, split, where)
        case PublishedSplit():
            chosen = _published(list(table["id"]), split, where)
    return table["id"].map(lambda id: chosen.get(id, "train")).astype("str").rename("split")


def _drawn(ids: list[str], split: RandomSplit | AuthorSplit, where: str, what: str) -> dict[str, str]:
    """Each id's own hash is its lot: a row more or less moves no more than one other."""
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
    """As many whole groups as fit: each group's lot is that of its first id in the alphabet."""
    ids = list(table["id"])
    if split.dev + split.test > len(ids):
        raise ConfigError(
            f"dev {split.dev:,} + test {split.test:,} is more than the {len(ids):,} rows",
            where=where,
            remedy="ask for fewer",
        )
    groups = defaultdict[int, list[str]](list)
    for id, group in zip(ids, _components(table, sides=split.sides), strict=True):
        groups[group].append(id)
    members = sorted((sorted(group) for group in groups.values()), key=lambda ids: (seed_from(split.seed, ids[0]), ids))
    left = {"test": split.test, "dev": split.dev}
    chosen: dict[str, str] = {}
    for together in members:
        name = next((name for name, room in left.items() if len(together) <= room), None)
        if name is not None:
            left[name] -= len(together)
            chosen |= dict.fromkeys(together, name)
    return chosen


def _components(table: pd.DataFrame, *, sides: bool) -> list[int]:
    """For each row the number of its group. Rows that share a key are linked, and so what they are linked to."""
    columns = [list(table["group"])] if "group" in table else []
    if sides:
        texts = [table[name] for name in ("source", "target") if name in table]
        columns += [[letters_of(text) for text in column] for column in texts]
    parents = list(range(len(table)))

    def root(row: int) -> int:
        while parents[row] != row:
            parents[row] = row = parents[parents[row]]
        return row

    first: dict[tuple[bool, str], int] = {}
    for place, column in enumerate(columns):
        # A source that is another row's target is the same text; a group's name is no text.
        named = place == 0 and "group" in table
        for row, key in enumerate(column):
            if key:
                parents[root(row)] = root(first.setdefault((named, key), row))
    return [root(row) for row in range(len(table))]


def _published(ids: list[str], split: PublishedSplit, where: str) -> dict[str, str]:
    names = {id: ("", *re.split("[-/]", id))[-2] for id in ids}
    known = set(names.values())
    if missing := [name for name in (*split.dev, *split.test) if name not in known]:
        raise ConfigError(
            f"no row's id names the split '{missing[0]}'", where=where, remedy="name those of the source, or none"
        )
    of = dict.fromkeys(split.dev, "dev") | dict.fromkeys(split.test, "test")
    return {id: of[name] for id, name in names.items() if name in of}


def _titles(counts: Counter[str], split: TitleSplit, where: str) -> dict[str, str]:
    """The titles held out. Rejection sampling: every pair of title sets that fits is as likely as any other."""
    names = sorted(set(counts) - set(split.keep_in_train))
    wanted = split.dev_titles + split.test_titles
    if wanted > len(names):
        raise ConfigError(
            f"{wanted} titles are to be held out, but there are {len(names)}", where=where, remedy="hold out fewer"
        )
    lots = random.Random(seed_from("titles", split.seed))
    for _ in range(split.attempts):
        # random() alone is promised to give the same numbers under every Python; sample() and shuffle() are not.
        order = [name for _, name in sorted((lots.random(), name) for name in names)]
        dev, test = order[: split.dev_titles], order[split.dev_titles : wanted]
        if _fits(dev, counts, split.dev_size, split) and _fits(test, counts, split.test_size, split):
            return dict.fromkeys(dev, "dev") | dict.fromkeys(test, "test")
    raise ConfigError(
        f"no draw in {split.attempts:,} has {split.dev_titles} titles of about {split.dev_size:,} rows and "
        f"{split.test_titles} of about {split.test_size:,}",
        where=where,
        remedy=f"{len(names)} titles share {sum(counts[name] for name in names):,} rows; change the sizes, or raise "
        "tolerance",
    )


def _fits(titles: list[str], counts: Counter[str], size: int, split: TitleSplit) -> bool:
    return abs(sum(counts[title] for title in titles) - size) <= split.tolerance * size
