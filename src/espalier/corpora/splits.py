"""Kinds of splits: how rows are chosen for training, development and test. `splitting` chooses them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from espalier.corpora.keys import key_of
from espalier.corpora.leakage import letters_of
from espalier.corpora.linked import linked
from espalier.io.validation import Strict

if TYPE_CHECKING:
    from espalier.corpora.records import Pair

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


def components(pairs: Iterable[Pair]) -> list[int]:
    """The component of each pair, given as the index of one of its pairs.

    Two pairs are in one if they have the same `group`, or if a side of one has the letters of a side of the other, or
    no letters and the same text.
    """
    groups, sources, targets = list[int | None](), list[int | None](), list[int | None]()
    for pair in pairs:  # as keys, since the texts may not fit into memory
        groups.append(key_of("group", pair.group) if pair.group else None)
        # A source may equal another row's target.
        for side, text in ((sources, pair.source), (targets, pair.target)):
            side.append(key_of(letters_of(text) or text) if text else None)
    return linked(len(groups), [groups, sources, targets])
