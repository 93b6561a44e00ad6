"""What stages and commands tell people while they work."""

from __future__ import annotations

import pytest

from pipeline.progress import counted, followed


def test_what_is_followed_comes_through_and_nothing_is_drawn_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert list(followed(iter("abc"), 3, "letters")) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")


def test_counts_in_one_line() -> None:
    assert counted([("train", 12345), ("dev", 2)]) == "train 12,345, dev 2"
