"""The page on SAT: its tables are compared with the code."""

from __future__ import annotations

import re
import sys
from dataclasses import fields
from pathlib import Path

from typer.main import get_command

from espalier.cli.command import DRAWN
from espalier.datasets.structure.structures import StructuredText
from espalier.inference.requests import ComposeOptions
from espalier.tasks.compose_decoder import ComposeDecoder
from pipeline.shell.app import app

sys.path.insert(0, str(Path(__file__).parent))
from markdown_page import Page, key_of

PAGE = Page("docs/sat.md")
table = PAGE.table


def test_every_option_of_the_command_is_in_its_table() -> None:
    command = get_command(app).commands["compose"]  # type: ignore[attr-defined]
    options = {name for each in command.params for name in each.opts if name.startswith("--")}
    rows = {row["option"]: row[""] for row in table("option")}
    assert {key_of(each) for row in rows for each in row.split(", ")} == options - {"--help"}
    defaults = {each.name: each.default for each in fields(ComposeOptions)}
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
