import random
from typing import Any

import pytest

from espalier.io.errors import EspalierError
from espalier.nursery.grammar_zh import Bound, Grammar, grow_phrase
from espalier.nursery.patterns_zh import grammar_of, read_grammar
from espalier.syntax.parse import Parse

LABELS = {"PRON": "nsubj", "PUNCT": "punct", "的": "mark", "Kin": "nsubj"}
WORDS = {"PRON": "我 你", "PUNCT": "， 。", "VERB": "吃 喜欢", "ADV": "很", "PART": "的", "NOUN": "鱼"}


def text(*patterns: str, **phrases: Any) -> Grammar:
    sections = {"labels": LABELS, "words": WORDS, "phrases": {"Text": list(patterns), **phrases}}
    return grammar_of(sections)[0]


def grown(grammar: Grammar, name: str = "Text", times: int = 200) -> set[str]:
    rng = random.Random(0)
    return {"".join(grow_phrase(rng, grammar, name, {}).words) for _ in range(times)}


def test_a_pattern_becomes_a_tree() -> None:
    grammar = text("我 很:advmod 喜欢 ( ( Kin 做/VERB 的 ):acl 鱼 ):obj 。", Kin="NOUN 妈妈")
    assert grow_phrase(random.Random(0), grammar, "Text", {}) == Parse(
        words=("我", "很", "喜欢", "妈妈", "做", "的", "鱼", "。"),
        tags=("PRON", "ADV", "VERB", "NOUN", "VERB", "PART", "NOUN", "PUNCT"),
        heads=(3, 3, 0, 5, 7, 5, 3, 3),
        labels=("nsubj", "advmod", "root", "nsubj", "acl", "mark", "obj", "punct"),
    )


def test_a_mark_takes_a_relation_away_and_another_gives_one() -> None:
    grammar = text("( 我! 的:case ):nmod 鱼")
    parse = grow_phrase(random.Random(0), grammar, "Text", {})
    assert (parse.heads, parse.labels) == ((3, 1, 0), ("nmod", "case", "root"))


def test_a_part_that_may_be_missing_is_and_is_not() -> None:
    assert grown(text("我 很:advmod? 喜欢 鱼:obj?")) == {"我喜欢", "我很喜欢", "我喜欢鱼", "我很喜欢鱼"}


def test_a_number_is_a_weight() -> None:
    assert grown(text("0 我", "3 你")) == {"你"}


def test_a_word_may_have_another_tag_in_one_pattern() -> None:
    parse = grow_phrase(random.Random(0), text("很:advmod 喜欢 鱼/PROPN:obj"), "Text", {})
    assert parse.tags == ("ADV", "VERB", "PROPN")


FIELDS = {
    "dish": {"Thing": "NOUN 面 饭", "Do": "VERB 煮", "Spot": "NOUN 厨房"},
    "film": {"Thing": "NOUN 戏 剧", "Do": "VERB 看"},
}
SHARED = {"Act@": ["Do@ Thing@:obj", "去/VERB Spot@:obj Do@:xcomp"]}
TALK: dict[str, dict[str, Any]] = {
    "labels": LABELS,
    "words": WORDS,
    "phrases": SHARED,
    "fields": FIELDS,
    "scripts": {
        "like": {"posts": ["你 喜欢 $Thing@:obj"], "replies": ["我 喜欢 $Thing@:obj", "我 喜欢 Thing@:obj"]},
        "where": {"posts": ["Spot@ 很:advmod?"], "replies": ["Act@", "Thing@*"]},
        "act": {"fields": "film", "posts": ["Act@"], "replies": ["Thing@dish"]},
    },
}


def test_a_script_is_one_of_each_field_that_has_its_words() -> None:
    _, scripts = grammar_of(TALK)
    assert [(script.name, script.post) for script in scripts] == [
        ("like", "Post like dish"),
        ("like", "Post like film"),
        ("where", "Post where dish"),
        ("act", "Post act film"),
    ]


def test_a_field_says_what_it_has_words_for() -> None:
    grammar, _ = grammar_of(TALK)
    assert grown(grammar, "Act@dish") == {"煮面", "煮饭", "去厨房煮"}
    assert grown(grammar, "Act@film") == {"看戏", "看剧"}


def test_a_field_of_any_kind_or_of_one_can_be_asked_for() -> None:
    grammar, _ = grammar_of(TALK)
    assert grown(grammar, "Reply where dish") == {"煮面", "煮饭", "去厨房煮", "面", "饭", "戏", "剧"}
    assert grown(grammar, "Reply act film") == {"面", "饭"}
    assert grown(grammar, "Reply", 1000) >= {"煮面", "戏", "我喜欢剧"}


def test_what_post_and_answer_share_is_the_same_in_both() -> None:
    grammar, _ = grammar_of(TALK)
    rng = random.Random(0)
    same = set()
    for _ in range(100):
        bound: Bound = {}
        post = grow_phrase(rng, grammar, "Post like dish", bound)
        answer = grow_phrase(rng, grammar, "Reply like dish", dict(bound))
        same.add((post.words[-1], answer.words[-1]))
    # "$Thing@" is that of the post, and the answer without it is about another thing.
    assert same == {("面", "面"), ("饭", "饭"), ("面", "饭"), ("饭", "面")}


@pytest.mark.parametrize(
    ("pattern", "refusal"),
    [
        ("( 我 喜欢", "a bracket is never closed"),
        ("喜欢 ):obj", "a bracket closes that none opened"),
        ("喜欢 ):obj ( 我", "a bracket closes that none opened"),
        ("我 跑", "no tag for the word 跑; list it under words, or say 跑/TAG"),
        ("喜欢 吃", "a phrase has one head, this one 2; give every part but one a relation"),
        ("我 你", "a phrase has one head, this one 0"),
        ("", "a phrase has one head, this one 0"),
        ("7", "a phrase has one head, this one 0"),
        ("我 喜欢?", "the head 喜欢 may be missing; take the . away"),
        ("我 喜欢 鱼?:obj", "鱼.:obj is no part of a pattern"),
        ("我 喜欢 ( 很:advmod 鱼 )obj", r"\)obj is no part of a pattern"),
        ("我 喜欢 鱼:", "鱼: is no part of a pattern; write the name, :relation or !, then ?"),
    ],
)
def test_a_pattern_that_is_none_is_refused_and_named(pattern: str, refusal: str) -> None:
    with pytest.raises(EspalierError, match=refusal) as caught:
        text(pattern)
    assert str(caught.value).startswith(f"pattern '{pattern}': ")
    assert "\n" not in str(caught.value)


def test_a_word_with_two_tags_is_refused() -> None:
    with pytest.raises(EspalierError, match="the word 鱼 is NOUN and VERB; list it once"):
        text("我 喜欢 Fish:obj", Fish="VERB 鱼")


def test_a_phrase_that_no_file_has_is_refused() -> None:
    with pytest.raises(EspalierError, match="phrase Text: there is no phrase Fish"):
        text("我 喜欢 Fish:obj")


def test_a_phrase_that_leads_back_to_itself_is_refused() -> None:
    with pytest.raises(EspalierError, match="it contains itself"):
        text("我 喜欢 ( Text ):ccomp")


def test_two_files_may_not_say_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / "one.yaml").write_text("words:\n  NOUN: 鱼\n", encoding="utf-8")
    (tmp_path / "two.yaml").write_text("words:\n  NOUN: 虾\n", encoding="utf-8")
    monkeypatch.setattr("espalier.nursery.data.resources.files", lambda _: tmp_path)
    with pytest.raises(EspalierError, match=r"two\.yaml: words has NOUN already; say it in one of the files"):
        read_grammar("one.yaml", "two.yaml")


def test_a_pattern_of_any_field_is_drawn_no_more_often_than_another() -> None:
    sections = {**TALK, "scripts": {"any": {"posts": ["我"], "replies": ["2 Thing@*", "我"]}}}
    grammar, _ = grammar_of(sections)
    rng = random.Random(0)
    drawn = [grow_phrase(rng, grammar, "Reply any dish", {}).words for _ in range(3000)]
    assert drawn.count(("我",)) == pytest.approx(1000, rel=0.1)


def test_a_file_that_is_not_yaml_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / "bad.yaml").write_text("phrases:\n  Text: [我 很?: 喜欢\n", encoding="utf-8")
    monkeypatch.setattr("espalier.nursery.data.resources.files", lambda _: tmp_path)
    with pytest.raises(EspalierError, match=r"bad\.yaml: not YAML: ") as caught:
        read_grammar("bad.yaml")
    assert "\n" not in str(caught.value)
