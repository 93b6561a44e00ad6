"""The symbol rows C, P and S, against those of the paper (equations 3 to 5)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.datasets.verse.frames import Frame, frame_of, target_of
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import EOS, SEP, UNK
from espalier.io.errors import ConfigError
from espalier.text.language import Language
from espalier.verse.format import Format, format_of
from espalier.verse.grammar import parse_format

ZH = VerseVocabulary(tuple("，。！灯山桥雨到"), units=4, length=16, language="zh")
EN = VerseVocabulary((",", ".", "lamp", "stone"), units=4, length=16, language="en")
END = ["</s>", "<eos>"]


def named(row: np.ndarray, vocabulary: VerseVocabulary) -> str:
    """A row as the paper writes it: c0, c2, p3, s1, the words and marks themselves."""
    names = {vocabulary.c_word: "c0", vocabulary.c_mark: "c1", vocabulary.c_rhyme: "c2"}
    names |= {vocabulary.segment(unit): f"s{unit}" for unit in range(vocabulary.units)}
    names |= {vocabulary.position(place): f"p{place}" for place in range(vocabulary.length)}
    return " ".join(names.get(int(i)) or vocabulary.token(int(i)) for i in row)


def rows(format_: Format, vocabulary: VerseVocabulary) -> dict[str, str]:
    frame = frame_of(format_, vocabulary)
    assert len(frame) == len(frame.c)
    return {name: named(getattr(frame, name), vocabulary) for name in ("c", "p", "inverse", "s")}


@pytest.mark.parametrize("written", [True, False])
def test_the_rows_of_the_paper_s_example(written: bool) -> None:
    # Equations 3, 4 and 5: four words and a comma, six words and a full stop; a mark's C symbol is the mark.
    text = "lamp stone lamp stone ,\nlamp lamp stone lamp lamp stone ."
    format_ = parse_format("4,/6.", "en") if written else format_of(text, "en", "AA")
    assert rows(format_, EN) == {
        "c": "c0 c0 c0 c2 , </s> c0 c0 c0 c0 c0 c2 . </s> <eos>",
        "p": "p4 p3 p2 p1 p0 </s> p6 p5 p4 p3 p2 p1 p0 </s> <eos>",
        "inverse": "p0 p1 p2 p3 p4 </s> p0 p1 p2 p3 p4 p5 p6 </s> <eos>",
        "s": "s0 s0 s0 s0 s0 </s> s1 s1 s1 s1 s1 s1 s1 </s> <eos>",
    }


def test_a_unit_of_two_clauses_counts_down_over_both() -> None:
    found = rows(parse_format("5，5。7，5。", "zh", ".A"), ZH)
    unit = "p11 p10 p9 p8 p7 p6 p5 p4 p3 p2 p1 p0 </s>"
    assert found["c"].split(" </s>")[0] == "c0 c0 c0 c0 c0 ， c0 c0 c0 c0 c0 。"
    assert found["c"].split(" </s> ")[1] == "c0 c0 c0 c0 c0 c0 c0 ， c0 c0 c0 c0 c2 。"
    assert found["p"] == f"{unit} p13 p12 {unit} <eos>"
    assert found["s"] == " ".join(["s0"] * 12 + ["</s>"] + ["s1"] * 14 + END)


def test_without_punctuation_the_last_word_rhymes_at_p0() -> None:
    found = rows(format_of("灯山桥", "zh", "A"), ZH)
    assert (found["c"], found["p"]) == ("c0 c0 c2 </s> <eos>", "p2 p1 p0 </s> <eos>")


def test_a_unit_of_one_mark_leaves_the_separator_before_it() -> None:
    found = rows(format_of("灯山桥。\n！", "zh", "AA"), ZH)
    assert found["c"] == "c0 c0 c2 。 </s> ！ </s> <eos>"
    assert found["p"] == "p3 p2 p1 p0 </s> p0 </s> <eos>"


def test_polishing_keeps_literals_in_c_and_positions_as_in_training() -> None:
    found = rows(parse_format("_雨___，____到。", "zh"), ZH)
    assert found["c"] == "c0 雨 c0 c0 c0 ， c0 c0 c0 c0 到 。 </s> <eos>"
    assert found["p"] == "p11 p10 p9 p8 p7 p6 p5 p4 p3 p2 p1 p0 </s> <eos>"
    assert rows(parse_format("_雨___，____#。", "zh"), ZH)["c"].split()[10] == "c2"


def test_a_literal_without_an_id_is_unknown() -> None:
    assert frame_of(parse_format("_鹤。", "zh"), ZH).c.tolist()[1] == UNK


@pytest.mark.parametrize(
    ("text", "rhyme", "word"),
    [
        ("2。_鹏。", "AA", "灯"),  # eng: 灯 is the first word of the vocabulary that rhymes
        ("_鹏。#_。", None, "<unk>"),  # not at a rhyme place
        ("2。_鹏。", "AB", "<unk>"),  # no blank has its letter
        ("_鹏。_灯。2。", "AA.", "<unk>"),  # the same: literals alone
    ],
)
def test_an_unknown_literal_that_a_blank_rhymes_with_is_read_as_a_word_of_its_sound(
    text: str, rhyme: str | None, word: str
) -> None:
    frame = frame_of(parse_format(text, "zh", rhyme), ZH)
    assert [ZH.token(int(i)) for i in frame.c if i in (UNK, ZH.id_of("灯"))][:1] == [word]


@pytest.mark.parametrize(("text", "language", "word"), [("2。_叶。", "zh", "叶"), ("2/_ heron", "en", "heron")])
def test_a_literal_that_no_word_rhymes_with_is_refused(text: str, language: Language, word: str) -> None:
    with pytest.raises(ConfigError, match=f"^rhyme: this model knows no word that rhymes with '{word}'; write"):
        frame_of(parse_format(text, language, "AA"), ZH if language == "zh" else EN)


def letters(format_: Format, vocabulary: VerseVocabulary) -> list[int]:
    return frame_of(format_, vocabulary).letter.tolist()


def test_letters_are_numbered_by_first_use_and_stand_at_rhyme_places() -> None:
    assert letters(parse_format("2。2。2，1。", "zh", "B.A"), ZH) == [-1, 0, -1, -1] + [-1] * 4 + [
        -1, -1, -1, 1, -1, -1, -1
    ]  # fmt: skip
    assert letters(parse_format("_到。_#。", "zh"), ZH) == [-1, -1, -1, -1, -1, 0, -1, -1, -1]
    assert letters(parse_format("_到。_#。", "zh", "AA"), ZH) == [-1, 0, -1, -1, -1, 0, -1, -1, -1]


def test_every_written_rhyme_of_a_unit_has_its_letter() -> None:
    assert letters(parse_format("_#，_#_。", "zh"), ZH) == [-1, 0, -1, -1, 0, -1, -1, -1, -1]


def test_the_target_has_a_separator_after_each_unit_and_one_end() -> None:
    assert named(target_of("灯山，桥。\n雨鹤！", ZH), ZH) == "灯 山 ， 桥 。 </s> 雨 <unk> ！ </s> <eos>"
    assert named(target_of("lamp , stone", EN), EN) == "lamp , stone </s> <eos>"


@given(st.lists(st.text(alphabet="灯山鹤，。", min_size=1, max_size=9), min_size=1, max_size=4), st.data())
def test_rows_align_with_the_target_of_any_verse(units: list[str], data: st.DataObject) -> None:
    rhyme = "".join(data.draw(st.sampled_from("AB.")) for _ in units)
    verse = "\n".join(units)
    frame, target = frame_of(format_of(verse, "zh", rhyme), ZH), target_of(verse, ZH)
    assert {len(getattr(frame, name)) for name in Frame.__slots__} == {len(target)} == {len(verse) + 2}
    for row in (frame.c, frame.p, frame.inverse, frame.s):
        assert np.array_equal(row == SEP, target == SEP) and np.array_equal(row == EOS, target == EOS)
    words = (frame.c == ZH.c_word) | (frame.c == ZH.c_rhyme)
    assert np.array_equal(frame.c[~words], target[~words])
    assert np.array_equal(frame.letter >= 0, frame.c == ZH.c_rhyme)
    for start, unit in zip(np.cumsum([0] + [len(u) + 1 for u in units]), units, strict=False):
        part = slice(start, start + len(unit))
        assert frame.p[part].tolist() == frame.inverse[part].tolist()[::-1]
        assert frame.p[part][-1] == ZH.position(0)


@pytest.mark.parametrize(
    ("text", "language", "message"),
    [("1。1。1。1。1。", "zh", "5 units; this model knows at most 4"), ("17", "en", "a unit of 17 words and marks")],
)
def test_a_format_beyond_the_symbols_is_refused(text: str, language: Language, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        frame_of(parse_format(text, language), ZH if language == "zh" else EN)
