"""Which rows are for training, development and test. A split depends on a seed, not on the order of rows.

Rows are read in chunks. What is kept of each are numbers, and of a `GroupSplit` the id; docs/scale.md counts the bytes.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from espalier.corpora.keys import NO_KEY, Keys, key_array, key_of, linked_by
from espalier.corpora.leakage import Read, letters_of
from espalier.corpora.splits import (
    SPLITS,
    AllTrain,
    AuthorSplit,
    GroupSplit,
    PublishedSplit,
    RandomSplit,
    Split,
    TitleSplit,
    apportion,
    published_part,
)
from espalier.io.errors import ConfigError
from espalier.io.hashing import seed_from
from espalier.verse.text import pattern_of

if TYPE_CHECKING:
    import pandas as pd

#: Numbers of the splits, and of none.
TRAIN, DEV, TEST, NONE = range(4)
#: Their names, by number.
NAMES: Final = (*SPLITS, "")

Parts = npt.NDArray[np.int8]
Rows = npt.NDArray[np.int64]


def parts_of(read: Read, split: Split, *, where: str = "split") -> Parts:
    """The number of the split of each row: `TRAIN`, `DEV`, `TEST` or `NONE`.

    Args:
        read: yields at least one chunk of records, with the column `id` and the columns that the split needs.
        where: the path of the split in params.yaml, for messages.

    Raises:
        ConfigError: there are too few rows or titles, no sample has the sizes, a required column is missing, or two
            splits share a `group`.
    """
    match split:
        case AllTrain():
            (parts,) = _gathered(read, ["id"], lambda rows: np.full(len(rows), TRAIN, dtype=np.int8))
        case RandomSplit():
            (turns,) = _gathered(read, ["id"], _turns(split.seed))
            parts = _sampled(turns, np.arange(len(turns)), split, where, "rows")
        case AuthorSplit():
            own, turns = _gathered(
                read, ["id", "author"], lambda rows: _column(rows, "author", where) == split.author, _turns(split.seed)
            )
            parts = _sampled(turns, np.flatnonzero(own), split, where, f"rows by '{split.author}'")
        case TitleSplit():
            parts = _by_title(read, split, where)
        case GroupSplit():
            parts = _grouped(read, split, where)
        case PublishedSplit():
            parts = _published(read, split, where)
    _check_groups(read, parts, where)
    return parts


def _gathered(read: Read, names: Sequence[str], *of: Callable[[pd.DataFrame], npt.ArrayLike]) -> list[npt.NDArray[Any]]:
    """What each function makes of the chunks, joined."""
    chunks = [[np.asarray(make(rows)) for make in of] for rows in read(names)]
    return [np.concatenate(column) for column in zip(*chunks, strict=True)]


def _turns(seed: int) -> Callable[[pd.DataFrame], Rows]:
    """The hashes of the ids, in whose order rows are drawn: one row more or less moves at most one other row."""
    return lambda rows: np.fromiter((seed_from(seed, id) for id in rows["id"]), dtype=np.int64)


def _column(table: pd.DataFrame, name: str, where: str) -> pd.Series[str]:
    if name not in table:
        raise ConfigError(f"the records have no {name}", where=where, remedy="choose another kind of split")
    return table[name]


class _Numbers:
    """The number of each text of a column, in the order in which the texts come."""

    def __init__(self, column: Callable[[pd.DataFrame], Iterable[str]]) -> None:
        self.numbers: dict[str, int] = {}
        self._column = column

    def __call__(self, rows: pd.DataFrame) -> npt.NDArray[np.int32]:
        known = self.numbers
        return np.fromiter((known.setdefault(text, len(known)) for text in self._column(rows)), dtype=np.int32)


def _check_groups(read: Read, parts: Parts, where: str) -> None:
    """Raise an error if rows of one `group` are in two splits."""
    (groups,) = _gathered(read, ["id", "group"], _group_keys)
    rows = np.flatnonzero((groups != NO_KEY) & (parts != NONE))
    _, first, numbers = np.unique(groups[rows], return_index=True, return_inverse=True)
    parted = np.flatnonzero(parts[rows] != parts[rows][first[numbers]])
    if not len(parted):
        return
    row = int(rows[parted[0]])
    one, other = parts[rows[first[numbers[parted[0]]]]], parts[row]
    names = (name for table in read(["id", "group"]) for name in table["group"])
    group = next(name for place, name in enumerate(names) if place == row)
    raise ConfigError(
        f"group '{group}' is in {NAMES[one]} and in {NAMES[other]}", where=where, remedy="split by kind: group"
    )


def _group_keys(rows: pd.DataFrame) -> Keys:
    if "group" not in rows:
        return np.full(len(rows), NO_KEY, dtype=np.uint64)
    return key_array(key_of("group", group) if group else NO_KEY for group in rows["group"])


def _sampled(turns: Rows, rows: Rows, split: RandomSplit | AuthorSplit, where: str, what: str) -> Parts:
    """Sample rows for test and dev in their turns; the others are for training."""
    _require(split, len(rows), where, what)
    drawn = rows[np.argsort(turns[rows], kind="stable")]
    parts = np.full(len(turns), TRAIN, dtype=np.int8)
    parts[drawn[: split.test]] = TEST
    parts[drawn[split.test : split.test + split.dev]] = DEV
    return parts


def _require(split: RandomSplit | AuthorSplit | GroupSplit, count: int, where: str, what: str) -> None:
    if split.dev + split.test > count:
        raise ConfigError(
            f"dev {split.dev:,} + test {split.test:,} is more than the {count:,} {what}",
            where=where,
            remedy="ask for fewer",
        )


# --- Groups -----------------------------------------------------------------------------------------------------------


class _Groups:
    """Groups of rows, in the order of the hashes of their alphabetically first ids.

    Args:
        components: (rows,) number of the group of each row.
        ids: (rows,) ids.
        turns: (rows,) their hashes.
    """

    def __init__(self, components: npt.NDArray[np.int32], ids: pa.ChunkedArray, turns: Rows) -> None:
        ranks = np.empty(len(turns), dtype=np.int32)
        ranks[pc.sort_indices(ids).to_numpy()] = np.arange(len(turns), dtype=np.int32)
        self._rows = np.lexsort((ranks, components))
        starts = np.flatnonzero(np.diff(components[self._rows], prepend=-1))
        self._ends = np.append(starts, len(turns))
        self._order = np.argsort(turns[self._rows[starts]], kind="stable")
        self.parts = np.full(len(turns), TRAIN, dtype=np.int8)

    def fill(self, room: Mapping[int, dict[int, int]], strata: npt.NDArray[np.int32]) -> None:
        """Choose whole groups of `TRAIN` for other splits while they fit.

        Args:
            room: for each split, the number of rows still missing from each stratum; updated in place.
            strata: (rows,) number of the stratum of each row.
        """
        for group in self._order:
            if not any(map(any, (counts.values() for counts in room.values()))):
                break
            rows = self._rows[self._ends[group] : self._ends[group + 1]]
            if self.parts[rows[0]] != TRAIN:
                continue
            size = Counter(strata[rows].tolist())
            for part, counts in room.items():
                if all(size[of] <= counts.get(of, 0) for of in size):
                    self.parts[rows] = part
                    for of in size:
                        counts[of] -= size[of]
                    break

    def smallest(self) -> int:
        """The size of the smallest group of `TRAIN`; 0 if there is none."""
        sizes = np.diff(self._ends)[self.parts[self._rows[self._ends[:-1]]] == TRAIN]
        return int(sizes.min()) if len(sizes) else 0


def _grouped(read: Read, split: GroupSplit, where: str) -> Parts:
    """Sample whole groups while they fit."""
    strata = _Numbers(lambda rows: rows["origin"] if split.stratify == "origin" else [""] * len(rows))
    ids = list[pa.ChunkedArray]()

    def kept(rows: pd.DataFrame) -> Rows:
        ids.append(pa.chunked_array([pa.array(rows["id"].tolist(), pa.large_string())]))
        return _turns(split.seed)(rows)

    def sides(name: str) -> Callable[[pd.DataFrame], Keys]:
        def keys(rows: pd.DataFrame) -> Keys:
            if not split.sides or name not in rows:
                return np.full(len(rows), NO_KEY, dtype=np.uint64)
            bare = split.stratify != "none"
            texts = (letters_of(text) or (text if bare else "") for text in rows[name])
            return key_array(key_of(text) if text else NO_KEY for text in texts)

        return keys

    names = ["id", "group", "origin", "source", "target"]
    turns, stratum, *keys = _gathered(read, names, kept, strata, _group_keys, sides("source"), sides("target"))
    _require(split, len(turns), where, "rows")
    # A source may equal another row's target. Names of groups are compared only with each other.
    components = linked_by(keys, len(turns))
    del keys
    groups = _Groups(components, pa.chunked_array([chunk for part in ids for chunk in part.chunks]), turns)
    counts = np.bincount(stratum, minlength=len(strata.numbers)).tolist()
    sizes = Counter({name: counts[number] for name, number in strata.numbers.items()})
    test = apportion(split.test, sizes, sizes)
    room = {
        part: {strata.numbers[name]: count for name, count in wanted.items()}
        for part, wanted in ((TEST, test), (DEV, apportion(split.dev, sizes, sizes - Counter(test))))
    }
    groups.fill(room, stratum)
    # Room that an origin could not fill is open to all: every row then has the same stratum.
    groups.fill({part: {0: sum(wanted.values())} for part, wanted in room.items()}, np.zeros_like(stratum))
    for part, wanted in ((DEV, split.dev), (TEST, split.test)):
        if wanted and part not in groups.parts:
            smallest = groups.smallest()
            raise ConfigError(
                f"no group of rows fits into {NAMES[part]} of {wanted:,} rows"
                f"{f'; the smallest has {smallest:,}' if smallest else ''}",
                where=where,
                remedy="ask for more rows, or for smaller groups: sides: false" if split.sides else "ask for more rows",
            )
    return groups.parts


# --- Titles and published splits --------------------------------------------------------------------------------------


def _by_title(read: Read, split: TitleSplit, where: str) -> Parts:
    """Hold out all rows of some titles."""
    titles = _Numbers(lambda rows: _column(rows, split.by, where))
    (title,) = _gathered(read, ["id", split.by], titles)
    counts = np.bincount(title, minlength=len(titles.numbers)).tolist()
    chosen = _titles(Counter({name: counts[number] for name, number in titles.numbers.items()}), split, where)
    part_of = np.full(len(titles.numbers), TRAIN, dtype=np.int8)
    for name, part in chosen.items():
        part_of[titles.numbers[name]] = NAMES.index(part)
    parts = part_of[title]
    if split.new_formats:
        (formats,) = _gathered(read, ["target", "language"], _format_keys)
        parts[(parts == TRAIN) & np.isin(formats, formats[parts != TRAIN])] = NONE
    return parts


def _format_keys(rows: pd.DataFrame) -> Keys:
    texts = zip(rows["target"], rows["language"], strict=True)
    return key_array(key_of(pattern_of(text, language)) for text, language in texts)


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


def _fits(titles: list[str], counts: Counter[str], size: int, split: TitleSplit) -> bool:
    rows = [counts[title] for title in titles]
    return abs(sum(rows) - size) <= split.tolerance * size and max(rows) <= split.largest * sum(rows)


def _published(read: Read, split: PublishedSplit, where: str) -> Parts:
    part_of = dict.fromkeys(split.dev, DEV) | dict.fromkeys(split.test, TEST)
    known = set[str]()

    def parts(rows: pd.DataFrame) -> Parts:
        names = [published_part(id) for id in rows["id"]]
        known.update(part_of.keys() & names)
        return np.array([part_of.get(name, TRAIN) for name in names], dtype=np.int8)

    (found,) = _gathered(read, ["id"], parts)
    if missing := [name for name in (*split.dev, *split.test) if name not in known]:
        raise ConfigError(
            f"no row's id names the split '{missing[0]}'", where=where, remedy="name those of the source, or none"
        )
    return found
