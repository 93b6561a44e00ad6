"""From records to ids and trees: what fits, and why the others do not."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from espalier.corpora.records import Pair
from espalier.datasets.dialogue.data import DialogueData
from espalier.datasets.dialogue.encode import DialogueEncoding, DialogueSettings
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


ENCODING = DialogueEncoding()
VOC = ENCODING.build_vocabulary(ROWS, DialogueSettings(), "en")


def made(rows: list[Pair], **settings: Any) -> tuple[Any, dict[str, str], int]:
    """The encoded rows, the reasons of those that do not fit, and the number of lifted trees."""
    encoded = ENCODING.encode(rows, VOC, DialogueSettings(**settings))
    assert [rows[place].id for place in encoded.places] == encoded.split.ids
    assert {row.stage for row in encoded.quarantined} <= {"canonicalize"}
    return encoded.split, {row.id: row.reason for row in encoded.quarantined}, encoded.facts["lifted"]


def test_words_are_counted_on_both_sides_and_limited_by_number_and_coverage() -> None:
    def words(rows: list[Pair], **settings: Any) -> tuple[str, ...]:
        vocabulary = ENCODING.build_vocabulary(rows, DialogueSettings(**settings), "zh")
        assert vocabulary.language == "zh"
        return vocabulary.words

    rows = [pair("1", "a a b", "2 0 2", "a c"), pair("2", "b", "0", "d")]  # a 3, b 2, c 1, d 1
    assert words(rows) == ("a", "b", "c", "d")
    assert words(rows, words=3) == ("a", "b", "c")
    assert words(rows, coverage=5 / 7) == ("a", "b")
    assert words(rows, coverage=0.72) == ("a", "b", "c")
    assert words([], coverage=0.97) == ()


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
        (pair("x", "yes", "0"), {"min_words": 2}, "under 2 words"),
        (pair("x", "i ate rice", "2 0 2"), {"max_words": 3}, "over 3 words"),
        (pair("x", "zebra", "0"), {}, "unknown words alone"),
        (pair("x", "yes", "0", "zebra lion"), {}, "unknown words alone"),
        (pair("x", "yes zebra", "0 1"), {"max_unknown": 0.4}, "too many unknown words"),
    ],
)
def test_what_does_not_fit_is_put_aside_with_its_reason(row: Pair, settings: dict[str, Any], reason: str) -> None:
    data, aside, _ = made([row], **settings)
    assert (len(data), aside) == (0, {"x": reason})


def test_a_pair_without_a_post_is_put_aside() -> None:
    _, aside, _ = made([pair("x", "yes", "0", "")])
    assert aside == {"x": "under 1 words"}


def test_unknown_words_are_kept_where_they_are_few() -> None:
    data, _, _ = made([pair("x", "yes zebra", "0 1")], max_unknown=0.5)
    assert data.columns["target"].flat[1] == UNK
    assert isinstance(data.vocabulary, WordVocabulary)


# --- Settings, and what is told of a dataset --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"words": 0}, "words"),
        ({"coverage": 0}, "coverage"),
        ({"coverage": 1.5}, "coverage"),
        ({"min_words": 0}, "min_words"),
        ({"min_words": 3, "max_words": 2}, "min_words 3 is greater than max_words 2"),
        ({"max_unknown": 1.1}, "max_unknown"),
        ({"noise": 1.1}, "noise"),
        ({"trees": "left_chain"}, "trees"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_settings_out_of_bounds_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        DialogueSettings(**changes)


def test_places_are_those_of_the_records_that_fit() -> None:
    rows = [pair("x", "yes", ""), *ROWS[:2], pair("y", "zebra", "0"), ROWS[2]]
    assert list(ENCODING.encode(rows, VOC, DialogueSettings()).places) == [1, 2, 4]


def test_training_reads_the_pairs_themselves_and_nothing_else_is_kept() -> None:
    assert ENCODING.training_records(ROWS, DialogueSettings()) == ROWS
    assert ENCODING.extras(ROWS, DialogueSettings()) == {}


def test_counts_are_words_of_responses_and_shares_of_known_words() -> None:
    data, _, _ = made([pair("x", "yes zebra", "0 1"), pair("y", "i ate rice", "2 0 2", "did you see a lion")])
    # Of 9 words of posts "see" and "lion" are unknown (ROWS has an "a"), of 5 words of responses "zebra".
    assert ENCODING.counts(data) == {"words": 5, "known posts": 77.78, "known responses": 80.0}
    empty, _, _ = made([])
    assert ENCODING.counts(empty) == {"words": 0, "known posts": 100.0, "known responses": 100.0}
    assert ENCODING.numbers(VOC) == {"words": 12}


def test_measures_are_the_mean_depths_of_words_by_length() -> None:
    data, _, _ = made([*ROWS[:2], pair("flat", "a b c", "0 1 1")])
    # Depths of "i ate rice": 2, 1, 2 in both trees; of "a b c": 1, 2, 3 in the ternary tree and 1, 2, 2 in the other.
    assert ENCODING.measures(data) == {
        "depths": {
            "1": {"chain": 1.0, "ternary": 1.0, "dependency": 1.0, "sentences": 1},
            "3": {"chain": 2.0, "ternary": 1.8333, "dependency": 1.6667, "sentences": 2},
        }
    }
    assert ENCODING.measures(DialogueData.of([], {name: [] for name in data.columns}, VOC)) == {"depths": {}}


# --- Other trees ------------------------------------------------------------------------------------------------------


def heads_in(row: Pair, **settings: Any) -> tuple[int, ...]:
    encoded = ENCODING.encode([row], VOC, DialogueSettings(**settings))
    order, children = (encoded.split.columns[name].flat for name in ("order", "children"))
    assert order[flatten(children.reshape(-1, 3))].tolist() == list(range(len(order)))
    return heads_of(children.reshape(-1, 3))


def test_trees_of_a_right_chain_keep_the_pairs_and_count_the_heads_that_moved() -> None:
    rows = [*ROWS, pair("untree", "i ate rice", "0 0 2")]
    encoded = ENCODING.encode(rows, VOC, DialogueSettings(trees="right_chain"))
    assert encoded.split.ids == made(rows)[0].ids  # what has no tree is put aside all the same
    assert heads_in(ROWS[1], trees="right_chain") == (0, 1, 2)
    # "i ate rice" 2 0 2 becomes 0 1 2: two move. "a b c d" 3 4 0 3 becomes 0 1 2 3: three move, and nothing is lifted.
    assert encoded.facts == {"lifted": 0, "moved": 5}


def test_noise_draws_heads_by_the_id_of_a_pair_alone_and_leaves_a_tree() -> None:
    rows = [pair(f"{number}", "i ate rice", "0 1 1") for number in range(200)]
    found = Counter(heads_in(row, noise=1.0) for row in rows)
    assert set(found) == {(0, 1, 1), (0, 1, 2), (0, 3, 1)}  # as worked out in tests/syntax/test_altered.py
    assert found[0, 3, 1] == pytest.approx(100, abs=30)
    assert [heads_in(row, noise=1.0) for row in reversed(rows)] == [heads_in(row, noise=1.0) for row in rows][::-1]


def test_no_noise_counts_no_head_as_moved() -> None:
    assert ENCODING.encode(ROWS, VOC, DialogueSettings()).facts == {"lifted": 1}
