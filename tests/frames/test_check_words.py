"""Formats of English: the words of each clause, the marks and the rhymes of lines."""

from __future__ import annotations

import pytest

from espalier.frames import Acrostic, Format, Frame, Meter, Rhyme, Tones, Words
from espalier.frames.report import Report
from espalier.io.errors import ConfigError

FORMAT = Format("4,/3,2.", language="en")
TEXT = "The river turned , slow,\nand nobody knew, but snow."
RIGHT = "The slow river turned,\nand nobody knew, we burned."


def found(report: Report) -> list[tuple[str, str, str]]:
    return [(each.rule, each.found, each.wanted) for each in report.violations]


@pytest.mark.parametrize(
    "text", [RIGHT, RIGHT.lower().replace(",", " ,"), RIGHT.replace("\n", " / "), f"\n{RIGHT}\n\n"]
)
def test_a_text_that_keeps_its_format_has_the_score_one_in_any_layout(text: str) -> None:
    report = (FORMAT & Rhyme("AA")).check(text)
    assert (report.kept, report.violations, report.text) == (True, (), text)
    scores = [(each.rule, each.kept, each.of) for each in report.scores]
    assert scores == [("lines", 2, 2), ("format", 3, 3), ("marks", 3, 3), ("rhyme", 2, 2), ("rhyme words", 2, 2)]


def test_words_keep_their_apostrophes_and_hyphens_as_models_count_them() -> None:
    for text in ("I'll see well-known lovers' roads", "i’ll see well-known 12 roads"):
        assert Format("5", language="en").check(text).kept


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (RIGHT.replace("nobody ", ""), ("format", "and knew", "3 words")),
        (RIGHT.replace("knew,", "knew"), ("format", "and nobody knew we burned", "3 words and 2 words")),
        (RIGHT.replace("turned,", "turned;"), ("marks", ";", ",")),
        (RIGHT.removesuffix("."), ("marks", "", ".")),
        (RIGHT.replace("turned,", "turned,!"), ("marks", "!", "nothing")),
        (RIGHT + "\nAnd more.", ("lines", "And more", "nothing")),
        (RIGHT.replace("turned", "went"), ("rhyme", "burned", "a word that rhymes with went")),
        (RIGHT.replace("burned", "turned"), ("rhyme words", "turned", "another word")),
    ],
)
def test_faults_of_an_english_format_are_told_apart(text: str, fault: tuple[str, str, str]) -> None:
    report = (FORMAT & Rhyme("AA")).check(text)
    assert not report.kept and found(report) == [fault]


def test_a_line_that_is_missing_costs_its_clauses_marks_and_rhymes() -> None:
    report = (FORMAT & Rhyme("AA")).check(RIGHT.partition("\n")[0])
    assert found(report) == [("lines", "", "a line of 5 words")]
    scores = [(each.rule, each.kept, each.of) for each in report.scores]
    assert scores == [("lines", 1, 2), ("format", 1, 3), ("marks", 1, 3), ("rhyme", 1, 2), ("rhyme words", 1, 2)]


def test_given_words_rhyme_places_and_words_that_must_occur_are_judged() -> None:
    frame = Format("_ the # , _ _ / _ a #", language="en") & Rhyme("AA") & Words("lamp")
    assert frame.check("Under the snow, lamp light\nnow a row").kept
    assert found(frame.check("Under our snow, old light\nnow a road")) == [
        ("given words", "our", "the"),
        ("rhyme", "road", "a word that rhymes with snow"),
        ("words", "", "lamp"),
    ]


def test_without_marks_the_words_of_each_line_count() -> None:
    free = Format("4/5", language="en", marks=False)
    assert free.check(RIGHT).kept and not free.check(RIGHT.replace("nobody ", "")).kept


def test_the_letters_of_an_acrostic_begin_its_lines() -> None:
    assert (FORMAT & Acrostic("TA")).check(RIGHT).kept
    assert found((FORMAT & Acrostic("TO")).check(RIGHT)) == [("acrostic", "and", "a word that begins with O")]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (FORMAT & Tones("平平"), "tones: tones beside a format of English words; leave out one"),
        (FORMAT & Meter("iambic trimeter"), "format: format beside meter"),
        (FORMAT & Rhyme("AA", book="cilin"), "book: the rhyme book cilin for another language"),
        (FORMAT & Rhyme("A"), "rhyme: 'A' has 1 letters, the format 2 units"),
        (Format("8-8", language="en"), "format: '8-8' is no count"),
    ],
)
def test_rules_that_do_not_go_with_an_english_format_are_one_line(frame: Frame, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        frame.check(TEXT)


def test_what_writes_by_characters_refuses_an_english_format_in_one_line() -> None:
    with pytest.raises(ConfigError, match=r"^format: formats of English count words, not their characters; take Syll"):
        FORMAT.automaton()
