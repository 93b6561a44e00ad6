"""Texts as people type them, in the form of training texts."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import espalier
from espalier.inference.texts import with_ascii_marks, with_known_marks
from espalier.inference.writer import InferenceWarning

LYRICS = frozenset("今天气真好，我们走吧")


def test_a_typographic_apostrophe_keeps_its_negation_and_a_note_says_so() -> None:
    with pytest.warns(InferenceWarning, match='text: read as He didn\'t say "no" -- \\.\\.\\.'):
        assert with_ascii_marks("He didn’t say “no” — …", "en", "text") == 'He didn\'t say "no" -- ...'


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("今天天气真好。", "今天天气真好"),
        ("今天天气真好, 我们走吧!", "今天天气真好，我们走吧"),
        ("“今天，天气真好”；我们走吧……", "今天，天气真好，我们走吧"),
        ("我们《走吧》 今天…天气（真好）", "我们走吧今天，天气真好"),
    ],
)
def test_marks_that_lyrics_do_not_have_are_commas_within_a_line_and_go_at_its_ends(typed: str, read: str) -> None:
    with pytest.warns(InferenceWarning, match=f"template: read as {read}"):
        assert with_known_marks(typed, LYRICS.__contains__, "template") == read


@given(st.text(alphabet="今天，。! 气", max_size=12))
def test_text_of_known_marks_alone_is_read_as_it_is_and_others_are_gone(text: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read = with_known_marks(text, "今天气，".__contains__, "template")
        assert with_known_marks(text, "今天气。!".__contains__, "template") == text  # of a model without the comma
    if {*text} & {*"。!"}:
        assert not {*read} & {*"。! "} and "，，" not in read and read.strip("，") == read
        assert [c for c in read if c != "，"] == [c for c in text if c in "今天气"]
    else:
        assert read == text and not caught


def test_english_marks_are_read_and_chinese_text_keeps_its_own() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert with_ascii_marks("don't", "en", "text") == "don't"
        assert with_ascii_marks("“今天”", "zh", "text") == "“今天”"


def test_a_paraphrase_reads_typed_apostrophes_as_training_texts_have_them(models: Path) -> None:
    model = espalier.load(models / "plain", device="cpu")
    with pytest.warns(InferenceWarning, match="read as the cook's knife"):
        [typed] = model.paraphrase(["the cook’s knife"])
    assert typed == model.paraphrase(["the cook's knife"])[0]
