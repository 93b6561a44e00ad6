"""README's examples print what the page shows: the released models have the same weights everywhere."""

from __future__ import annotations

import io
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
from markdown_page import ROOT, Page

PAGE = Page("README.md")


def examples() -> Iterator[tuple[str, list[str]]]:
    """Each command of espalier whose output the page shows, and the lines of that output."""
    for _, lines in PAGE.blocks("console"):
        starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
        for start, end in pairwise([*starts, len(lines)]):
            if "espalier " in lines[start]:
                yield lines[start][2:], lines[start + 1 : end]


EXAMPLES = dict(examples())


@pytest.mark.parametrize("command", EXAMPLES)
def test_an_example_prints_what_the_page_shows(
    command: str, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    *before, last = command.split(" | ")
    for words in before:
        piped = subprocess.run(["bash", "-c", words], capture_output=True, check=True, text=True).stdout
        monkeypatch.setattr(sys, "stdin", io.StringIO(piped))
    answer = cli(ROOT, *shlex.split(last)[1:])
    assert answer.status == 0, answer.err
    assert answer.out.rstrip().splitlines() == EXAMPLES[command]


def test_each_command_that_writes_texts_has_an_example() -> None:
    shown = {command.rpartition("espalier ")[2].split()[0] for command in EXAMPLES}
    assert shown == {"generate", "polish", "paraphrase", "granularity", "reply", "compose"}


def test_the_examples_in_python_print_what_the_page_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    count, wrong = PAGE.run_examples()
    assert count > 4 and not wrong
