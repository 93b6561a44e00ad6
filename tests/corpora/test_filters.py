"""Filters: every dropped row has its reason, and nothing is lost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from espalier.corpora.filters import Filters, labels_of, levels_of, require, screen
from espalier.corpora.records import Pair, Record, Sentence, Verse
from espalier.io.errors import ConfigError, DataError


def verse(id: str, target: str, **changed: Any) -> Verse:
    values = {"origin": "o", "language": "zh", "author": "甲", "tune": "新调", "rhyme": ""}
    return Verse(**{**values, "id": id, "target": target, **changed})


ROWS = [
    verse("a", "山路远。\n水声长。"),
    verse("b", "山路远。"),
    verse("c", "山路远！\n水声长！"),  # the letters of a
    verse("d", "石。\n桥。\n灯。"),
    verse("e", "旧屋新窗，一夜听风雨。\n旧屋新窗，一夜听风雨。"),
    verse("f", "a lamp\nthe door", language="en", author="乙"),
]


@pytest.mark.parametrize(
    ("rules", "reasons"),
    [
        ({}, {}),
        ({"min_units": 2}, {"b": "too few units"}),
        ({"max_units": 2}, {"d": "too many units"}),
        ({"min_tokens": 5}, {"b": "too few tokens", "f": "too few tokens"}),
        ({"max_tokens": 21}, {"e": "too many tokens"}),
        ({"max_tokens": 22}, {}),
        ({"deduplicate": True}, {"c": "duplicate"}),
        ({"authors": ["乙"]}, dict.fromkeys("abcde", "another author")),
        ({"without_authors": ["乙"]}, {"f": "an author left out"}),
        ({"min_units": 2, "min_tokens": 7}, {"b": "too few units", "d": "too few tokens", "f": "too few tokens"}),
    ],
)
def test_each_rule_drops_what_breaks_it_and_says_so(rules: dict[str, Any], reasons: dict[str, str]) -> None:
    kept, aside = screen(ROWS, Filters.model_validate(rules))
    assert {row.id: row.reason for row in aside} == reasons
    assert [row.id for row in kept] == [row.id for row in ROWS if row.id not in reasons]
    assert {row.id: row.text for row in aside} == {row.id: row.target for row in ROWS if row.id in reasons}


@given(
    texts=st.lists(st.text(alphabet="山水。，\n", max_size=8), max_size=12),
    least=st.integers(1, 4),
    same=st.booleans(),
)
def test_kept_and_quarantined_add_up_and_a_second_pass_drops_nothing(texts: list[str], least: int, same: bool) -> None:
    rows = [verse(str(index), text) for index, text in enumerate(texts)]
    filters = Filters(min_tokens=least, deduplicate=same)
    kept, aside = screen(rows, filters)
    assert sorted([*(row.id for row in kept), *(row.id for row in aside)]) == sorted(row.id for row in rows)
    assert screen(kept, filters) == (kept, [])


def test_an_empty_corpus_says_that_it_is_empty() -> None:
    with pytest.raises(DataError, match="mine: the corpus is empty: no rows were read"):
        require(0, 0, Filters(), corpus="mine")
    with pytest.raises(DataError, match="mine: the corpus is empty: all 7 rows were quarantined"):
        require(0, 7, Filters(), corpus="mine")


def test_too_much_in_quarantine_is_an_error_with_the_numbers() -> None:
    require(9, 1, Filters(max_bad_fraction=0.1), corpus="mine")
    with pytest.raises(DataError, match=r"2 of 10 rows were quarantined, more than max_bad_fraction 0\.1"):
        require(8, 2, Filters(max_bad_fraction=0.1), corpus="mine")


@pytest.mark.parametrize(
    "rules",
    [
        {"min_units": 3, "max_units": 2},
        {"min_tokens": 3, "max_tokens": 2},
        {"min_units": 3, "max_tokens": 2},  # a unit has a token or more
        {"min_tokens": 0},
        {"max_bad_fraction": 1.1},
        {"minimum": 1},
        {"authors": ["甲"], "without_authors": ["甲"]},
        {"min_words": 3, "max_words": 2},
        {"max_levels": 0},
        {"deduplicate": "both"},
        {"deduplicate": None},
    ],
)
def test_rules_that_cannot_be_are_refused(rules: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Filters.model_validate(rules)


# --- Sentences and pairs ---------------------------------------------------------------------------------------------


def pair(id: str, source: str, target: str, **changed: Any) -> Pair:
    return Pair(**{"origin": "o", "language": "en", **changed, "id": id, "source": source, "target": target})


TREES = {"source_tree": "(S (NP (NN a)))", "target_tree": "(S (VB b))"}
DEEP = {"source_tree": "(S (VB b))", "target_tree": "(S (VP (VP (VB b))))"}
PAIRS = [
    pair("a", "the lamp glows", "a glow of the lamp", **TREES),
    pair("b", "the lamp glows", "  ", **TREES),
    pair("c", "the café glows", "it glows", **DEEP),
    pair("d", "the lamp", "The lamp!", **TREES),
    pair("e", "no no no no", "never ever again", **TREES),
    pair("f", "The lamp glows!", "a glow, of the lamp", **TREES),
    pair("g", "the lamp glows", "who lit the lamp", **TREES),
    pair("h", "a glow of the lamp", "the lamp glows", **TREES),
]


@pytest.mark.parametrize(
    ("rules", "reasons"),
    [
        ({}, {}),
        ({"without_empty": True}, {"b": "empty side"}),
        ({"ascii_only": True}, {"c": "not ASCII"}),
        ({"min_words": 2}, {"b": "too few words"}),
        ({"min_words": 3}, {"b": "too few words", "c": "too few words", "d": "too few words"}),
        ({"max_words": 4}, {"a": "too many words", "f": "too many words", "h": "too many words"}),
        ({"max_repeat": 3}, {"e": "repeated word"}),
        ({"max_repeat": 4}, {}),
        ({"without_identical": True}, {"d": "identical sides"}),
        ({"max_levels": 3}, {"c": "too many levels"}),
        ({"max_levels": 4}, {}),
        ({"deduplicate": True}, {"f": "duplicate"}),
        ({"deduplicate": "source"}, {"b": "duplicate", "f": "duplicate", "g": "duplicate"}),
        ({"deduplicate": "target"}, {"f": "duplicate"}),
        ({"deduplicate": "either"}, {"b": "duplicate", "f": "duplicate", "g": "duplicate", "h": "duplicate"}),
        (
            {"without_empty": True, "ascii_only": True, "min_words": 3, "without_identical": True, "deduplicate": True},
            {"b": "empty side", "c": "not ASCII", "d": "too few words", "f": "duplicate"},
        ),
    ],
)
def test_each_rule_of_pairs_judges_both_sides(rules: dict[str, Any], reasons: dict[str, str]) -> None:
    kept, aside = screen(PAIRS, Filters.model_validate(rules))
    assert {row.id: row.reason for row in aside} == reasons
    assert [row.id for row in kept] == [row.id for row in PAIRS if row.id not in reasons]
    assert {row.id: row.text for row in aside} == {
        row.id: f"{row.source}\t{row.target}" for row in PAIRS if row.id in reasons
    }


def test_a_label_is_rare_among_the_rows_that_the_other_rules_leave() -> None:
    rows = [pair(str(n), f"lamp {n}", f"door {n}", **TREES) for n in range(3)]
    rows += [pair("odd", "a lamp", "a door", source_tree="(S (NP (NN a)))", target_tree="(X (VB b))")]
    rows += [pair("long", "x " * 9, "y", source_tree="(X (X (X a)))", target_tree="(X (VB b))")]
    kept, aside = screen(rows, Filters(min_label_count=3, max_words=5))
    assert {row.id: row.reason for row in aside} == {"odd": "infrequent label", "long": "too many words"}
    assert len(kept) == 3 and screen(kept, Filters(min_label_count=3)) == (kept, [])
    assert not screen(rows, Filters(min_label_count=5, max_words=5))[0], "no label stands as often"


def test_a_rule_of_trees_needs_trees() -> None:
    for rules in ({"max_levels": 3}, {"min_label_count": 2}):
        with pytest.raises(DataError, match=r"o, row a: no tree for the rule .*; give the corpus a parser"):
            screen([pair("a", "a lamp", "a door")], Filters.model_validate(rules))


def test_traditional_characters_are_dropped_on_either_side() -> None:
    pytest.importorskip("opencc")
    rows = [pair("a", "石桥", "灯", language="zh"), pair("b", "石桥", "燈", language="zh")]
    kept, aside = screen(rows, Filters(without_traditional=True))
    assert [row.id for row in kept] == ["a"] and aside[0].reason == "Traditional characters"


def test_sentences_have_one_side() -> None:
    rows = [Sentence(id=str(n), origin="o", language="en", target=text) for n, text in enumerate(("a lamp", "A lamp."))]
    kept, aside = screen(rows, Filters(deduplicate=True, min_words=2))
    assert [row.id for row in kept] == ["0"] and aside[0].reason == "duplicate" and aside[0].text == "A lamp."


@pytest.mark.parametrize(
    ("kind", "rules", "words"),
    [
        (Pair, {"min_units": 2}, r"x\.min_units: no rule for pair rows; allowed: .*min_words"),
        (Sentence, {"authors": ["甲"]}, r"x\.authors: no rule for sentence rows"),
        (Sentence, {"without_identical": True}, r"x\.without_identical: no rule for sentence rows"),
        (Verse, {"max_words": 2}, r"x\.max_words: no rule for verse rows; allowed: .*min_units"),
        (Sentence, {"deduplicate": "source"}, r"x\.deduplicate: only pairs have two sides; true or false"),
    ],
)
def test_a_rule_of_another_kind_of_record_is_refused(kind: type[Record], rules: dict[str, Any], words: str) -> None:
    filters = Filters.model_validate(rules)
    with pytest.raises(ConfigError, match=words):
        filters.check(kind, where="x")
    if kind is not Verse:
        return
    with pytest.raises(ConfigError):
        screen(ROWS, filters)


def test_every_rule_is_of_some_kind() -> None:
    from espalier.corpora.filters import RULES

    assert set(Filters.model_fields) == {"deduplicate", "max_bad_fraction", *set().union(*RULES.values())}
    assert [Filters().check(kind) for kind in RULES] == [None] * 4


def test_a_record_type_from_outside_has_the_rules_of_its_base() -> None:
    class Letter(Pair):
        """A pair of another kind."""

    class Note(Record):
        """A text of another kind."""

    Filters(without_identical=True, deduplicate="source").check(Letter)
    Filters(max_words=3).check(Note)
    with pytest.raises(ConfigError, match="no rule for note rows"):
        Filters(without_identical=True).check(Note)


@given(
    texts=st.lists(st.tuples(*[st.text(alphabet="ab ,é", max_size=6)] * 2), max_size=12),
    least=st.integers(1, 3),
    same=st.sampled_from([False, True, "source", "target", "either"]),
)
def test_pairs_kept_and_quarantined_add_up_and_a_second_pass_drops_nothing(
    texts: list[tuple[str, str]], least: int, same: Any
) -> None:
    rows = [pair(str(index), *sides) for index, sides in enumerate(texts)]
    filters = Filters(min_words=least, deduplicate=same, ascii_only=True, without_identical=True)
    kept, aside = screen(rows, filters)
    assert sorted([*(row.id for row in kept), *(row.id for row in aside)]) == sorted(row.id for row in rows)
    assert screen(kept, filters) == (kept, [])


@pytest.mark.parametrize(
    ("tree", "levels", "labels"),
    [
        ("(S (NP (PRP I)) (VP (VBD ate) (NP (DT an) (NN apple))))", 4, "S NP PRP VP VBD NP DT NN"),
        ("(NN lamp)", 1, "NN"),
        ("(S (-LRB- -LRB-) (NN x))", 2, "S -LRB- NN"),
        ("(S (NP) (VP (VBD)))", 3, "S NP VP VBD"),
        ("", 0, ""),
    ],
)
def test_levels_and_labels_leave_the_words_out(tree: str, levels: int, labels: str) -> None:
    assert levels_of(tree) == levels
    assert labels_of(tree) == labels.split()


def test_a_deep_tree_is_no_matter() -> None:
    assert levels_of("(X " * 50_000 + "(NN a" + ")" * 50_001) == 50_001
