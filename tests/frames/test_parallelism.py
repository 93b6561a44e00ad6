"""Parallel lines: which places agree, by hand; and what a check of a lüshi says. The poem is by Wang Wei."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from espalier.frames import Form, Format
from espalier.frames import parallelism as module
from espalier.frames.parallelism import Line, agreeing, read_line
from espalier.frames.report import Report
from espalier.frames.word_classes import class_of
from espalier.syntax.parsers import jieba_backend
from espalier.verse.ci_books import CiBooks, open_books
from tests.verse.couyun import write_couyun

N, V, A, UNKNOWN = frozenset({"noun"}), frozenset({"verb"}), frozenset({"adjective"}), frozenset[str]()
MIDDLE = "明月松间照，清泉石上流。竹喧归浣女，莲动下渔舟。"
POEM = f"空山新雨后，天气晚来秋。{MIDDLE}随意春芳歇，王孙自可留。"


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> CiBooks:
    return open_books(write_couyun(tmp_path_factory.mktemp("couyun")))


#: What keeps something of jieba.
KEPT_OF_JIEBA = (jieba_backend._dictionary, jieba_backend._tokenizer, jieba_backend._tagger)


@pytest.fixture
def fresh() -> Iterator[None]:
    """What is kept of jieba is forgotten, before and after."""
    caches = (module.read_line, module._parser, *KEPT_OF_JIEBA)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.mark.parametrize(
    ("tag", "class_"),
    [("nr", "noun"), ("t", "noun"), ("q", "noun"), ("vn", "verb"), ("ad", "adjective"), ("d", "adverb"),
     ("mq", "number"), ("f", "direction"), ("uj", "function word"), ("rr", "pronoun"), ("z", "adjective"),
     ("zg", ""), ("i", ""), ("x", ""), ("eng", "")],
)  # fmt: skip
def test_tags_are_of_the_classes_of_wang_li(tag: str, class_: str) -> None:
    assert class_of(tag) == class_


def test_words_over_the_same_places_agree_by_their_class_others_character_by_character() -> None:
    """(0, 2) is a noun in both, though no character agrees; (2, 4) is a word in one line alone."""
    one = Line({(0, 2): "noun", (2, 4): "noun"}, (A, V, A, N))
    other = Line({(0, 2): "noun", (2, 3): "adjective", (3, 4): "verb"}, (N, A, A, V))
    assert agreeing(one, other) == [True, True, True, False]


def test_words_of_other_classes_still_agree_where_their_characters_do() -> None:
    one, other = Line({(0, 2): "noun"}, (A, N)), Line({(0, 2): "verb"}, (A, V))
    assert agreeing(one, other) == [True, False]


def test_a_place_of_which_nothing_is_known_is_neither_right_nor_wrong() -> None:
    assert agreeing(Line({}, (N, UNKNOWN)), Line({}, (UNKNOWN, UNKNOWN))) == [None, None]


def test_characters_have_all_classes_that_jieba_has_seen_alone() -> None:
    """明月 / 松间 / 照 are words of jieba; its dictionary has the verb 松 (loosen), not the pine."""
    line = read_line("明月松间照")
    assert line.words == {(0, 2): "noun", (2, 4): "noun", (4, 5): "verb"}
    assert line.alone[0] == {"adjective", "adverb"} and line.alone[2] == V and "direction" in line.alone[3]


def test_the_middle_couplets_are_told_place_by_place_and_do_not_count(books: CiBooks) -> None:
    """明 清 adjectives, 月 泉 nouns, 松 a verb for jieba but 石 a noun, 间 上 directions, 照 流 verbs: four of five.

    竹 莲 and 喧 动 agree; 归 is a verb, 下 a direction or number; 浣 渔 can be verbs; 女 is an adjective, 舟 a noun.
    """
    report = Form("五言律诗").check(POEM, books)
    score = next(each for each in report.scores if each.rule == "parallelism")
    assert (score.kept, score.of, score.binding) == (7, 10, False)
    found = [each for each in report.violations if each.rule == "parallelism"]
    assert [(each.start, each.found, POEM[each.start]) for each in found] == [
        (20, "石", "石"), (32, "下", "下"), (34, "舟", "舟"),
    ]  # fmt: skip
    assert found[0].wanted == "verb like 松 at 14, not noun"
    others = [each.score for each in report.scores if each.binding]
    assert report.score == sum(others) / len(others)


def test_a_poem_that_keeps_all_else_is_kept_without_parallelism() -> None:
    report = Report("", (), ()).with_rule(module.Score("parallelism", 0, 10, binding=False), ())
    assert report.kept and report.score == 1.0


def test_a_couplet_with_a_line_of_another_length_keeps_nothing(books: CiBooks) -> None:
    report = Form("五言律诗").check(POEM.replace("清泉石上流", "清泉石流"), books)
    score = next(each for each in report.scores if each.rule == "parallelism")
    assert (score.kept, score.of) == (3, 10)


def test_traditional_characters_are_compared_as_simplified_ones(books: CiBooks) -> None:
    traditional = POEM.replace("间", "間").replace("莲动", "蓮動").replace("渔", "漁").replace("归", "歸")
    scores = [Form("五言律诗").check(text, books).scores[-1] for text in (POEM, traditional)]
    assert scores[0] == scores[1]


def test_only_a_lushi_is_parallel(books: CiBooks) -> None:
    for frame in (Form("五言绝句"), Format("5，5。5，5。")):
        assert "parallelism" not in {each.rule for each in frame.check(MIDDLE, books).scores}


def test_without_jieba_a_note_says_that_parallelism_was_not_checked(
    books: CiBooks, monkeypatch: pytest.MonkeyPatch, fresh: None
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "jieba"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "jieba", None)
    report = Form("五言律诗").check(POEM, books)
    assert report.notes == ("parallelism was not checked: the package jieba is not installed; install espalier[parse]",)
    assert "parallelism" not in {each.rule for each in report.scores}
