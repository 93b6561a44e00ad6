"""From records to ids and trees: what fits, and why the others do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from espalier.corpora.records import Pair
from espalier.datasets.dialogue.encode import canonicalize, words_known
from espalier.datasets.vocabulary import UNK, WordVocabulary
from espalier.syntax.ternary import flatten, heads_of

POST = "did you eat ?"


def pair(name: str, target: str, heads: str, source: str = POST) -> Pair:
    return Pair(id=name, origin="test", language="en", source=source, source_words=source,
                target=target, target_words=target, target_heads=heads)  # fmt: skip


ROWS = [
    pair("short", "yes", "0"),
    pair("plain", "i ate rice", "2 0 2"),
    pair("crossed", "a b c d", "3 4 0 3"),
]


def made(rows: list[Pair], **settings: Any) -> tuple[Any, dict[str, str], int]:
    data, aside, lifted = canonicalize(rows, words_known(ROWS, most=100, coverage=1.0), **settings)
    return data, {row.id: row.reason for row in aside}, lifted


def test_words_are_counted_on_both_sides_and_cut_at_the_most_or_at_the_coverage() -> None:
    rows = [pair("1", "a a b", "2 0 2", "a c"), pair("2", "b", "0", "d")]  # a 3, b 2, c 1, d 1
    assert words_known(rows, most=100, coverage=1.0).words == ("a", "b", "c", "d")
    assert words_known(rows, most=3, coverage=1.0).words == ("a", "b", "c")
    assert words_known(rows, most=100, coverage=5 / 7).words == ("a", "b")
    assert words_known(rows, most=100, coverage=0.72).words == ("a", "b", "c")
    assert words_known([], most=100, coverage=0.97).words == ()


def test_a_fitting_row_becomes_its_words_and_its_ternary_tree() -> None:
    data, aside, lifted = made(ROWS[:2])
    assert data.ids == ["short", "plain"] and not aside and not lifted
    words = data.columns["target"].padded(np.array([1]), 0)[0]
    assert [data.vocabulary.token(each) for each in words] == ["i", "ate", "rice"]
    children = data.columns["children"].flat[3:].reshape(3, 3)
    assert heads_of(children) == (2, 0, 2)
    assert data.columns["order"].flat[1:][flatten(children)].tolist() == [0, 1, 2]


def test_a_tree_that_is_not_projective_is_lifted_and_counted_or_put_aside() -> None:
    data, aside, lifted = made(ROWS)
    assert (data.ids, aside, lifted) == (["short", "plain", "crossed"], {}, 1)
    data, aside, lifted = made(ROWS, lift=False)
    assert (data.ids, aside) == (["short", "plain"], {"crossed": "not projective"})


@pytest.mark.parametrize(
    ("row", "settings", "reason"),
    [
        (pair("x", "yes", ""), {}, "no tree"),
        (pair("x", "i ate rice", "0 0 2"), {}, "no single tree"),
        (pair("x", "i ate rice", "2 1 0"), {}, "no single tree"),
        (pair("x", "i ate rice", "2 0"), {}, "no single tree"),
        (pair("x", "yes", "0"), {"least": 2}, "under 2 words"),
        (pair("x", "i ate rice", "2 0 2"), {"most": 3}, "over 3 words"),
        (pair("x", "zebra", "0"), {}, "unknown words alone"),
        (pair("x", "yes", "0", "zebra lion"), {}, "unknown words alone"),
        (pair("x", "yes zebra", "0 1"), {"unknown": 0.4}, "too many unknown words"),
    ],
)
def test_what_does_not_fit_is_put_aside_with_its_reason(row: Pair, settings: dict[str, Any], reason: str) -> None:
    data, aside, _ = made([row], **settings)
    assert (len(data), aside) == (0, {"x": reason})


def test_a_pair_without_a_post_is_put_aside() -> None:
    _, aside, _ = made([pair("x", "yes", "0", "")])
    assert aside == {"x": "under 1 words"}


def test_unknown_words_are_kept_where_they_are_few() -> None:
    data, _, _ = made([pair("x", "yes zebra", "0 1")], unknown=0.5)
    assert data.columns["target"].flat[1] == UNK
    assert isinstance(data.vocabulary, WordVocabulary)
