"""README: its sizes, readers and metrics are those of the code and of git. Its scores: test_numbers.py."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from markdown_page import ROOT, Page, profile

PAGE = Page("README.md")


def test_it_has_at_most_2400_words() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 2_400


def test_the_sizes_of_the_generated_corpora_are_those_of_params() -> None:
    counts = [profile("nursery").corpora[key].options["count"] for key in ("verse_zh", "paraphrase_en", "dialogue_zh")]
    assert "{:,} ci, {:,} paraphrases and {:,} dialogues".format(*counts) in PAGE.prose


def test_the_metrics_that_are_shown_are_the_committed_ones() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\$ (dvc .*metrics show .*)\n((?:[^`$].*\n)+)", text, re.M)
    assert shown
    for command, output in shown:
        words = [sys.executable, "-m", *shlex.split(command)]
        run = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
        assert [line.rstrip() for line in run.stdout.splitlines()] == output.splitlines()
