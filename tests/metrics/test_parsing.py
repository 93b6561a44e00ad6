"""A parser's scores are those of the families that its gold has."""

from __future__ import annotations

import pytest

from espalier.metrics.parsing import HEADLINE, parsing_scores
from espalier.syntax.parse import Parse
from tests.metrics.keys import ATTACHMENT, BRACKETS

TREE = "(S (NP (PRP I)) (VP (VBP sleep)))"


def test_gold_trees_ask_for_brackets_and_gold_heads_for_attachment() -> None:
    gold = Parse(("I", "sleep"), ("PRP", "VBP"), TREE, (2, 0), ("nsubj", "root"))
    found = parsing_scores([gold], [gold], resamples=0)
    assert list(found) == [*BRACKETS, *ATTACHMENT]
    assert found["bracket_f1"].value == found["uas"].value == found["las"].value == 100
    assert set(HEADLINE.values()) <= set(found) and all(len(name) <= 8 for name in HEADLINE)
    heads_alone = Parse(gold.words, gold.tags, "", gold.heads, gold.labels)
    assert list(parsing_scores([heads_alone], [heads_alone], resamples=0)) == [*ATTACHMENT]
    tree_alone = Parse(gold.words, gold.tags, TREE)
    assert list(parsing_scores([tree_alone], [tree_alone], resamples=0)) == [*BRACKETS]


def test_a_refused_sentence_is_missed_not_left_out() -> None:
    gold = Parse(("I", "sleep"), ("PRP", "VBP"), TREE, (2, 0), ("nsubj", "root"))
    found = parsing_scores([gold, gold], [gold, Parse(())], resamples=0)
    assert found["bracket_all_r"].value == 50 and found["uas"].value == 50


def test_gold_tags_alone_are_scored_over_all_words_and_a_refused_sentence_has_none_right() -> None:
    gold = [Parse(("a", "dog"), ("DT", "NN")), Parse(("it", "fell"), ("PRP", "VBD"))]
    found = parsing_scores(gold, [Parse(("a", "dog"), ("DT", "JJ")), Parse(())], resamples=0)
    assert {name: score.value for name, score in found.items()} == {"tag_accuracy": 25.0}


def test_tags_of_unknown_words_are_scored_apart_where_there_are_any() -> None:
    gold = [Parse(("<unk>", "dog"), ("JJ", "NN")), Parse(("<unk>", "<unk>"), ("NN", "VBD"))]
    told = [Parse(("<unk>", "dog"), ("JJ", "JJ")), Parse(("<unk>", "<unk>"), ("NN", "NN"))]
    found = parsing_scores(gold, told, resamples=0)
    values = {name: score.value for name, score in found.items()}
    assert values == {"tag_accuracy": 50.0, "tag_accuracy_unknown": pytest.approx(200 / 3)}
    refused = parsing_scores(gold, [told[0], Parse(())], resamples=0)
    assert refused["tag_accuracy_unknown"].value == pytest.approx(100 / 3)
