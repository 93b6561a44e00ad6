"""The page on C-DNPG: its examples are run, and its tables are compared with the code."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, get_args

import yaml
from typer.main import get_command

from espalier.cli.command import DRAWN
from espalier.inference.requests import GranularityOptions
from espalier.layers.options import GranularityMask
from espalier.models.cdnpg_config import CDNPGConfig
from pipeline.shell.app import app

sys.path.insert(0, str(Path(__file__).parent))
from markdown_page import Page, key_of

PAGE = Page("docs/cdnpg.md")
table = PAGE.table


def test_every_equation_of_the_paper_has_a_row() -> None:
    numbers = [number.strip() for row in table("eq.") for number in row["eq."].split(",")]
    assert sorted(map(int, numbers)) == [*range(1, 11)]


def test_the_table_of_settings_is_the_network_s_own() -> None:
    rows = {key_of(row["key"]): row for row in table("key", "meaning", "default")}
    assert {key: yaml.safe_load(row["default"]) for key, row in rows.items()} == CDNPGConfig().model_dump()
    for name in ("none", *get_args(GranularityMask)):
        assert f"`{name}`" in rows["granularity"]["meaning"]


def test_the_rows_of_table_2_are_models_and_all_different() -> None:
    settings = [yaml.safe_load("\n".join(re.findall(r"`([^`]+)`", row["`network`"]))) for row in table("in the paper")]
    configs = [CDNPGConfig.model_validate(each) for each in settings]
    assert len({each.model_dump_json() for each in configs}) == len(configs) == 6
    assert {each.granularity for each in configs} == {"none", *get_args(GranularityMask)}


def test_every_parameter_that_selects_the_released_behaviour_is_one() -> None:
    [(_, lines)] = PAGE.blocks("yaml")
    block: dict[str, Any] = yaml.safe_load("\n".join(lines))
    selected = [key_of(row["selected by"]) for row in table("released", "here") if "`network." in row["selected by"]]
    assert [f"network.{key}: {yaml.safe_dump(value).split()[0]}" for key, value in block.items()] == selected
    released, plain = CDNPGConfig.model_validate(block), CDNPGConfig()
    assert all(getattr(released, key) != getattr(plain, key) for key in block)


def test_every_option_of_the_command_is_in_its_table() -> None:
    command = get_command(app).commands["granularity"]  # type: ignore[attr-defined]
    options = {name for each in command.params for name in each.opts if name.startswith("--")}
    rows = {key_of(row["option"]): row[""] for row in table("option")}
    assert {*rows} == options - {"--help"} and f"at most {DRAWN} texts" in rows["--out"]
    assert rows["--beam"] == f"the model's own, else {GranularityOptions.beam}"
