import hashlib
import itertools
import random
from collections import Counter

import pytest

from espalier.corpora.records import Pair
from espalier.io.errors import ConfigError
from espalier.nursery import dialogue_zh
from espalier.nursery.dialogue_zh import LONGEST, SHORTEST, grow, is_grammatical
from espalier.syntax.dependency import check, dependencies_of, is_projective
from espalier.syntax.parse import Parse, parse_of

COUNT = 4000

#: The tags and relations of Universal Dependencies that the small talk needs.
TAGS = {"NOUN", "PROPN", "PRON", "VERB", "AUX", "ADJ", "ADV", "ADP", "NUM", "DET", "PART", "CCONJ", "SCONJ", "INTJ"}
LABELS = {"root", "nsubj", "csubj", "obj", "iobj", "obl", "ccomp", "xcomp", "advcl", "parataxis", "dislocated"}
LABELS |= {"acl", "nmod", "amod", "advmod", "nummod", "det", "clf", "compound", "conj"}
LABELS |= {"case", "mark", "aux", "cop", "cc", "discourse", "discourse:sp", "punct"}


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    return grow(COUNT, seed=1)


@pytest.fixture(scope="module")
def parses(pairs: list[Pair]) -> list[Parse]:
    """Each post once, and all answers."""
    posts = {pair.source: parse_of(vars_of(pair), "source") for pair in pairs}
    return [*posts.values(), *(parse_of(vars_of(pair), "target") for pair in pairs)]


def vars_of(pair: Pair) -> dict[str, str]:
    return {name: getattr(pair, name) for name in Pair.__dataclass_fields__}


def test_pairs_say_where_they_come_from(pairs: list[Pair]) -> None:
    assert len(pairs) == COUNT
    assert {(pair.origin, pair.language) for pair in pairs} == {("nursery", "zh")}
    assert pairs[0].id == "dialogue-000001-1"
    assert len({pair.id for pair in pairs}) == COUNT
    assert all(pair.id.rpartition("-")[0] == pair.group for pair in pairs)


def test_a_group_is_one_post_with_one_to_four_answers(pairs: list[Pair]) -> None:
    assert len({(pair.group, pair.source) for pair in pairs}) == len({pair.group for pair in pairs})
    assert len({pair.group for pair in pairs}) == len({pair.source for pair in pairs})
    # The last post may have lost some of its answers.
    assert set(Counter(pair.group for pair in pairs).values()) == {1, 2, 3, 4}


def test_no_answer_comes_twice(pairs: list[Pair]) -> None:
    assert len({pair.target for pair in pairs}) == COUNT
    assert not {pair.source for pair in pairs} & {pair.target for pair in pairs}


def test_the_text_is_its_words_without_spaces(pairs: list[Pair]) -> None:
    for pair in pairs:
        assert pair.source == pair.source_words.replace(" ", "")
        assert pair.target == pair.target_words.replace(" ", "")
        assert not pair.source_tree and not pair.target_tree


def test_every_sentence_is_one_projective_tree(parses: list[Parse]) -> None:
    for parse in parses:
        check(dependencies_of(parse), file="nursery")
        assert is_projective(parse.heads), parse
        assert [label == "root" for label in parse.labels] == [head == 0 for head in parse.heads]


def test_tags_and_relations_are_those_of_universal_dependencies(parses: list[Parse]) -> None:
    assert {tag for parse in parses for tag in parse.tags} == TAGS | {"PUNCT"}
    assert {label for parse in parses for label in parse.labels} == LABELS


def test_marks_are_leaves_and_every_sentence_ends_with_one(parses: list[Parse]) -> None:
    for parse in parses:
        assert parse.words[-1] in "。！？"
        for number, (tag, label) in enumerate(zip(parse.tags, parse.labels, strict=True), start=1):
            assert (tag == "PUNCT") == (label == "punct")
            if tag == "PUNCT":
                assert number not in parse.heads, parse


@pytest.mark.parametrize(
    ("tag", "labels"),
    [
        ("DET", {"det"}),
        ("ADP", {"case"}),
        ("AUX", {"aux", "cop"}),
        ("CCONJ", {"cc"}),
        ("SCONJ", {"mark"}),
        ("INTJ", {"discourse", "root"}),
    ],
)
def test_function_words_have_the_relation_of_their_kind(parses: list[Parse], tag: str, labels: set[str]) -> None:
    relations = {label for parse in parses for own, label in zip(parse.tags, parse.labels, strict=True) if own == tag}
    assert relations <= labels


def test_sentences_have_three_to_twenty_words_and_none_beside_itself(parses: list[Parse]) -> None:
    assert min(len(parse.words) for parse in parses) == SHORTEST
    assert LONGEST >= max(len(parse.words) for parse in parses) > LONGEST - 3
    assert all(one != next_ for parse in parses for one, next_ in itertools.pairwise(parse.words))


def test_what_is_one_word_here_is_not_two_there(parses: list[Parse]) -> None:
    words = {word for parse in parses for word in parse.words}
    cut = {
        run
        for parse in parses
        for size in (2, 3, 4)
        for run in zip(*(parse.words[start:] for start in range(size)), strict=False)
        if "".join(run) in words
    }
    assert not cut


def test_numerals_and_measures_are_words_of_their_own(parses: list[Parse]) -> None:
    for parse in parses:
        for word, tag in zip(parse.words, parse.tags, strict=True):
            if tag == "NUM" and word != "多少":
                assert not set(word) - set("一两三五十百千八二几"), word


def test_an_answer_takes_up_what_the_post_is_about(pairs: list[Pair]) -> None:
    def nouns(pair: Pair, side: str) -> set[str]:
        parse = parse_of(vars_of(pair), side)
        return {word for word, tag in zip(parse.words, parse.tags, strict=True) if tag in {"NOUN", "PROPN"}}

    shared = sum(bool(nouns(pair, "source") & nouns(pair, "target")) for pair in pairs)
    rng = random.Random(0)
    order = sorted(pairs, key=lambda _: rng.random())
    by_chance = sum(
        bool(nouns(one, "source") & nouns(other, "target")) for one, other in zip(pairs, order, strict=True)
    )
    assert shared > 0.4 * COUNT > 8 * by_chance


def test_posts_and_answers_vary(parses: list[Parse]) -> None:
    assert len({parse.tags for parse in parses}) > 600
    assert len({(parse.tags, parse.heads) for parse in parses}) > 700
    assert 700 < len({word for parse in parses for word in parse.words}) < 1200
    assert max(Counter(parse.tags for parse in parses).values()) < 0.03 * len(parses)


# --- The recogniser --------------------------------------------------------------------------------------------------


def test_every_answer_is_grammatical(pairs: list[Pair]) -> None:
    assert all(is_grammatical(pair.target_words.split()) for pair in pairs[: COUNT // 2])


def test_shuffled_words_are_hardly_ever_grammatical(pairs: list[Pair]) -> None:
    rng = random.Random(0)
    accepted = 0
    for pair in pairs[: COUNT // 2]:
        words = pair.target_words.split()
        accepted += is_grammatical(sorted(words, key=lambda _: rng.random()))
    assert accepted < 0.03 * COUNT / 2


def test_an_answer_with_a_word_too_few_or_too_many_is_hardly_ever_grammatical(pairs: list[Pair]) -> None:
    cut = doubled = 0
    for pair in pairs[:1000]:
        words = pair.target_words.split()
        cut += is_grammatical(words[:-1])
        doubled += is_grammatical([*words[:1], *words])
    assert cut == 0
    assert doubled < 20


def test_nothing_and_too_much_are_not_grammatical() -> None:
    assert not is_grammatical([])
    assert not is_grammatical(["好"] * 10_000)


# --- The seed --------------------------------------------------------------------------------------------------------


def test_the_same_seed_grows_the_same_pairs_and_more_of_them(pairs: list[Pair]) -> None:
    assert grow(50, seed=1) == pairs[:50]
    other = grow(1000, seed=2)
    assert len({pair.target for pair in other} & {pair.target for pair in pairs}) < 300


def test_the_first_pairs_are_what_they_were_on_other_machines(pairs: list[Pair]) -> None:
    digest = hashlib.sha256("\n".join(pair.source + pair.target for pair in pairs[:100]).encode()).hexdigest()
    assert digest[:16] == "fe3fa6d08afa69f3", (
        "the corpus has changed: raise readers.dialogue_zh in versions.yaml, then pin this"
    )


def test_none_can_be_asked_for_but_not_fewer() -> None:
    assert grow(0, seed=1) == []
    with pytest.raises(ConfigError, match="nursery dialogue_zh: cannot grow -3 pairs; give a count of 0 or more"):
        grow(-3, seed=1)


def test_a_grammar_that_runs_dry_says_after_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialogue_zh, "_fits", lambda phrase, said: len(said) < 5 and phrase.words not in said)
    with pytest.raises(ConfigError, match=r"the grammar generates only \d+ of 1000 pairs; ask for fewer"):
        grow(1000, seed=1)
