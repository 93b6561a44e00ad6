"""Keys: equal for equal texts only, and what is repeated or linked by them as a slow search finds it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from espalier.corpora.keys import NO_KEY, key_array, key_of, linked_by, repeated
from espalier.corpora.linked import linked

COLUMNS = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.tuples(st.booleans(), *[st.integers(0, 6)] * width), max_size=30)
)


def test_texts_that_are_parted_elsewhere_have_other_keys() -> None:
    texts = [("ab",), ("a", "b"), ("", "ab"), ("ab", ""), ("a\0b",), ("A", "b"), ("a', 'b",), ("\ud800",), ("é",), ()]
    assert len({key_of(*text) for text in texts}) == len(texts)
    assert all(NO_KEY < key_of(*text) < 2**64 for text in texts)
    assert key_of("a", "b") == key_of(*"ab")


@given(COLUMNS)
def test_a_row_is_repeated_if_one_that_is_not_has_its_key(rows: list[tuple[bool, *tuple[int, ...]]]) -> None:
    known, slow = set[int](), []
    for looked_at, *keys in rows:
        slow.append(looked_at and not known.isdisjoint(keys))
        if looked_at and not slow[-1]:
            known.update(keys)
    columns = [key_array(column) for column in list(zip(*rows, strict=True))[1:]] or [key_array([])]
    assert repeated(columns, np.array([row[0] for row in rows], dtype=bool)).tolist() == slow


@given(COLUMNS)
def test_rows_are_linked_as_by_the_slow_way(rows: list[tuple[bool, *tuple[int, ...]]]) -> None:
    columns = list(zip(*rows, strict=True))[1:]
    found = linked_by([key_array(column) for column in columns], len(rows)).tolist()
    slow = linked(len(rows), [[key or None for key in column] for column in columns])
    assert len(found) == len(rows)
    assert len({*zip(found, slow, strict=True)}) == len({*found}) == len({*slow})
