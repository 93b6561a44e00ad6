"""What filters ask of a text and its tree, against slow and independent answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.corpora.records import Pair, Sentence, words_of
from espalier.text.features import folded, is_traditional, labels_of, levels_of, longest_run, simplified


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("A lamp, a door.", "a  LAMP a door", True),
        ("ｌａｍｐ３", "Lamp 3!", True),
        ("桥，灯。", "桥灯", True),
        ("in 2010", "in 2011", False),
        ("a + b", "a b", False),
        ("2 $", "2 €", False),
        ("山😀", "山", False),
        ("?!", "?", False),
        ("?!", "", False),
        ("a lamp\u200b", "a\u2028lamp", True),
        ("Straße", "STRASSE", True),
    ],
)
def test_texts_fold_to_the_same_but_for_case_width_spaces_and_punctuation(one: str, other: str, same: bool) -> None:
    assert (folded(one) == folded(other)) is same


@given(text=st.text(max_size=20))
def test_folding_again_changes_nothing_and_leaves_something(text: str) -> None:
    assert folded(text) or not text
    once = folded(text)
    # NFKC of a case-folded text may still differ (Greek iota); what matters is that it settles.
    assert folded(folded(once)) == folded(once)


def row(text: str, words: str = "", language: str = "en") -> Sentence:
    return Sentence(id="a", origin="o", language=language, target=text, target_words=words)


def test_words_are_the_parsers_or_else_what_the_text_shows() -> None:
    assert words_of(row("Don't go.", "Do n't go ."), "target") == ["Do", "n't", "go", "."]
    assert words_of(row("Don't  go."), "target") == ["Don't", "go."]
    assert words_of(row("山 路远。", language="zh"), "target") == list("山路远。")
    assert words_of(row("山路远。", "山路 远 。", language="zh"), "target") == ["山路", "远", "。"]
    pair = Pair(id="a", origin="o", language="en", source="one two", target="three")
    assert words_of(pair, "source") == ["one", "two"]


@given(words=st.lists(st.sampled_from("ab"), max_size=8))
def test_the_longest_run_is_what_counting_every_stretch_finds(words: list[str]) -> None:
    stretches = [words[i:j] for i in range(len(words)) for j in range(i + 1, len(words) + 1)]
    assert longest_run(words) == max((len(stretch) for stretch in stretches if len(set(stretch)) == 1), default=0)


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


def test_traditional_characters_are_seen() -> None:
    pytest.importorskip("opencc")
    assert (
        is_traditional("石橋") and is_traditional("a 橋") and not is_traditional("石桥") and not is_traditional("a b")
    )


def test_traditional_characters_become_simplified_and_nothing_else_changes() -> None:
    pytest.importorskip("opencc")
    assert simplified("石橋 a 燈，3！") == "石桥 a 灯，3！"
    assert simplified("石桥 a 灯，3！") == "石桥 a 灯，3！" and simplified("") == ""
