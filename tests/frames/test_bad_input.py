"""Each bad input of a frame is answered in one line: what is wrong, where, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.frames import Acrostic, Form, Format, Frame, Rhyme, Syllables, Tones, Tune, Words, grammars
from espalier.frames.frame import Rules, frame_of
from espalier.frames.melody import read_melody
from espalier.io.errors import ConfigError
from tests.frames.small_tokenizers import byte_level, word_piece

TALL = "春江花月夜"


@pytest.mark.parametrize(
    ("frame", "line"),
    [
        (
            Format("2。2。") & Words(TALL),
            f"words: .*'{TALL}' must occur, but it has 5 words, and no clause has more than 2",
        ),
        (Tones("仄仄。") & Words("春"), "words: .*'春' must occur, but no place has room for it with its tones"),
        (Format("2。") & Words("春风", "秋月"), "words: .*春风 秋月 fit nowhere together; leave some out"),
        (Format("2。") & Words("lamp"), "words: 'lamp' has more than Chinese characters; give words in Chinese"),
        (Format("2。") & Format("5。"), "format: .*format is '2。' in Format and '5。' in Format; leave out one"),
        (Tones("仄仄。") & Acrostic("春"), "tones, unit 1: the tone of '春' is 平, its position has 仄"),
        (
            Format("1。1。1。") & Rhyme("AAA") & Acrostic("春月"),
            r"rhyme: unit 2 .* '月' \(ie\) does not rhyme with '春'",
        ),
        (Tune("沁园"), "book: no books of rhymes and tunes are at hand; run dvc"),
        (Format("2。") & Syllables("2"), "format: format beside syllables"),
    ],
)
def test_rules_that_contradict_each_other_are_one_line_that_names_them(frame: Frame, line: str) -> None:
    with pytest.raises(ConfigError, match=line) as caught:
        frame.automaton()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("frame", "text", "line"),
    [
        (Format("2。"), "a lamp", "text: it is not Chinese, as the frame is"),
        (Format("2。"), "привет", "text: it is not Chinese, as the frame is"),
        (Syllables("2"), "春风", "text: it is not English, as the frame is"),
        (Syllables("5"), "灯 on the bridge", "text: '灯' is not English, as the frame is"),
        (Form("haiku"), "A лампа on the bridge", "text: 'лампа' is not English, as the frame is"),
        (Format("4", language="en"), "灯 on the bridge", "text: '灯' is not English, as the frame is"),
        (Format("2。"), " 。\n", "text: no words; give a text in Chinese"),
    ],
)
def test_a_text_in_another_script_is_one_line(frame: Frame, text: str, line: str) -> None:
    with pytest.raises(ConfigError, match=line):
        frame.check(text)


def test_a_tokenizer_that_lacks_line_feeds_says_so() -> None:
    with pytest.raises(ConfigError, match=r"^tokenizer: its vocabulary spells none of .* such as a line feed; use"):
        Format("2。2。").processor(word_piece([*TALL, "。"]))


@pytest.mark.parametrize("most", [0, -1, 5])
def test_too_few_tokens_are_refused_before_a_text_is_written(most: int) -> None:
    with pytest.raises(ConfigError, match=f"^max_new_tokens: {most} tokens are too few for the frame; at least 10$"):
        Format("2。").processor(byte_level([]), most)


def test_a_melody_without_lyrics_is_one_line(tmp_path: Path) -> None:
    note = "<note><pitch><step>C</step><octave>4</octave></pitch><duration>1</duration></note>"
    part = f'<part id="P1"><measure number="1">{note}</measure></part>'
    parts = '<part-list><score-part id="P1"><part-name>Voice</part-name></score-part></part-list>'
    score = tmp_path / "song.musicxml"
    score.write_text(f'<score-partwise version="4.0">{parts}{part}</score-partwise>', encoding="utf-8")
    with pytest.raises(ConfigError, match=r"no .*lyrics|without lyrics"):
        read_melody(score)


@pytest.mark.parametrize("limit", ["STATES", "FOLLOWED", "LENGTH"])
def test_a_grammar_beyond_the_limits_is_refused_in_one_line(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammars, limit, 10)
    with pytest.raises(ConfigError, match=r"^grammar: it has (more than 10|too many choices)") as caught:
        (Format("7，7。") & Words("春风", "秋月")).grammar("regex")
    assert ";" in str(caught.value)


def test_a_field_of_no_rule_is_refused_unless_it_is_false_which_asks_for_nothing() -> None:
    with pytest.raises(ConfigError, match=r"tone is given, but no rule that it belongs to; give tune as well"):
        frame_of({"format": "2。", "tone": True})
    assert frame_of({"format": "2。", "tone": False}) == frame_of({"format": "2。"})
    assert frame_of({"format": "2。", "marks": False}) == Rules((Format("2。", marks=False),))
