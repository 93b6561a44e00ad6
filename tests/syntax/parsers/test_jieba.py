"""jieba's words, tags and keywords."""

from __future__ import annotations

import pytest

from espalier.syntax.parse import Parse
from espalier.syntax.parsers.jieba_backend import JiebaParser, keywords, load
from espalier.syntax.parsers.parser import Refused


@pytest.fixture(scope="module")
def parser() -> JiebaParser:
    return load()


def test_words_are_those_of_posseg_as_in_sats_figure_2(parser: JiebaParser) -> None:
    (parse,) = parser.parse(["蓦然回首情已远，身不由己在天边"])
    assert isinstance(parse, Parse)
    assert parse.words == ("蓦然回首", "情", "已远", "，", "身不由己", "在", "天边")
    assert parse.tags == ("ns", "n", "d", "x", "i", "p", "s")


def test_answers_stand_in_the_order_of_the_sentences(parser: JiebaParser) -> None:
    answers = parser.parse(["我们喝茶", "", "花", "  "])
    assert [isinstance(answer, Refused) for answer in answers] == [False, True, False, True]
    assert answers[1] == Refused("empty")


def test_white_space_is_no_word(parser: JiebaParser) -> None:
    (parse,) = parser.parse(["我 们 喝茶　吧"])
    assert isinstance(parse, Parse) and "".join(parse.words) == "我们喝茶吧"


def test_given_words_are_tagged_and_never_parted(parser: JiebaParser) -> None:
    (parse,) = parser.parse([["我们", "天天喝茶"]])
    assert parse == Parse(("我们", "天天喝茶"), ("r", "x"))


def test_nothing_is_said_on_standard_error(parser: JiebaParser, capfd: pytest.CaptureFixture[str]) -> None:
    parser.parse(["我们喝茶"])
    assert capfd.readouterr().err == ""


def test_keywords_are_the_rarest_words_first() -> None:
    assert keywords("我喜欢在春天的公园里看樱花，樱花开了", 2)[0] == "樱花"
    assert keywords("", 3) == []


def test_the_signature_names_the_version(parser: JiebaParser) -> None:
    assert parser.signature.startswith("jieba 0.")
