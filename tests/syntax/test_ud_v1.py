"""From version 1 of Universal Dependencies to version 2: each rule on one sentence, and that a tree stays a tree."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from espalier.syntax.dependency import Dependencies, mistake
from espalier.syntax.ud_v1 import LABELS, to_v2


def tree(text: str) -> Dependencies:
    """One word after the other: form/TAG/head/label."""
    words, tags, heads, labels = zip(*(word.split("/") for word in text.split()), strict=True)
    return Dependencies(words, tags, tuple(map(int, heads)), labels)


def test_labels_and_tags_are_renamed() -> None:
    old = tree("我/PRON/2/nsubj 買/VERB/0/root 了/PART/2/case:aspect 書/NOUN/2/dobj ./PUNCT/2/punct")
    new = tree("我/PRON/2/nsubj 買/VERB/0/root 了/AUX/2/aux 書/NOUN/2/obj 。/PUNCT/2/punct")
    assert to_v2(old) == new


def test_the_particle_of_a_relative_clause_marks_it() -> None:
    old = tree("他/PRON/2/nsubj 寫/VERB/4/acl 的/PART/2/acl:relcl 信/NOUN/5/nsubj 到/VERB/0/root")
    new = tree("他/PRON/2/nsubj 寫/VERB/4/acl:relcl 的/SCONJ/2/mark:rel 信/NOUN/5/nsubj 到/VERB/0/root")
    assert to_v2(old) == new


def test_clauses_and_nouns_before_a_predicate_are_adverbial() -> None:
    old = tree("在/ADP/2/case 家/NOUN/5/nmod 裡/ADP/2/acl 坐著/VERB/5/acl 讀/VERB/0/root")
    new = tree("在/ADP/2/case 家/NOUN/5/obl 裡/ADP/2/case 坐著/VERB/5/advcl 讀/VERB/0/root")
    assert to_v2(old) == new


def test_only_determiners_and_pronouns_stay_determiners() -> None:
    old = tree("這/DET/4/det 城/NOUN/4/det 的/PART/2/case:dec 橋/NOUN/5/nsubj 高/ADJ/0/root")
    new = tree("這/DET/4/det 城/NOUN/4/nmod 的/PART/2/case 橋/NOUN/5/nsubj 高/ADJ/0/root")
    assert to_v2(old) == new


def test_the_object_that_was_put_before_its_verb_is_marked() -> None:
    old = tree("他/PRON/4/nsubj 把/VERB/4/aux:caus 門/NOUN/4/dobj 關/VERB/0/root")
    new = tree("他/PRON/4/nsubj 把/ADP/3/case 門/NOUN/4/obl:patient 關/VERB/0/root")
    assert to_v2(old) == new


def test_a_name_hangs_from_the_family_name() -> None:
    old = tree("林/PROPN/2/nmod 小雨/PROPN/3/nsubj 笑/VERB/0/root")
    new = tree("林/PROPN/3/nsubj 小雨/PROPN/1/flat:name 笑/VERB/0/root")
    assert to_v2(old) == new


def test_a_name_with_dots_hangs_from_its_first_part() -> None:
    old = tree(
        "見/VERB/0/root 安娜/PROPN/6/nmod ·/PUNCT/6/punct "
        "瑪雅/PROPN/6/nmod ·/PUNCT/6/punct 諾爾/PROPN/1/dobj 嗎/X/1/aux"
    )
    new = to_v2(old)
    assert new.heads == (0, 1, 4, 2, 6, 2, 1)
    assert new.labels == ("root", "obj", "punct", "flat:name", "punct", "flat:name", "aux")


def test_the_title_before_a_name_is_its_head() -> None:
    old = tree("他/PRON/2/nmod 鄰居/NOUN/4/appos 林/PROPN/4/nmod 小雨/PROPN/5/nsubj 笑/VERB/0/root")
    new = to_v2(old)
    assert new.heads == (2, 5, 2, 3, 0)
    assert new.labels == ("nmod", "nsubj", "appos", "flat:name", "root")


def test_a_classifier_hangs_from_its_number() -> None:
    old = tree("三/NUM/2/nummod 本/NOUN/4/nmod 舊/ADJ/4/amod 書/NOUN/0/root")
    new = tree("三/NUM/4/nummod 本/NOUN/1/clf 舊/ADJ/4/amod 書/NOUN/0/root")
    assert to_v2(old) == new


def test_what_has_a_particle_of_its_own_is_no_classifier() -> None:
    old = tree("三/NUM/2/nummod 年/NOUN/4/nmod 的/PART/2/case:dec 期限/NOUN/0/root")
    assert to_v2(old).heads == old.heads


def test_a_conjunction_hangs_from_what_follows_it() -> None:
    old = tree("茶/NOUN/0/root 、/PUNCT/1/punct 水/NOUN/1/conj 和/CONJ/1/cc 酒/NOUN/1/conj")
    new = tree("茶/NOUN/0/root 、/PUNCT/3/punct 水/NOUN/1/conj 和/CCONJ/5/cc 酒/NOUN/1/conj")
    assert to_v2(old) == new


def test_the_first_clause_is_the_root_and_marks_hang_from_the_lower_side() -> None:
    # version 1: yesterday > returned; rained < returned, cold < returned, marks < returned
    old = tree(
        "昨天/NOUN/7/nmod:tmod 下雨/VERB/7/dep ,/PUNCT/7/punct 冷/ADJ/7/dep ,/PUNCT/7/punct 我/PRON/7/nsubj "
        "回家/VERB/0/root ./PUNCT/7/punct"
    )
    new = tree(
        "昨天/NOUN/2/nmod:tmod 下雨/VERB/0/root ，/PUNCT/4/punct 冷/ADJ/2/parataxis ，/PUNCT/7/punct 我/PRON/7/nsubj "
        "回家/VERB/2/parataxis 。/PUNCT/2/punct"
    )
    assert to_v2(old) == new


def test_a_comma_after_a_dependent_clause_hangs_from_it() -> None:
    old = tree("下雨/VERB/4/acl ,/PUNCT/4/punct 我/PRON/4/nsubj 回家/VERB/0/root")
    assert to_v2(old).heads == (4, 1, 4, 0)


def test_a_decimal_point_inside_a_word_is_no_mark() -> None:
    assert to_v2(tree("1.5/NUM/0/root .../PUNCT/1/punct")).words == ("1.5", "...")


OLD = st.sampled_from([*LABELS, "acl", "acl:relcl", "appos", "cc", "conj", "det", "mark", "nmod", "nummod", "punct"])
TAGS = st.sampled_from(["ADJ", "ADP", "CONJ", "DET", "NOUN", "NUM", "PART", "PROPN", "PUNCT", "VERB", "X"])
WORDS = st.sampled_from(["，", ",", ".", "·", "、", "林", "山水", "把"])


@st.composite
def any_tree(draw: st.DrawFn) -> Dependencies:
    size = draw(st.integers(1, 12))
    order = draw(st.permutations(range(1, size + 1)))
    heads = [0] * size
    for place, word in enumerate(order[1:], start=1):
        heads[word - 1] = order[draw(st.integers(0, place - 1))]
    labels = tuple(draw(OLD) if head else "root" for head in heads)
    return Dependencies(draw(st.tuples(*[WORDS] * size)), draw(st.tuples(*[TAGS] * size)), tuple(heads), labels)


@given(any_tree())
def test_whatever_the_tree_it_stays_one(old: Dependencies) -> None:
    new = to_v2(old)
    assert mistake(new.heads) is None
    assert len(new.words) == len(new.tags) == len(new.heads) == len(new.labels) == len(old)
    assert [label for label, head in zip(new.labels, new.heads, strict=True) if head == 0] == ["root"]
