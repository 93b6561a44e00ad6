"""The page on SAT: its examples are run, and its tables are compared with the code."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from typer.main import get_command

from espalier.cli.requests import DRAWN
from espalier.datasets.structure.structures import StructuredText
from espalier.tasks.compose import ComposeDecoder
from pipeline import layout
from pipeline.shell.app import app

sys.path.insert(0, str(Path(__file__).parent))
from markdown_page import ROOT, Page, key_of, why_not_comparable

PAGE = Page("docs/sat.md")
table = PAGE.table


def commands() -> Iterator[tuple[list[str], list[str]]]:
    """The words of each command of a console block, and the lines that it prints."""
    for _, lines in PAGE.blocks("console"):
        places = [place for place, line in enumerate(lines) if line.startswith("$ ")] + [len(lines)]
        for place, end in pairwise(places):
            yield shlex.split(lines[place][2:]), lines[place + 1 : end]


@pytest.mark.parametrize(("words", "printed"), list(commands()))
def test_every_command_prints_what_the_page_shows(
    words: list[str], printed: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program, name, *rest = words
    assert (program, name) == ("espalier", "compose") and printed
    if reason := why_not_comparable(
        layout.ROOT, "data/models/sat_p2", "data/models/sat_news_pos", "data/parsers/jieba", "data/parsers/tags_en"
    ):
        pytest.skip(reason)
    monkeypatch.chdir(ROOT)
    get_command(app).commands[name].main(rest, standalone_mode=False)  # type: ignore[attr-defined]
    assert capsys.readouterr().out.rstrip().splitlines() == printed


def test_every_option_of_the_command_is_in_its_table() -> None:
    command = get_command(app).commands["compose"]  # type: ignore[attr-defined]
    options = {name for each in command.params for name in each.opts if name.startswith("--")}
    rows = {row["option"]: row[""] for row in table("option")}
    assert {key_of(each) for row in rows for each in row.split(", ")} == options - {"--help"}
    defaults = {each.name: each.default for each in command.params}
    draws = re.match(r"([\d.]+), ([\d.]+) and (\d+);", rows["`--top-k`, `--temperature`, `--seed`"])
    assert draws and [float(each) for each in draws.groups()] == [
        defaults["top_k"], defaults["temperature"], defaults["seed"],
    ]  # fmt: skip
    assert rows["`--n`"].startswith(f"{defaults['n']};") and rows["`--beam`"].startswith(f"{defaults['beam']},")
    assert f"at most {DRAWN} texts" in rows["`--out`"]
    assert f"at most {ComposeDecoder().extra_tokens} tokens longer" in rows["`--frame`"]


def test_the_symbols_of_the_first_table_are_those_of_the_code() -> None:
    rows = {row["position"]: [*row.values()][1:] for row in table("position", "0", "1")}
    words = [["我"], list("喜欢"), list("炸薯条")]
    found = StructuredText.of(words, ["r", "v", "n"], ["pc", "pos"])
    assert rows["input"] == ["BOS", *found.tokens] and rows["target"] == [*found.tokens, "EOS"]
    assert {name: rows[name] for name in found.symbols} == {
        name: [*symbols, "P"] for name, symbols in found.symbols.items()
    }
