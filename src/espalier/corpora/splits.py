"""Splits: which rows train, which are looked at while training, and which judge; drawn under a seed, in any order."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from fractions import Fraction
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

    With `stratify`, dev and test have the origins in the proportions of the whole table (`apportion`). Where an origin
    has too few groups that fit, the others fill up; as long as enough rows are alone in their groups, dev and test are
    as large as asked. A side without letters (numbers, marks) then counts too, as it is: no side is in two splits.
    """

    kind: Literal["group"]
    seed: int
    dev: int = Field(ge=0)
    test: int = Field(ge=0)
    sides: bool = Field(default=True, description="also keep together rows that share a source or a target")
    stratify: Literal["none", "origin"] = Field(default="none", description="the column whose proportions are kept")


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
    strata = list(table["origin"]) if split.stratify == "origin" else [""] * len(ids)
    groups = defaultdict[int, list[tuple[str, str]]](list)
    for row, group in enumerate(components(table, sides=split.sides, bare=split.stratify != "none")):
        groups[group].append((ids[row], strata[row]))
    members = sorted(
        (sorted(group) for group in groups.values()), key=lambda rows: (seed_from(split.seed, rows[0][0]), rows)
    )
    there = Counter(strata)
    test = apportion(split.test, there, there)
    left = {"test": test, "dev": apportion(split.dev, there, there - Counter(test))}
    chosen, unchosen = _filled(members, left)
    # What an origin could not fill, any origin may: the rows of one split, whichever they are, are then one stratum.
    rest = {name: {"": sum(room.values())} for name, room in left.items()}
    more, _ = _filled([[(id, "") for id, _ in together] for together in unchosen], rest)
    return chosen | more


def _filled(
    groups: list[list[tuple[str, str]]], left: Mapping[str, dict[str, int]]
) -> tuple[dict[str, str], list[list[tuple[str, str]]]]:
    """The groups' ids by the first split that has room for them, and the groups for which none has.

    Args:
        groups: of each its rows' ids and strata.
        left: for each split how many rows of each stratum it still wants; it is brought up to date.
    """
    chosen: dict[str, str] = {}
    unchosen = []
    for together in groups:
        size = Counter(stratum for _, stratum in together)
        name = next((name for name, room in left.items() if all(size[of] <= room.get(of, 0) for of in size)), None)
        if name is None:
            unchosen.append(together)
            continue
        for of in size:
            left[name][of] -= size[of]
        chosen |= {id: name for id, _ in together}
    return chosen, unchosen


def apportion(count: int, shares: Mapping[str, float], caps: Mapping[str, int]) -> dict[str, int]:
    """How many of `count` each name gets, in proportion to its share but at most its cap (0 where it has none).

    What a name cannot take is shared out among the others by the same proportions. Fractions of one go to the largest
    remainders; of equal ones to the first in the alphabet. Less than `count` is given out only if all that have a share
    are full.

    Args:
        shares: not negative; they need not add up to 1.
    """
    # As decimals, so that 0.1 is a tenth and equal remainders are equal.
    weights = {name: Fraction(str(share)) for name, share in sorted(shares.items()) if share > 0}
    given = dict.fromkeys(sorted(shares), 0)
    while weights:
        total = sum(weights.values())
        quotas = {name: count * weight / total for name, weight in weights.items()}
        full = [name for name, quota in quotas.items() if quota >= caps.get(name, 0)]
        if not full:
            given |= {name: int(quota) for name, quota in quotas.items()}
            over = count - sum(map(int, quotas.values()))
            for name in sorted(quotas, key=lambda name: int(quotas[name]) - quotas[name])[:over]:
                given[name] += 1
            break
        for name in full:
            given[name] = caps.get(name, 0)
            count -= given[name]
            del weights[name]
    return given


def components(table: pd.DataFrame, *, sides: bool, bare: bool = False) -> list[int]:
    """For each row the number of its group. Rows that share a key are linked, and so what they are linked to.

    Args:
        sides: a row's sides are keys as well as its `group`.
        bare: so are sides without letters.
    """
    columns = [list(table["group"])] if "group" in table else []
    if sides:
        texts = [table[name] for name in ("source", "target") if name in table]
        columns += [[letters_of(text) or (text if bare else "") for text in column] for column in texts]
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
