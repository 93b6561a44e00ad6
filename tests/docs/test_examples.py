"""The worked examples of the pages that need nothing but the library: each gives what its page shows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from markdown_page import Page


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("sat", 15),
        ("x2tree", 60),
        ("syntax", 100),
        ("guig", 40),
        ("cdnpg", 15),
        ("judging", 15),
    ],
)
def test_every_worked_example_gives_what_the_page_shows(name: str, least: int) -> None:
    count, wrong = Page(f"docs/{name}.md").run_examples()
    assert count > least
    assert not wrong
