"""UAS, LAS and tags of dependency trees."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.io.errors import EspalierError
from espalier.metrics.attachment import Attachment, attachment_statistics
from espalier.metrics.metric import scores
from espalier.syntax.dependency import Dependencies, dependencies_of
from espalier.syntax.parse import Parse
from tests.metrics.keys import ATTACHMENT

GOLD = Parse(
    ("The", "seed", "was", "sown", "."),
    ("DET", "NOUN", "AUX", "VERB", "PUNCT"),
    heads=(2, 4, 4, 0, 4),
    labels=("det", "nsubj:pass", "aux:pass", "root", "punct"),
)
#: One head wrong (was), with it its relation; two relations wrong beside (seed by its subtype, "."), one tag wrong.
PARSE = Parse(
    GOLD.words,
    ("DET", "NOUN", "VERB", "VERB", "PUNCT"),
    heads=(2, 4, 2, 0, 4),
    labels=("det", "nsubj", "aux:pass", "root", "dep"),
)
UNPARSED = Parse(())


def values(
    gold: list[Parse | Dependencies], found: list[Parse | Dependencies], *, punctuation: bool = True
) -> list[float | None]:
    statistics = attachment_statistics(gold, found, punctuation=punctuation)
    score = scores(Attachment(punctuation).metrics, statistics, seed=0, resamples=0)
    assert tuple(score) == ATTACHMENT
    return [each.value for each in score.values()]


@pytest.mark.parametrize(
    ("punctuation", "uas", "las", "tags"),
    [
        (True, 80.0, 40.0, 80.0),  # 4 of 5; The, sown; 4 of 5
        (False, 75.0, 50.0, 75.0),  # without "."
    ],
)
def test_values_worked_out_by_hand(punctuation: bool, uas: float, las: float, tags: float) -> None:
    assert values([GOLD], [PARSE], punctuation=punctuation) == [uas, las, tags, 0.0]


def test_words_are_pooled_not_sentences() -> None:
    short = Parse(("Grow", "!"), ("VERB", "PUNCT"), heads=(0, 1), labels=("root", "punct"))
    wrong = replace(short, heads=(2, 0), labels=("punct", "root"))
    assert values([GOLD, short], [GOLD, wrong])[:2] == [500 / 7, 500 / 7]


def test_a_sentence_without_a_parse_has_no_word_right_and_is_counted() -> None:
    assert values([GOLD, GOLD], [GOLD, UNPARSED]) == [50.0, 50.0, 50.0, 50.0]


def test_a_parse_of_other_words_has_no_word_right_though_heads_agree() -> None:
    other = replace(GOLD, words=("The", "seed", "was", "sold", "."))
    assert values([GOLD], [other]) == [0.0, 0.0, 0.0, 100.0]


def test_tags_are_scored_where_a_parser_gives_no_heads_and_heads_where_it_gives_no_tags() -> None:
    assert values([GOLD], [replace(GOLD, heads=(), labels=())]) == [0.0, 0.0, 100.0, 100.0]
    assert values([GOLD], [replace(GOLD, tags=())]) == [100.0, 100.0, 0.0, 0.0]
    assert values([replace(GOLD, tags=())], [replace(GOLD, tags=())]) == [100.0, 100.0, None, 0.0]


def test_the_right_relation_to_a_wrong_head_is_wrong() -> None:
    moved = replace(GOLD, heads=(4, 4, 4, 0, 4))
    assert values([GOLD], [moved])[:2] == [80.0, 80.0]


def test_a_sentence_of_punctuation_alone_adds_nothing_where_punctuation_is_out() -> None:
    marks = Parse(("...",), ("PUNCT",), heads=(0,), labels=("punct",))
    assert values([marks], [marks], punctuation=False) == [None, None, None, 0.0]
    assert values([], []) == [None, None, None, None]


def test_dependency_trees_serve_as_well_as_parses() -> None:
    assert values([dependencies_of(GOLD)], [dependencies_of(PARSE)]) == values([GOLD], [PARSE])


def test_signatures_say_whether_punctuation_counts() -> None:
    for counted in (True, False):
        signature = dict(zip(ATTACHMENT, Attachment(counted).metrics, strict=True))["las"].signature
        assert signature == f"attachment|labels:subtypes|words:gold|punctuation:{'in' if counted else 'out'}|mean:micro"


@pytest.mark.parametrize(
    "gold", [UNPARSED, replace(GOLD, heads=(2, 4)), replace(GOLD, labels=()), replace(GOLD, tags=("DET",))]
)
def test_a_gold_sentence_that_is_not_whole_is_refused_with_its_number(gold: Parse) -> None:
    with pytest.raises(EspalierError, match="gold sentence 2: not one head"):
        attachment_statistics([GOLD, gold], [GOLD, GOLD])


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(EspalierError, match="1 parses for 2 gold sentences"):
        attachment_statistics([GOLD, GOLD], [GOLD])


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["nsubj", "nsubj:pass", "obj", "punct"])), min_size=1))
def test_heads_are_right_as_often_as_they_agree_and_relations_never_more_often(arcs: list[tuple[int, str]]) -> None:
    words = tuple("w" * len(arcs))
    heads, labels = zip(*arcs, strict=True)
    gold: list[Parse | Dependencies] = [Parse(words, heads=heads, labels=labels)]
    found: list[Parse | Dependencies] = [Parse(words, heads=heads[::-1], labels=labels[::-1])]
    uas, las = values(gold, found)[:2]
    assert uas is not None and las is not None and 0.0 <= las <= uas <= 100.0
    assert uas == pytest.approx(100 * sum(a == b for a, b in zip(heads, heads[::-1], strict=True)) / len(arcs))
