"""Forms by name: each has rules that go together, and a poem that keeps them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from espalier.frames import Acrostic, Form, Format, Rhyme, Tones, Tune, Words
from espalier.frames.forms import ALSO, NAMES, form_named
from espalier.frames.frame import Frame
from espalier.frames.kinds import kinds_of
from espalier.frames.places import PlaceAutomaton
from espalier.io.errors import ConfigError
from espalier.text.language import is_mark
from espalier.verse.ci_books import CiBooks, open_books
from tests.frames.test_check import TUNES
from tests.verse.couyun import write_couyun

#: By Du Fu, Zhang Ji and Wang Zhihuan.
HEIGHT = (
    "风急天高猿啸哀，渚清沙白鸟飞回。无边落木萧萧下，不尽长江滚滚来。"
    "万里悲秋常作客，百年多病独登台。艰难苦恨繁霜鬓，潦倒新停浊酒杯。"
)
BRIDGE = "月落乌啼霜满天，江枫渔火对愁眠。姑苏城外寒山寺，夜半钟声到客船。"
STORK = "白日依山尽，黄河入海流。欲穷千里目，更上一层楼。"
#: Of the small book: 洞 and 照 are oblique, 东 and 空 level and of one rhyme; the lines are ab, cd.
RIGHT = "洞照东东洞，东东洞照空。洞东东照洞，东洞洞东风。"
SONNET = "ABABCDCDEFEFGG"


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> CiBooks:
    return open_books(write_couyun(tmp_path_factory.mktemp("couyun"), tunes=TUNES))


@pytest.fixture(scope="module")
def whole() -> CiBooks:
    return open_books(Path(__file__).parents[2] / "released/songci/books.zip")


def test_every_form_has_rules_and_regulated_verse_has_four_openings() -> None:
    assert [len(kinds_of(Form(name).says())) for name in NAMES] == [4] * 4 + [1] * 5


def test_a_jueju_is_judged_by_the_opening_that_it_has(books: CiBooks) -> None:
    assert Form("五言绝句").check(RIGHT, books).kept
    assert Form("五言绝句", opening=1).check(RIGHT, books).kept
    assert not Form("五言绝句", opening=2).check(RIGHT, books).kept
    report = Form("五言绝句").check(RIGHT.replace("东洞洞东风", "东洞洞东桃"), books)
    assert [each.rule for each in report.violations] == ["rhyme"]


@pytest.mark.parametrize(("form", "poem"), [("七言律诗", HEIGHT), ("七言绝句", BRIDGE), ("五言绝句", STORK)])
def test_famous_poems_keep_their_forms(form: str, poem: str, whole: CiBooks) -> None:
    """The fifth word of the first line of two of them is level, as poets like it."""
    report = Form(form).check(poem, whole)
    assert report.kept and report.scores[1].kept == report.scores[1].of == poem.count("，") * 2


def test_a_line_in_another_way_is_kept_and_what_makes_up_for_nothing_is_told(books: CiBooks) -> None:
    saved = RIGHT.replace("东东洞照空", "洞东东照空")  # 孤平拗救
    inverted = saved.replace("洞东东照洞", "东东洞东洞")  # 特拗
    assert Form("五言绝句").check(saved, books).kept and Form("五言绝句").check(inverted, books).kept
    lonely = Form("五言绝句").check(RIGHT.replace("东东洞照空", "洞东洞照空"), books)  # 孤平
    assert [(each.rule, each.start, each.wanted) for each in lonely.violations] == [("tone", 6, "平")]


def test_of_openings_with_as_many_faults_the_one_is_taken_that_blames_the_deviating_word(books: CiBooks) -> None:
    """The first line could also begin the third opening, if its fourth word and its last were others."""
    poem = RIGHT.replace("洞照东东洞", "洞照洞洞洞")
    (violation,) = Form("五言绝句").check(poem, books).violations
    assert (violation.start, violation.found, violation.wanted) == (3, "洞", "平")


def test_a_form_is_judged_by_the_openings_that_go_with_the_other_rules(whole: CiBooks) -> None:
    """In two of the four openings the second line begins with a level word, and 黄 is none that is oblique."""
    report = (Form("五言绝句") & Acrostic("白黄欲更")).check(STORK, whole)
    assert report.kept and "given words" in {each.rule for each in report.scores}
    assert (Form("五言绝句") & Rhyme("BB")).check(STORK, whole).kept


@pytest.mark.parametrize("acrostic", ["东东洞洞", "洞洞东东", "洞洞洞洞"])
@pytest.mark.parametrize("form", ["五言绝句", "七言绝句"])
def test_what_is_written_has_an_opening_that_takes_the_acrostic(form: str, acrostic: str, books: CiBooks) -> None:
    frame = Form(form) & Acrostic(acrostic)
    automaton = frame.automaton(books)
    state, text = automaton.start, ""
    while not automaton.accepts(state):
        allowed = automaton.allowed(state)
        text += next((each for each in "洞东空风中照" if each in allowed), "") or min(allowed.some)
        state = automaton.step(state, text[-1])
    assert [line[0] for line in text.replace("\n", "").replace("。", "，").split("，") if line] == [*acrostic]
    assert frame.check(text, books).kept


def test_rules_that_no_opening_takes_are_one_error_that_says_why_the_first_does_not(
    tmp_path: Path, books: CiBooks
) -> None:
    poor = open_books(write_couyun(tmp_path, "ds1 = ['东', 1, 1, 1, 1]\nss60 = ['洞', 3, -1, -1, 60]\n"))
    message = r"form: .*: no opening of 五言绝句 goes with the others; by the first, .*no 2 different"
    with pytest.raises(ConfigError, match=message):
        Form("五绝").automaton(poor)
    with pytest.raises(ConfigError, match="no 3 different words"):
        Form("五绝", opening=3).automaton(poor)
    with pytest.raises(ConfigError, match=r"^words: rules contradict each other: '洞洞洞洞洞洞' must occur"):
        (Form("五绝") & Words("洞洞洞洞洞洞")).automaton(books)


def test_what_is_written_ends_each_line_with_its_mark_and_a_check_takes_any(books: CiBooks) -> None:
    for frame, marks in ((Form("五言绝句", opening=3), "，。，。"), (Tune("灯词", variant=1), "。，。")):
        automaton = frame.automaton(books)
        assert isinstance(automaton, PlaceAutomaton)
        assert "".join(each.given for each in automaton.plan.places if not each.word).replace("\n", "") == marks
        grammar = frame.grammar("lark", books).text.splitlines()[1]
        assert [one for one, _ in pairwise(grammar) if one in "，。、；：！？"] == [*marks]
    any_mark = RIGHT.replace("，", "；")
    assert Form("五言绝句").check(any_mark, books).kept
    assert [each.rule for each in Form("五言绝句", marks=True).check(any_mark, books).violations] == ["marks"] * 2
    automaton = Form("五言绝句", marks=False).automaton(books)
    assert isinstance(automaton, PlaceAutomaton) and len(automaton.plan.places[5].given) > 1


@pytest.mark.parametrize(
    ("name", "form"), [*ALSO.items(), ("七言絕句", "七言绝句"), ("Haiku", "haiku"), ("shakespearean  Sonnet", NAMES[7])]
)
def test_a_form_has_other_names_in_any_script_and_capitals(name: str, form: str) -> None:
    assert form_named(name) == form and kinds_of(Form(name).says()) == kinds_of(Form(form).says())


def test_english_forms_are_judged_by_meter_and_rhyme() -> None:
    hymn = (
        "The river turned beside the mill / And did not say a word / "
        "The evening lay upon the hill / And not a leaf was heard"
    )
    assert Form("haiku").check("A lamp on the bridge, / and the river under it / lets the evening go.").kept
    assert Form("common metre").check(hymn).kept
    assert [each.rule for each in Form("common metre").check(hymn.replace("heard", "seen")).violations] == ["rhyme"]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (Form("sestina"), "unknown form 'sestina'; allowed: Petrarchan sonnet"),
        (Form("五言绝句", opening=5), "no opening 5 of 五言绝句; there are 4, from 1"),
        (Form("haiku", opening=2), "no opening 2 of haiku; it has one alone"),
        (Form("haiku", marks=True), "marks: haiku has no marks of its own"),
        (Form("haiku") & Format("5。"), "format beside the form haiku"),
    ],
)
def test_bad_forms_are_one_line(frame: Frame, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        frame.check("a lamp")


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (Tune("灯词", variant=1) & Rhyme(".."), "rhyme: .* rhyme is '..' in Rhyme and 'AA' in the tune 灯词"),
        (Form("五言绝句") & Rhyme("AB"), "rhyme: .* rhyme is 'AB' in Rhyme and 'AA' in the form 五言绝句"),
        (
            Form("五言绝句") & Rhyme(book="cilin"),
            "book: .* book is 'cilin' in Rhyme and 'pingshui' in the form 五言绝句",
        ),
        (Form("Shakespearean sonnet") & Rhyme("AABBCCDDEEFFGG"), f"rhyme: .* in Rhyme and '{SONNET}' in the form"),
        (
            Tune("灯词", variant=1, tone=True) & Tones("平平平平平平平平平"),
            "tones: .* the tone of word 5 is 平 in Tones and 仄 in the tune 灯词",
        ),
    ],
)
def test_a_rule_that_a_form_or_a_tune_contradicts_is_not_overridden(frame: Frame, message: str, books: CiBooks) -> None:
    with pytest.raises(ConfigError, match=f"^{message}.*; leave out one of them$"):
        frame.automaton(books)
    with pytest.raises(ConfigError, match=message):
        frame.check("a lamp" if "sonnet" in str(frame) else RIGHT, books)


def test_a_rule_that_says_the_same_as_a_form_or_a_tune_is_no_contradiction(books: CiBooks) -> None:
    """A rhyme with a book alone chooses the book of a tune, and tones add to those of its rhymes."""
    text = "中中东。照笑动，孔孔空。"
    assert (Tune("灯词", variant=1) & Rhyme("bb")).check(text, books).kept
    assert (Tune("灯词", variant=1) & Rhyme(book="mandarin")).check(text, books).kept
    report = (Tune("灯词", variant=1) & Tones("中中中仄仄仄中仄中")).check(text, books)
    assert [each.of for each in report.scores if each.rule == "tone"] == [6] and report.kept
    assert Form("Shakespearean sonnet").says() and kinds_of((Form("haiku") & Rhyme("ABA")).says())


@pytest.mark.parametrize(
    ("text", "start", "end", "wanted"),
    [(RIGHT[:17] + "。", 18, 18, "5 words"), (RIGHT + RIGHT[:5] + "。", 24, 28, "nothing")],
)
def test_a_line_that_is_missing_or_too_many_at_the_end_is_told_there_and_shifts_no_other(
    text: str, start: int, end: int, wanted: str, books: CiBooks
) -> None:
    report = Form("五言绝句").check(text, books)
    (fault,) = (each for each in report.violations if each.rule == "format")
    assert (fault.start, fault.end - (end > start), fault.wanted) == (start, end, wanted)
    assert not [each for each in report.violations if each.rule in ("tone", "rhyme")]


def test_a_text_without_marks_has_lines_that_end_at_line_ends_and_spaces(books: CiBooks) -> None:
    unmarked = "".join("\n" if is_mark(character) else character for character in RIGHT)
    once = unmarked.strip() + "。"
    for text in (
        unmarked,
        once,
        unmarked.replace("\n", " "),
        unmarked.replace("\n", "\u3000"),
        unmarked.replace("\n", "/"),
    ):
        assert Form("五言绝句").check(text, books).kept
    spaced = unmarked.replace("照", "照 ")  # in lines, spaces are layout
    assert Form("五言绝句").check(spaced, books).kept
    report = Form("五言绝句", marks=True).check(unmarked, books)
    assert [(each.rule, each.start, each.wanted) for each in report.violations] == [
        ("marks", end, mark) for end, mark in zip((5, 11, 17, 23), "，。，。", strict=True)
    ]
