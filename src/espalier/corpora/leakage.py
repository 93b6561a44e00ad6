"""Leakage: how many examples of one split also occur, whole or in part, in another."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from espalier.corpora.keys import NO_KEY, Keys, key_array, key_of
from espalier.corpora.records import Record, Verse
from espalier.text.language import Language, tokens_of
from espalier.verse.text import pattern_of, units_of

if TYPE_CHECKING:
    import pandas as pd

#: The rows of the first split are compared with those of the second.
PAIRS = (("dev", "train"), ("test", "train"), ("test", "dev"))

#: Shorter units are common phrases ("何处。", "ah me !"); sharing them is not leakage.
SHARED_UNIT_TOKENS = 8

Rows = npt.NDArray[np.int64]
#: For each way of comparing rows, the numbers of rows and their keys.
Found = dict[str, tuple[Rows, Keys]]
_NONE: Final = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint64)
#: A function that reads the named columns of all rows anew, without those that the records lack.
Read = Callable[[Sequence[str]], Iterable["pd.DataFrame"]]


class Compared(NamedTuple):
    """The columns of a row that are compared, its language, and the letters of its sides."""

    values: Mapping[str, str]
    language: Language
    letters: Mapping[str, str]


Way = Callable[[Compared], Iterator[int]]


def letters_of(text: str) -> str:
    """The letters and characters of a text, ignoring case, width, marks, digits and spaces."""
    return "".join(filter(str.isalpha, unicodedata.normalize("NFKC", text).lower()))


def leakage_between(splits: Mapping[str, Read], record_type: type[Record]) -> dict[str, int]:
    """Count, for each of `PAIRS`, the rows of the first split that also occur in the second.

    The keys are fixed for a `record_type`: `<split>_<other>_<how>`, where `how` is
    `exact` (all sides equal), `normalised` (all sides equal in their letters), for records of several sides
    `shared_<side>` (that side equal in its letters), and for verse `shared_tune` (all names of the tune, if known),
    `shared_format` (the same lengths and marks) and `shared_unit` (any unit of at least `SHARED_UNIT_TOKENS` tokens
    equal in its letters). A side without letters is compared unchanged.
    A missing split counts as empty. Time is linear in the text. About 40 bytes for each key of dev and test are in
    memory.
    """
    ways = _ways(record_type)
    of_verse = ["tune", "family"] if issubclass(record_type, Verse) else []
    names = ["language", *record_type.sides, *of_verse]
    compared = {split: _joined([*_keys(read(names), ways, record_type)], ways)
                for split, read in splits.items() if split != "train"}  # fmt: skip
    # With a key that no row has, which stands for all that are not wanted.
    wanted = {how: np.unique(np.concatenate([key_array([NO_KEY]), *(of[how][1] for of in compared.values())]))
              for how in ways}  # fmt: skip
    known = {split: {how: np.isin(wanted[how], of[how][1]) for how in ways} for split, of in compared.items()}
    if "train" in splits:
        known["train"] = {how: np.zeros(len(keys), dtype=bool) for how, keys in wanted.items()}
        for chunk in _keys(splits["train"](names), ways, record_type):
            for how, (_, keys) in chunk.items():
                places = np.searchsorted(wanted[how], keys)
                places[places == len(wanted[how])] = 0
                known["train"][how][places[wanted[how][places] == keys]] = True

    def alike(split: str, other: str, how: str) -> int:
        if split not in compared or other not in known:
            return 0
        rows, keys = compared[split][how]
        return len(np.unique(rows[known[other][how][np.searchsorted(wanted[how], keys)]]))

    return {f"{split}_{other}_{how}": alike(split, other, how) for split, other in PAIRS for how in ways}


def _keys(chunks: Iterable[pd.DataFrame], ways: Mapping[str, Way], record_type: type[Record]) -> Iterator[Found]:
    """For each chunk and each way of comparing rows, the numbers of rows and their keys."""
    start = 0
    for table in chunks:
        rows = [*_rows(table, record_type)]
        yield {how: _found(rows, way, start) for how, way in ways.items()}
        start += len(rows)


def _found(rows: Sequence[Compared], way: Way, start: int) -> tuple[Rows, Keys]:
    keys = [[*way(row)] for row in rows]
    numbers = np.repeat(np.arange(start, start + len(rows)), [len(own) for own in keys])
    return numbers, key_array(chain.from_iterable(keys))


def _joined(chunks: Sequence[Found], ways: Iterable[str]) -> Found:
    joined = dict[str, tuple[Rows, Keys]]()
    for how in ways:
        rows, keys = zip(*(_NONE, *(chunk[how] for chunk in chunks)), strict=True)
        joined[how] = np.concatenate(rows), np.concatenate(keys)
    return joined


def _ways(record_type: type[Record]) -> dict[str, Way]:
    """For each way of comparing rows, a function from a row to its keys. Rows that share a key are alike."""

    def exact(row: Compared) -> Iterator[int]:
        yield key_of(*(row.values[side] for side in record_type.sides))

    def normalised(row: Compared) -> Iterator[int]:
        if all(row.letters.values()):
            yield key_of(*row.letters.values())

    def shared(side: str) -> Way:
        def key(row: Compared) -> Iterator[int]:
            if letters := row.letters[side]:
                yield key_of(letters)

        return key

    ways: dict[str, Way] = {"exact": exact, "normalised": normalised}
    if len(record_type.sides) > 1:
        ways |= {f"shared_{side}": shared(side) for side in record_type.sides}
    if issubclass(record_type, Verse):
        ways |= {"shared_tune": _tune, "shared_format": _format, "shared_unit": _units}
    return ways


def _tune(row: Compared) -> Iterator[int]:
    if name := row.values.get("family") or row.values["tune"]:
        yield key_of(name)


def _format(row: Compared) -> Iterator[int]:
    yield key_of(pattern_of(row.values["target"], row.language))


def _units(row: Compared) -> Iterator[int]:
    for unit in units_of(row.values["target"]):
        if len(tokens_of(unit, row.language)) >= SHARED_UNIT_TOKENS and (key := letters_of(unit)):
            yield key_of(key)


def _rows(table: pd.DataFrame, record_type: type[Record]) -> Iterator[Compared]:
    names = list(table.columns)
    for values in zip(*(table[name].tolist() for name in names), strict=True):
        row = dict(zip(names, values, strict=True))
        yield Compared(row, row["language"], {side: letters_of(row[side]) for side in record_type.sides})
