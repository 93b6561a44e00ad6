"""Checks of texts: what is right, what is wrong, and where. The poem was written for this project."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from espalier.frames import Acrostic, Format, Rhyme, Tones, Tune, Words
from espalier.frames.check_places import check_places
from espalier.frames.plan import plan_of
from espalier.frames.report import Report
from espalier.frames.script import NOTE
from espalier.io.errors import ConfigError
from espalier.verse.ci_books import CiBooks, open_books
from espalier.verse.grammar import parse_format
from espalier.verse.sounds import Sounds
from tests.verse.couyun import Tunes, write_couyun

POEM = "灯。照我桥西独坐声。三更雨，点点到天明。"
FRAME = Format("1。7。3，5。") & Rhyme("AAA")
TUNES: Tunes = {
    ("灯词",): [
        ("3。3，3。", "中平平中仄仄仄平平", [[2, 8]]),
        ("3。3。3。", "中平平中仄仄仄平平", [[2, 5, 8]]),
        ("2。2。", "中平平平", [[1, 3]]),
    ],
}


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> CiBooks:
    return open_books(write_couyun(tmp_path_factory.mktemp("couyun"), tunes=TUNES))


def found(report: Report) -> list[tuple[str, int, int, str]]:
    return [(each.rule, each.start, each.end, each.found) for each in report.violations]


def test_a_text_that_keeps_its_frame_has_the_score_one_in_any_layout() -> None:
    for text in (
        POEM,
        POEM.replace("。", "。\n").strip(),
        f"  {POEM} ",
        POEM.replace("，", ","),
        POEM.replace("。", " . "),
    ):
        report = FRAME.check(text)
        assert (report.kept, report.score, report.violations, report.text) == (True, 1.0, (), text)


def test_a_word_that_does_not_rhyme_is_named_with_its_place_and_the_sound_that_is_wanted() -> None:
    report = FRAME.check(POEM.replace("声", "山"))
    assert found(report) == [("rhyme", 8, 9, "山")]
    assert report.violations[0].wanted.startswith("a word of eng like 灯")
    assert {score.rule: (score.kept, score.of) for score in report.scores}["rhyme"] == (2, 3)
    assert not report.kept and 0 < report.score < 1


def test_a_rhyme_word_that_comes_twice_is_named() -> None:
    assert found(FRAME.check(POEM.replace("明", "灯"))) == [("rhyme words", 18, 19, "灯")]


def test_a_rhyme_word_that_comes_twice_in_a_ci_is_told_but_does_not_count(books: CiBooks) -> None:
    report = Tune("灯词", variant=1).check("中中东。照笑动，孔孔东。", books)
    assert found(report) == [("rhyme words", 10, 11, "东")] and (report.kept, report.score) == (True, 1.0)
    told = next(score for score in report.scores if score.rule == "rhyme words")
    assert (told.kept, told.of, told.binding) == (1, 2, False)


def test_a_rhyme_word_that_is_missing_does_not_count_as_one_that_differs(books: CiBooks) -> None:
    for report in (FRAME.check("灯。"), Tune("灯词", variant=2).check("中中东。", books)):
        told = next(score for score in report.scores if score.rule == "rhyme words")
        assert (told.kept, told.of) == (1, 3), report.scores


def test_a_clause_with_too_few_words_does_not_shift_the_others() -> None:
    report = FRAME.check(POEM.replace("西", ""))
    assert [(each.rule, each.found, each.wanted) for each in report.violations] == [
        ("format", "照我桥独坐声", "7 words")
    ]


@pytest.mark.parametrize(
    ("text", "rule", "start", "wanted"),
    [
        (POEM.replace("，", ""), "format", 10, "3 words and 5 words"),  # two clauses in one
        (POEM.removesuffix("点点到天明。"), "format", 14, "5 words"),  # a clause is missing
        (POEM + "雨。", "format", 20, "nothing"),  # one too many
        (POEM.replace("，", "。"), "marks", 13, "，"),
        (POEM.removesuffix("。"), "format", 19, "。"),
        (POEM.replace("雨", "x"), "format", 12, "a Chinese character"),
    ],
)
def test_faults_of_the_format_are_told_apart(text: str, rule: str, start: int, wanted: str) -> None:
    first = FRAME.check(text).violations[0]
    assert (first.rule, first.start, first.wanted) == (rule, start, wanted)


def test_a_foreign_word_costs_its_clause_and_no_other() -> None:
    report = Format("5,5。5,5。").check("hello，青山绿水长。明月照大江，清风拂山冈。")
    assert [(score.rule, score.kept, score.of) for score in report.scores] == [("format", 3, 4), ("marks", 4, 4)]
    (violation,) = report.violations
    assert (violation.start, violation.end, violation.found) == (0, 5, "hello")
    assert violation.wanted == "5 Chinese characters"
    apart = Format("5。5。").check("a山b水长。明月照大x")
    assert [each.found for each in apart.violations] == ["a", "b", "x", ""] and apart.scores[0].kept == 0
    short = Format("5。5。").check("山水x。明月照大江。")  # its clause is wrong once, by its length
    assert (short.scores[0].kept, short.scores[0].of) == (1, 2)


def test_what_is_found_is_what_was_typed_not_how_it_is_read() -> None:
    report = (Format("2。2，") & Acrostic("灯")).check("橋雨!山石.")
    assert [(each.rule, each.found) for each in report.violations] == [
        ("given words", "橋"),
        ("marks", "!"),
        ("marks", "."),
    ]


def test_given_words_tones_and_words_that_must_occur_are_rules_of_their_own() -> None:
    frame = Format("1。2。") & Tones("仄。中仄。") & Acrostic("江月") & Words("山水")
    with pytest.raises(ConfigError, match="the tone of '江' is 平"):
        frame.check("水。月下。")
    report = (Format("1。2。") & Tones("平。仄仄。") & Acrostic("江月") & Words("山水")).check("水。月中。")
    assert found(report) == [("given words", 0, 1, "水"), ("tone", 0, 1, "水"), ("words", 5, 5, "")]


def test_the_variant_that_fits_best_is_found_and_the_others_are_told(books: CiBooks) -> None:
    report = Tune("灯词").check("中中东。照笑动。孔孔空。", books)
    assert report.variant == "灯词 1" and report.kept
    assert [name for name, _ in report.others] == ["灯词 2", "灯词 3"] and report.others[0][1] > report.others[1][1]


def test_the_variant_that_is_taken_has_the_best_score_and_the_others_follow_in_order(books: CiBooks) -> None:
    """Whatever is wrong with a text: no variant that is listed has a better score than the one that is taken."""
    rng = random.Random(0)
    for _ in range(200):
        text = "".join(rng.choices("中东照空，。。", k=12)) + "空。"
        report = Tune("灯词", tone=True).check(text, books)
        scores = [report.score, *(score for _, score in report.others)]
        assert scores == sorted(scores, reverse=True), (text, scores)


def test_marks_that_differ_from_those_of_the_tune_are_told_but_do_not_count(books: CiBooks) -> None:
    report = Tune("灯词", variant=1).check("中中东，照笑动。孔孔空？", books)
    marks = next(score for score in report.scores if score.rule == "marks")
    assert report.kept and (marks.kept, marks.of, marks.binding) == (1, 3, False)
    assert not Tune("灯词", variant=1, marks=True).check("中中东，照笑动。孔孔空？", books).kept


def test_a_pause_within_a_clause_may_go_without_a_mark(tmp_path: Path) -> None:
    pausing = open_books(write_couyun(tmp_path, tunes={("停词",): [("2、1。3。", "中平平中仄平", [[2, 5]])]}))
    for text in ("中中、东。照笑空。", "中中，东。照笑空。", "中中东。照笑空。"):
        assert Tune("停词").check(text, pausing).kept, text
    assert not Tune("停词", marks=True).check("中中东。照笑空。", pausing).kept


def test_level_and_oblique_words_do_not_rhyme_in_a_tune(books: CiBooks) -> None:
    """洞 and 空 are of one part of the book; the tune wants level rhymes, though no other tones are asked for."""
    report = Tune("灯词", variant=3).check("中洞。孔空。", books)
    assert {each.rule for each in report.violations} == {"tone", "rhyme"}


def test_traditional_characters_are_read_as_simplified_ones_with_one_note() -> None:
    report = (FRAME & Acrostic("灯照三")).check("燈。照我橋西獨坐聲。三更雨，點點到天明。")
    assert report.kept and len(report.notes) == 1 and "燈" in report.text


def test_lines_of_a_format_without_marks_end_at_line_ends() -> None:
    lines = Format("2/3/2")
    assert lines.check("孤灯\n照石桥\n夜雨").kept and lines.check(" 孤 灯 / 照石桥 / 夜雨\n").kept
    assert found(lines.check("孤灯\n照石桥夜\n雨")) == [("format", 3, 7, "照石桥夜"), ("format", 8, 9, "雨")]
    assert found(lines.check("孤灯照石桥夜雨"))[0][0] == "format"
    assert found(lines.check("孤灯，\n照石桥\n夜雨")) == [("marks", 2, 3, "，")]
    assert Format("2/3/2", marks=False).check("孤灯，\n照，石桥\n夜雨。").kept
    assert Format("2，3/2。").check("孤灯，照\n石桥\n夜雨。").kept is False  # a line has ended within a clause
    assert Format("2，3/2。").check("孤灯，\n照石桥\n夜雨。").kept


@pytest.mark.parametrize("text", ["", "。", "A lamp."])
def test_a_text_without_chinese_words_is_an_error_of_one_line(text: str) -> None:
    with pytest.raises(ConfigError, match="text"):
        FRAME.check(text)


def test_a_tune_beside_a_format_of_other_clauses_is_a_contradiction(books: CiBooks) -> None:
    with pytest.raises(ConfigError, match="contradict each other"):
        (Tune("灯词", variant=3) & Format("5。5。")).check("中洞。孔空。", books)


def test_a_book_that_is_not_given_is_said_in_one_line() -> None:
    with pytest.raises(ConfigError, match="no books of rhymes and tunes are at hand; run dvc"):
        Tune("卜算子").check(POEM)


def test_rules_in_traditional_characters_are_read_as_simplified_ones(books: CiBooks) -> None:
    assert Tune("燈詞", variant=1).check("中中东。照笑动。孔孔空。", books).kept
    assert (FRAME & Acrostic("燈照三")).check(POEM).kept


def test_words_are_compared_as_simplified_ones_wherever_they_are_repeated() -> None:
    report = (Format("2。2。") & Rhyme("AA")).check("山雲。山云。")
    assert [each.rule for each in report.violations] == ["rhyme words"]
    assert (Format("5，5。") & Words("后面")).check("歸鳥明月照，後面白雲飛。").kept
    assert (Format("2，2。") & Acrostic("后来")).check("後面，來人。").kept


@pytest.mark.parametrize("repeated", ["灯。灯。灯。", "灯，灯，灯。", "灯灯灯。", "灯灯，灯。"])
def test_a_word_that_is_repeated_at_once_may_go_without_marks(repeated: str) -> None:
    format_ = parse_format("3。1。1。1。", "zh", "....", copies=((4, 3), (5, 3)), sounds=Sounds("zh"))
    report = check_places(plan_of(format_, Sounds("zh"), exact=False), "三更雨。" + repeated)
    assert report.kept and {score.rule: score.kept for score in report.scores}["repetition"] == 2
    assert not check_places(plan_of(format_, Sounds("zh"), exact=False), "三更雨。灯灯月。").kept
    if repeated != "灯。灯。灯。":
        assert not check_places(plan_of(format_, Sounds("zh")), "三更雨。" + repeated).kept


def test_a_plan_without_marks_takes_spaces_for_layout() -> None:
    assert Format("7").check("三更雨点 到天明").kept and Format("5").check("点 点 到 天 明").kept


def test_of_ways_with_as_many_words_the_one_with_the_ends_of_sentences_in_common_is_taken() -> None:
    report = Format("5，5。5，5。", marks=False).check("照我桥西坐。点点到天明，三更雨不停。")
    (fault,) = (each for each in report.violations if each.rule == "format")
    assert (fault.start, fault.end) == (0, 0)
    exact = Format("5，5；5？5！").check("照我桥西坐，点点到天明；三更雨不停！")
    assert [(each.rule, each.start) for each in exact.violations] == [("marks", 17), ("format", 18)]


def test_only_a_pause_may_go_without_its_mark() -> None:
    for text in ("照我桥西坐点。", "照我。桥西坐点。"):
        assert not Format("3，3。", marks=False).check(text).kept
    assert Format("3、3。", marks=False).check("照我桥西坐点。").kept
    assert not Format("3、3。").check("照我桥西坐点。").kept


def test_a_text_much_longer_than_its_plan_costs_no_more_than_its_length() -> None:
    report = Format("5，5。", marks=False).check("照我桥西坐，" * 20_000)
    assert {score.rule: (score.kept, score.of) for score in report.scores}["format"] == (2, 20_000)


def test_traditional_rules_are_told_as_traditional_texts_are() -> None:
    pytest.importorskip("opencc", reason="pip install '.[parse]'")
    assert (Format("2，2。") & Acrostic("風雲")).check("风来，云去。").notes == (NOTE,)
    assert not Format("2，2。").check("获夥，乾坤。").notes
