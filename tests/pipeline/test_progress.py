"""What stages and commands tell people while they work."""

from __future__ import annotations

import io
import sys

import pytest

from espalier.cli.progress import counted, followed, progress_bar, say
from espalier.cli.streams import QUIET


def test_what_is_followed_comes_through_and_nothing_is_drawn_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # as some machines of continuous integration do
    assert list(followed("abc", "letters")) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")


def test_counts_in_one_line() -> None:
    assert counted([("train", 12345), ("dev", 2)]) == "train 12,345, dev 2"


def test_what_is_said_cannot_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    say("\x1b[2Jwiped", "two\tcolumns")
    assert capsys.readouterr().err == "\\x1b[2Jwiped\ntwo\tcolumns\n"


def test_a_description_is_shown_as_it_is_and_a_note_if_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(shown, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv(QUIET, raising=False)
    with progress_bar() as bar:
        bar.add_task("[red]\x1b]0;title\x07 poems", total=1, note="\x9b1m[/]")
        bar.add_task("without a note", total=1)
        bar.refresh()
    assert "[red]\\x1b]0;title\\x07 poems" in shown.getvalue() and "\\x9b1m[/]" in shown.getvalue()
    assert "without a note" in shown.getvalue()
    assert "\x1b]0;" not in shown.getvalue() and "\x9b" not in shown.getvalue()
