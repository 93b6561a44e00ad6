"""Tones of a format's places: how people write them, and where they do not fit."""

import pytest

from espalier.datasets.verse.frames import frame_of
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.io.errors import ConfigError
from espalier.verse.format import format_of
from espalier.verse.grammar import parse_format
from espalier.verse.tones import blanks_of, read_tones


def test_tones_are_one_sign_per_word_and_marks_between_them_say_nothing() -> None:
    format_ = parse_format("2，1。1灯。", "zh", tones="平仄，中。/ 平仄")
    assert format_.tones == "平仄中平仄"
    assert format_.place_tones == (("平", "仄", "", "中", ""), ("平", "仄", ""))
    assert parse_format("1，1。", "zh").place_tones == (("中", "", "中", ""),)


def test_tones_alone_are_a_format() -> None:
    assert blanks_of("仄仄，平平仄。") == "__，___。"
    assert str(parse_format(blanks_of("仄仄，平平仄。"), "zh", tones="仄仄，平平仄。")) == "2，3。"


def test_letters_are_mixed_that_have_level_and_oblique_rhymes() -> None:
    assert parse_format("1。1。1。1。", "zh", "ABBA", tones="平仄仄仄").mixed_letters == {"A"}
    assert parse_format("1。1。", "zh", "AA", tones="平中").mixed_letters == set()


@pytest.mark.parametrize(
    ("tones", "message"),
    [
        ("平", "tones: '平' has 1 tones, the format 3 words; one sign per word"),
        ("平平平平", "tones: '平平平平' has 4 tones, the format 3 words"),
        ("平平上", "tones: '上' is no tone; 平 level"),
        ("，。", "tones: no tones; 平 level"),
    ],
)
def test_tones_that_do_not_fit_are_one_line(tones: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_format("2，1。", "zh", tones=tones)
    assert str(caught.value).startswith(message)


def test_frames_and_the_format_of_a_poem_carry_tones() -> None:
    vocabulary = VerseVocabulary(tuple("，。山"), "zh", 4, 8)
    frame = frame_of(format_of("山山，山。\n山。", "zh", "A.", "平中仄平"), vocabulary)
    assert frame.tone.tolist() == [1, 0, -1, 2, -1, -1, 1, -1, -1, -1]
    assert frame_of(format_of("山。", "zh", "A"), vocabulary).tone.tolist() == [0, -1, -1, -1]
    assert read_tones("平 仄/中") == "平仄中"
