"""The page on frames: its examples are run on the few entries that they need."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.verse.couyun import link_couyun, write_couyun

sys.path.insert(0, str(Path(__file__).parent))
from markdown_page import Page
from test_prosody_md import RHYMES, TUNES

PAGE = Page("docs/frames.md")


def test_every_worked_example_gives_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_couyun(tmp_path / "data/raw/forms/couyun", RHYMES, TUNES)
    monkeypatch.chdir(tmp_path)
    count, wrong = PAGE.run_examples()
    assert count > 15
    assert not wrong


@pytest.mark.skipif(not os.environ.get("ESPALIER_MIRROR"), reason="the books are not at hand")
def test_every_worked_example_gives_the_same_with_the_whole_books(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link_couyun(tmp_path / "data/raw/forms/couyun")
    monkeypatch.chdir(tmp_path)
    assert not PAGE.run_examples()[1]
