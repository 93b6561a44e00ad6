import hashlib
import itertools
from collections import Counter

import pytest

from espalier.corpora.records import Sentence
from espalier.io.errors import ConfigError
from espalier.nursery import lyrics_zh
from espalier.nursery.lyrics_zh import LONGEST, SHORTEST, grow
from espalier.syntax.dependency import check, dependencies_of, is_projective
from espalier.syntax.parse import Parse, parse_of

COUNT = 4000

TAGS = {"NOUN", "PRON", "VERB", "AUX", "ADJ", "ADV", "ADP", "NUM", "DET", "PART", "CCONJ", "SCONJ", "PUNCT"}
LABELS = {"root", "nsubj", "csubj", "obj", "obl", "ccomp", "xcomp", "advcl", "parataxis", "vocative"}
LABELS |= {"acl", "nmod", "amod", "advmod", "nummod", "det", "clf", "compound", "conj"}
LABELS |= {"case", "mark", "aux", "cop", "cc", "discourse:sp", "punct"}


@pytest.fixture(scope="module")
def lines() -> list[Sentence]:
    return grow(COUNT, seed=1)


@pytest.fixture(scope="module")
def parses(lines: list[Sentence]) -> list[Parse]:
    return [parse_of({name: getattr(line, name) for name in Sentence.__dataclass_fields__}, "target") for line in lines]


def test_lines_are_numbered_and_say_where_they_come_from(lines: list[Sentence]) -> None:
    assert [lines[0].id, lines[-1].id] == ["lyric-000001", f"lyric-{COUNT:06d}"]
    assert len({line.id for line in lines}) == COUNT
    assert {(line.origin, line.language, line.target_tree) for line in lines} == {("nursery", "zh", "")}


def test_no_two_lines_are_the_same(lines: list[Sentence]) -> None:
    assert len({line.target for line in lines}) == COUNT


def test_the_text_is_its_words_without_spaces(lines: list[Sentence]) -> None:
    assert all(line.target == line.target_words.replace(" ", "") for line in lines)


def test_lines_have_five_to_twenty_characters_of_all_lengths(lines: list[Sentence]) -> None:
    lengths = Counter(len(line.target) for line in lines)
    assert set(lengths) == set(range(SHORTEST, LONGEST + 1))
    assert 9 < sum(map(len, (line.target for line in lines))) / COUNT < 12


def test_a_comma_stands_between_halves_and_nowhere_else(parses: list[Parse]) -> None:
    for parse in parses:
        marks = [index for index, tag in enumerate(parse.tags) if tag == "PUNCT"]
        assert [parse.words[index] for index in marks] in ([], ["，"])
        assert all(0 < index < len(parse.words) - 1 for index in marks)
    assert 0.2 * COUNT < sum("，" in parse.words for parse in parses) < 0.6 * COUNT


def test_every_line_is_one_projective_tree(parses: list[Parse]) -> None:
    for parse in parses:
        check(dependencies_of(parse), file="nursery")
        assert is_projective(parse.heads), parse
        assert [label == "root" for label in parse.labels] == [head == 0 for head in parse.heads]


def test_tags_and_relations_are_those_of_universal_dependencies(parses: list[Parse]) -> None:
    assert {tag for parse in parses for tag in parse.tags} == TAGS
    assert {label for parse in parses for label in parse.labels} == LABELS


@pytest.mark.parametrize(
    ("tag", "labels"),
    [("DET", {"det"}), ("ADP", {"case"}), ("SCONJ", {"mark"}), ("CCONJ", {"cc"}), ("AUX", {"aux", "cop"})],
)
def test_function_words_have_the_relation_of_their_kind_and_nothing_below(
    parses: list[Parse], tag: str, labels: set[str]
) -> None:
    relations = set()
    for parse in parses:
        for number, (own, label) in enumerate(zip(parse.tags, parse.labels, strict=True), start=1):
            if own == tag:
                relations.add(label)
                assert tag == "DET" or number not in parse.heads, parse
    assert relations == labels


def test_a_measure_depends_on_its_number_or_pointer(parses: list[Parse]) -> None:
    for parse in parses:
        for head, label in zip(parse.heads, parse.labels, strict=True):
            if label == "clf":
                assert parse.tags[head - 1] in {"NUM", "DET"}, parse


@pytest.mark.parametrize(
    ("line", "tags", "heads", "labels"),
    [
        (
            "落叶 把 秋天 缓缓 铺满",
            "NOUN ADP NOUN ADV VERB",
            "5 3 5 5 0",
            "nsubj case obl advmod root",
        ),
        (
            "你 比 一 场 春雨 更 漫长",
            "PRON ADP NUM NOUN NOUN ADV ADJ",
            "7 5 5 3 7 7 0",
            "nsubj case nummod clf obl advmod root",
        ),
        (
            "这 一 次 ， 我 不再 弹 吉他",
            "DET NUM NOUN PUNCT PRON ADV VERB NOUN",
            "3 3 7 7 7 7 0 7",
            "det nummod obl punct nsubj advmod root obj",
        ),
    ],
)
def test_lines_that_were_parsed_by_hand(lines: list[Sentence], line: str, tags: str, heads: str, labels: str) -> None:
    lyric = next(other for other in lines if other.target_words == line)
    assert (lyric.target_tags, lyric.target_heads, lyric.target_labels) == (tags, heads, labels)


def test_there_are_hundreds_of_templates_and_none_is_common(parses: list[Parse]) -> None:
    templates = Counter(parse.tags for parse in parses)
    assert len(templates) > 700
    assert templates.most_common(1)[0][1] < 0.03 * COUNT
    # Enough lines share theirs with another for a model to see a template twice.
    assert sum(number for number in templates.values() if number > 1) > 0.8 * COUNT


def test_the_vocabulary_is_neither_a_toy_nor_a_dictionary(parses: list[Parse]) -> None:
    words = Counter(word for parse in parses for word in parse.words)
    assert 700 < len(words) < 1000
    assert sum(number == 1 for number in words.values()) < 0.05 * len(words)


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


def test_no_noun_verb_or_adjective_is_said_twice_in_a_line(parses: list[Parse]) -> None:
    for parse in parses:
        told = [word for word, tag in zip(parse.words, parse.tags, strict=True) if tag in {"NOUN", "VERB", "ADJ"}]
        assert len(set(told)) == len(told), parse
        assert all(one != next_ for one, next_ in itertools.pairwise(parse.words))


@pytest.mark.parametrize("word", ["把", "被", "一样", "得", "着", "过", "了", "吗", "为什么", "别", "请", "越", "谁"])
def test_every_construction_is_there(parses: list[Parse], word: str) -> None:
    assert sum(word in parse.words for parse in parses) > 20


# --- The seed --------------------------------------------------------------------------------------------------------


def test_the_same_seed_grows_the_same_lines_and_more_of_them(lines: list[Sentence]) -> None:
    assert grow(50, seed=1) == lines[:50]
    other = grow(1000, seed=2)
    assert len({line.target for line in other} & {line.target for line in lines}) < 100


def test_the_first_lines_are_what_they_were_on_other_machines(lines: list[Sentence]) -> None:
    digest = hashlib.sha256("\n".join(line.target for line in lines[:100]).encode()).hexdigest()
    assert digest[:16] == "b9814a82d344ed4c", (
        "the corpus has changed: raise readers.lyrics_zh in versions.yaml, then pin this"
    )


def test_none_can_be_asked_for_but_not_fewer() -> None:
    assert grow(0, seed=1) == []
    with pytest.raises(ConfigError, match="nursery lyrics_zh: cannot grow -3 lines; give a count of 0 or more"):
        grow(-3, seed=1)


def test_a_grammar_that_runs_dry_says_after_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lyrics_zh, "_fits", lambda line, text: text.startswith("我把") and len(text) < 8)
    with pytest.raises(ConfigError, match=r"the grammar generates only \d+ of 100000 lines; ask for fewer"):
        grow(100_000, seed=1)
