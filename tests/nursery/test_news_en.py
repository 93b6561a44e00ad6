import hashlib
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.tree import Tree

from espalier.corpora.records import Sentence
from espalier.io.errors import ConfigError
from espalier.nursery import news_en
from espalier.nursery.brackets_en import read_rules
from espalier.nursery.data import load
from espalier.nursery.news_en import LONGEST, SHORTEST, grow
from espalier.syntax.levels import linearize

COUNT = 4000


@pytest.fixture(scope="module")
def sentences() -> list[Sentence]:
    return grow(COUNT, seed=1)


def test_sentences_say_where_they_come_from(sentences: list[Sentence]) -> None:
    assert len(sentences) == COUNT
    assert {(sentence.origin, sentence.language) for sentence in sentences} == {("nursery", "en")}
    assert [sentence.id for sentence in sentences] == [f"news-{number:06d}" for number in range(1, COUNT + 1)]


def test_no_template_of_tags_comes_twice(sentences: list[Sentence]) -> None:
    assert len({sentence.target_tags for sentence in sentences}) == COUNT


def test_templates_are_built_of_phrases_that_come_again(sentences: list[Sentence]) -> None:
    grams = [
        tuple(tags[start : start + 4])
        for sentence in sentences
        for tags in [sentence.target_tags.split(" ")]
        for start in range(len(tags) - 3)
    ]
    counts = Counter(grams)
    assert sum(counts[gram] >= 10 for gram in grams) > 0.9 * len(grams)


def test_lengths_vary_from_six_to_thirty_five_words(sentences: list[Sentence]) -> None:
    lengths = Counter(len(sentence.target_words.split(" ")) for sentence in sentences)
    assert set(lengths) == set(range(SHORTEST, LONGEST + 1))
    assert max(lengths.values()) < 0.1 * COUNT


@pytest.mark.parametrize(
    "label", ["SINV", "SBAR", "WHNP", "WHADVP", "QP", "PRT", "ADVP", "ADJP", "POS", "$", "``", "CC", "PRP$", "EX"]
)
def test_every_kind_of_phrase_comes_often(sentences: list[Sentence], label: str) -> None:
    assert sum(f"({label} " in sentence.target_tree for sentence in sentences) > 0.01 * COUNT


def test_words_vary_and_come_again(sentences: list[Sentence]) -> None:
    words = Counter(
        word
        for sentence in sentences
        for word, tag in zip(sentence.target_words.split(" "), sentence.target_tags.split(" "), strict=True)
        if tag != "CD"
    )
    assert len(words) > 500
    assert sum(number == 1 for number in words.values()) < 0.02 * len(words)


def test_an_event_has_one_time(sentences: list[Sentence]) -> None:
    for sentence in sentences:
        assert sentence.target.count(" ago") + sentence.target.count("yesterday") <= 1, sentence.target


def test_what_will_be_is_not_past(sentences: list[Sentence]) -> None:
    past = {"yesterday", "ago", "last"}
    for sentence in sentences:
        for clause in Tree.fromstring(sentence.target_tree).subtrees(lambda node: node.label() == "VP"):
            if clause[0].label() == "MD":
                own = [node for node in clause.subtrees(lambda node: node.label() == "VP") if not _nested(clause, node)]
                times = [child for node in own for child in node if child.label() in ("NP", "ADVP", "PP")]
                assert not past & {word for time in times for word in time.leaves()}, sentence.target


def _nested(clause: Tree, node: Tree) -> bool:
    """Whether a verb phrase belongs to another clause within this one."""
    return any(
        node is inner
        for other in clause.subtrees(lambda node: node.label() in ("S", "SBAR"))
        for inner in other.subtrees(lambda node: node.label() == "VP")
    )


def test_every_slot_of_the_grammar_has_something_to_fill_it() -> None:
    raw = load("news_en.yaml")
    rules = read_rules(raw)
    names = {name.partition(":")[0] for name in rules} | {f"#{name}" for name in news_en._NUMBERS}
    asked = {
        label[1:-1]
        for forms in rules.values()
        for form in forms
        if not isinstance(form, str)
        for label in linearize(form)[0]
        if label.startswith("<")
    }
    assert {slot.removeprefix("=").partition(":")[0] for slot in asked} <= names
    assert {name.partition(":")[0] for name in rules} - {
        slot.removeprefix("=").partition(":")[0] for slot in asked
    } == {"Sentence"}


# --- The seed --------------------------------------------------------------------------------------------------------


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 40))
def test_a_larger_count_only_adds_sentences(seed: int, count: int) -> None:
    assert grow(count, seed) == grow(50, seed)[:count]


def test_another_seed_grows_other_sentences(sentences: list[Sentence]) -> None:
    assert len({sentence.target for sentence in grow(500, seed=2)} & {sentence.target for sentence in sentences}) < 20


def test_the_first_sentences_are_what_they_were_on_other_machines(sentences: list[Sentence]) -> None:
    digest = hashlib.sha256("\n".join(sentence.target_tree for sentence in sentences[:100]).encode()).hexdigest()
    assert digest[:16] == "fceb376d9cb57dc7", (
        "the corpus has changed: raise readers.news_en in versions.yaml, then pin this"
    )


def test_none_can_be_asked_for_but_not_fewer() -> None:
    assert grow(0, seed=1) == []
    with pytest.raises(ConfigError, match="nursery news_en: cannot grow -3 sentences; give a count of 0 or more"):
        grow(-3, seed=1)


def test_a_grammar_that_runs_dry_says_after_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(news_en, "LONGEST", 6)
    with pytest.raises(ConfigError, match=r"the grammar generates only \d+ of 1000 sentences; ask for fewer"):
        grow(1000, seed=1)
