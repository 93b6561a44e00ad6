import hashlib
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.corpora.records import Pair
from espalier.io.errors import ConfigError
from espalier.nursery import paraphrase_en
from espalier.nursery.data import load
from espalier.nursery.inflect_en import OR, plural
from espalier.nursery.paraphrase_en import DEEPEST, LONGEST, SHORTEST, grow
from espalier.syntax.constituency import frequent_templates, linearize, read_tree, template

COUNT = 4000
SIDES = ("source", "target")


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    return grow(COUNT, seed=1)


def tagged(pair: Pair, side: str) -> list[tuple[str, str]]:
    words, tags = getattr(pair, f"{side}_words").split(" "), getattr(pair, f"{side}_tags").split(" ")
    return list(zip(words, tags, strict=True))


# --- Records ---------------------------------------------------------------------------------------------------------


def test_pairs_say_where_they_come_from(pairs: list[Pair]) -> None:
    assert len(pairs) == COUNT
    assert {(pair.origin, pair.language) for pair in pairs} == {("nursery", "en")}
    assert [pair.id for pair in pairs] == [f"paraphrase-{number:06d}" for number in range(1, COUNT + 1)]
    assert pairs[0].group == "meaning-000001"


def test_a_group_is_one_source_with_one_to_three_targets(pairs: list[Pair]) -> None:
    assert len({(pair.group, pair.source) for pair in pairs}) == len({pair.group for pair in pairs})
    assert set(Counter(pair.group for pair in pairs).values()) == {1, 2, 3}


def test_no_sentence_belongs_to_two_groups_so_splits_cannot_part_them(pairs: list[Pair]) -> None:
    groups: dict[str, set[str]] = {}
    for pair in pairs:
        for text in (pair.source, pair.target):
            groups.setdefault(text, set()).add(pair.group)
    assert all(len(group) == 1 for group in groups.values())


def test_all_pairs_differ_and_so_do_their_sides(pairs: list[Pair]) -> None:
    assert len({pair.target for pair in pairs}) == COUNT
    assert not {pair.source for pair in pairs} & {pair.target for pair in pairs}


def test_trees_have_four_to_twelve_levels_and_sentences_five_to_thirty_words(pairs: list[Pair]) -> None:
    levels = Counter(max(linearize(read_tree(pair.target_tree))[1]) for pair in pairs)
    lengths = Counter(len(pair.target_words.split()) for pair in pairs)
    assert min(lengths) == SHORTEST
    assert 20 < max(lengths) <= LONGEST
    assert max(levels) == DEEPEST
    assert sum(number for level, number in levels.items() if level < 4) < 0.01 * COUNT
    assert max(levels.values()) < COUNT / 3


# --- What can be learnt ----------------------------------------------------------------------------------------------


def test_templates_vary(pairs: list[Pair]) -> None:
    for side in SIDES:
        counts = frequent_templates((read_tree(getattr(pair, f"{side}_tree")) for pair in pairs), 3, COUNT)
        assert len(counts) > 400
        assert counts[0][1] < 0.08 * COUNT
        # Most templates that a test meets have been seen in training.
        assert sum(number for _, number in counts if number >= 5) > 0.8 * COUNT


def test_a_template_is_hardly_ever_that_of_the_source_or_of_another_target(pairs: list[Pair]) -> None:
    targets: dict[str, list[str]] = {}
    for pair in pairs:
        targets.setdefault(pair.group, [template(read_tree(pair.source_tree))])
        targets[pair.group].append(template(read_tree(pair.target_tree)))
    assert sum(len(templates) != len(set(templates)) for templates in targets.values()) < 0.02 * len(targets)


def test_more_than_a_third_are_questions_and_a_question_stays_one(pairs: list[Pair]) -> None:
    questions = sum(pair.target.endswith("?") for pair in pairs)
    assert COUNT / 3 < questions < COUNT / 2
    for pair in pairs:
        assert pair.source.endswith("?") == pair.target.endswith("?"), pair


def test_names_and_numbers_are_said_on_both_sides(pairs: list[Pair]) -> None:
    for pair in pairs:
        source, target = (
            {leaf[0].lower() for leaf in tagged(pair, side) if leaf[1] in ("NNP", "CD")} for side in SIDES
        )
        assert source == target, pair


def test_what_is_denied_on_one_side_is_denied_on_the_other(pairs: list[Pair]) -> None:
    for pair in pairs:
        source, target = ({word for word, _ in tagged(pair, side)} & {"not", "n't"} for side in SIDES)
        # "Anna is not as old as Tom" denies in words what "Tom is older than Anna" denies without.
        compares = any(" as " in text and "than" not in text for text in (pair.source, pair.target))
        assert bool(source) == bool(target) or compares, pair


def test_where_one_side_contracts_not_the_other_writes_it_out(pairs: list[Pair]) -> None:
    both = [[{"not", "n't"} & {word for word, _ in tagged(pair, side)} for side in SIDES] for pair in pairs]
    denied = [(source.pop(), target.pop()) for source, target in both if source and target]
    assert {("not", "n't"), ("n't", "not")} < set(denied)
    # Questions put "n't" before the subject, and "might" takes none.
    assert sum(source != target for source, target in denied) > 0.7 * len(denied)


def test_sides_share_no_word_that_has_a_synonym(pairs: list[Pair]) -> None:
    nouns = [
        word for line in load("lexicon_en_paraphrase.yaml")["nouns"].values() for word in line.split() if OR in word
    ]
    # Forms have plans of their own.
    others = [
        set(variant.split(OR)) for word in nouns for variant in (word, plural(word)) if not word.startswith("plan")
    ]
    shared = 0
    for pair in pairs:
        source, target = ({word.lower() for word, tag in tagged(pair, side) if tag[0] == "N"} for side in SIDES)
        for words in others:
            shared += bool(words & source)
            if words & source and words & target:
                assert len(words & source) == 1
                assert words & target == words - source, pair
    assert shared > COUNT / 4


# --- The seed --------------------------------------------------------------------------------------------------------


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 40))
def test_a_larger_count_only_adds_pairs(seed: int, count: int) -> None:
    assert grow(count, seed) == grow(50, seed)[:count]


def test_another_seed_grows_other_pairs(pairs: list[Pair]) -> None:
    assert len({pair.target for pair in grow(500, seed=2)} & {pair.target for pair in pairs}) < 100


def test_the_first_pairs_are_what_they_were_on_other_machines(pairs: list[Pair]) -> None:
    digest = hashlib.sha256("\n".join(pair.source_tree + pair.target_tree for pair in pairs[:100]).encode()).hexdigest()
    assert digest[:16] == "e8fae173d076db16", (
        "the corpus has changed: raise readers.paraphrase_en in versions.yaml, then pin this"
    )


def test_none_can_be_asked_for_but_not_fewer() -> None:
    assert grow(0, seed=1) == []
    with pytest.raises(ConfigError, match="nursery paraphrase_en: cannot grow -3 pairs; give a count of 0 or more"):
        grow(-3, seed=1)


def test_a_grammar_that_runs_dry_says_after_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(paraphrase_en, "_fits", lambda sentence: not told.append(sentence) and len(told) < 40)
    with pytest.raises(ConfigError, match=r"the grammar generates only \d+ of 1000 pairs; ask for fewer"):
        grow(1000, seed=1)
