"""What is printed cannot command a terminal."""

from __future__ import annotations

import json

import pytest

from espalier.io.terminal import LONGEST, json_line, printable, printable_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x1b]0;title\x07", r"\x1b[2J\x1b]0;title\x07"),
        ("a\rb\x00c\x7f", r"a\x0db\x00c\x7f"),
        ("\x9b31m\x85", r"\x9b31m\x85"),
        ("\u202egnp.exe\u2066\u2069", r"\u202egnp.exe\u2066\u2069"),
        ("\udcff", r"\udcff"),
        ("春眠不觉晓。\n\tthe lamp's 😀 e\u0301", "春眠不觉晓。\n\tthe lamp's 😀 e\u0301"),
    ],
)
def test_control_characters_are_shown_and_text_stays(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_a_message_is_one_line_of_bounded_length() -> None:
    assert printable_line(ValueError("a\nb \x1b\x85c")) == r"a b \x1b c"
    line = printable_line("begin " + "x" * 10**6 + " end")
    assert len(line) < LONGEST + 10 and line.startswith("begin ") and line.endswith(" end")


def test_json_is_printable_and_unchanged_when_read() -> None:
    value = {"text": "诗\x1b\x7f\x9b\u202e\udcff\n"}
    line = json_line(value)
    assert json.loads(line) == value and printable(line) == line and "诗" in line and "\n" not in line
