"""Hyperparameters of the papers beside ours."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from espalier.io.errors import ConfigError
from espalier.report.build import build
from espalier.report.html import render_html
from espalier.report.hyperparameters import hyperparameters_of
from espalier.report.markdown import render_markdown
from espalier.report.printed import Printed, load_printed
from pipeline.layout import PROFILES, ROOT
from pipeline.params.entries import Params
from pipeline.params.read import load_params
from pipeline.stages.report import model_settings

#: The systems that stand in a table of each paper.
SYSTEMS = {
    "songnet": {"songnet", "sonnet_pretrained", "sonnet", "songnet_s2s", "judge_ci"},
    "guig": {"guig_tg", "guig_se", "guig_scpn"},
    "x2tree": {"x2tree", "x2tree_att", "x2tree_line"},
    "cdnpg": {"cdnpg_rs", "cdnpg_dnpg", "cdnpg_tuned_rs"},
    "sat": {"sat_p2", "sat_topic_p2", "sat_p2_6", "sat_ptb_pos"},
}
PAPERS = tuple(SYSTEMS)


@cache
def params_of(profile: str) -> Params:
    return load_params(PROFILES[profile] / "params.yaml")


@cache
def printed_of(paper: str) -> Printed:
    return load_printed(ROOT / "papers/printed" / f"{paper}.yaml")


def tables_of(paper: str, profile: str) -> Any:
    printed = printed_of(paper)
    return hyperparameters_of(printed, model_settings(printed, params_of(profile)), profile)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_setting_that_is_named_exists_in_the_paper_profile(paper: str) -> None:
    models = {model for table in tables_of(paper, "paper") for model in table.models}
    assert models >= SYSTEMS[paper]


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("profile", ["nursery", "small"])
def test_another_profile_shows_the_models_that_it_has(paper: str, profile: str) -> None:
    tables = tables_of(paper, profile)
    assert tables
    assert {model for table in tables for model in table.models} <= params_of(profile).models.keys()


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("profile", PROFILES)
def test_no_model_of_a_paper_lacks_hyperparameters_and_none_stands_twice(paper: str, profile: str) -> None:
    models = params_of(profile).models
    shown = [model for table in tables_of(paper, profile) for model in table.models]
    assert sorted(shown) == sorted(key for key, model in models.items() if model.paper == paper)


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("profile", PROFILES)
def test_a_decoder_beside_a_model_is_that_of_a_run_of_the_model(paper: str, profile: str) -> None:
    params = params_of(profile)
    named = [pair for system in printed_of(paper).hyperparameters for pair in system.models.items()]
    runs = {key: run for key, run in named if key in params.models and run != "none"}
    assert {key: params.runs[run].model for key, run in runs.items()} == {key: key for key in runs}


@pytest.mark.parametrize(
    ("paper", "system", "name", "printed", "ours"),
    [
        ("songnet", 0, "width", "768", "768"),
        ("songnet", 0, "betas", "0.9, 0.998", "0.9, 0.998"),
        ("songnet", 0, "batch", "32", "3,072"),
        ("songnet", 0, "k of sampling", "32", "32"),
        ("songnet", 2, "warm-up steps", "10,000", "10,000"),
        ("songnet", 3, "layers", "12", "12"),
        ("songnet", 4, "width", "", "768"),
        ("songnet", 5, "width", "", "512"),
        ("guig", 0, "warm-up steps", "12,800", "12,800"),
        ("guig", 0, "layers of the second encoder", "3", "3"),
        ("guig", 2, "warm-up steps", "6,400", "6,400"),
        ("guig", 2, "heads of the decoder", "8", "8"),
        ("guig", 3, "rate", "5e-05", "5e-05"),
        ("x2tree", 0, "optimizer", "adadelta", "adadelta"),
        ("x2tree", 0, "decay of Adadelta", "", "0.95"),
        ("x2tree", 0, "posts", "300", "300"),
        ("x2tree", 1, "children of a node", "3", "1"),
        ("cdnpg", 1, "rate", "5e-05", "5e-05"),
        ("cdnpg", 1, "width", "", "450"),
        ("cdnpg", 2, "length of training", "100,000", "500"),
        ("sat", 2, "layers of the encoder", "4 and 6", "4"),
    ],
)
def test_a_value_of_the_paper_and_of_the_paper_profile(
    paper: str, system: int, name: str, printed: str, ours: str
) -> None:
    (line,) = (line for line in tables_of(paper, "paper")[system].lines if line.name == name)
    assert (line.paper, line.ours[0]) == (printed, ours)
    assert bool(line.source) == bool(printed)


HYPERPARAMETERS = """
hyperparameters:
  - system: Toy | one
    models: {one: free, two: free, three: none}
    values:
      - {name: width, paper: 64, source: text, ours: network.width}
      - {name: first heads, paper: null, ours: network.encoders.0.heads, note: each}
      - {name: layers, paper: 1, source: code}
      - {name: tied, paper: true, source: code, ours: network.tied}
"""
SETTINGS = {
    "one": {"network": {"width": 32, "encoders": [{"heads": 2}], "tied": True}},
    "two": {"network": {"width": 16, "encoders": [], "tied": False}},
}


@pytest.fixture
def paper(toy_text: str, write: Callable[[str], Path]) -> Printed:
    return load_printed(write(toy_text + HYPERPARAMETERS))


def test_models_stand_side_by_side(paper: Printed) -> None:
    (table,) = hyperparameters_of(paper, SETTINGS, "small")
    assert table.models == ("one", "two")
    assert [(line.paper, line.ours) for line in table.lines] == [
        ("64", ("32", "16")),
        ("", ("2", "")),
        ("1", ("", "")),
        ("yes", ("yes", "no")),
    ]


def test_page_and_markdown_show_them(paper: Printed) -> None:
    report = build(paper, [], hyperparameters=hyperparameters_of(paper, SETTINGS, "small"))
    text = render_markdown(report)
    assert "**Hyperparameters.** Toy \\| one" in text
    assert "|  | Paper | Found in | one (small) | two (small) | Note |" in text
    assert "| first heads | not stated |  | 2 |  | each |" in text
    page = render_html(report)
    assert "<h2>Hyperparameters</h2>" in page
    assert "<h3>Toy | one</h3>" in page
    assert '<td>64 <span class="tag">text</span></td>' in page


def test_no_model_of_the_system_no_table(paper: Printed) -> None:
    assert hyperparameters_of(paper, {"other": {}}, "small") == ()


def test_a_setting_that_no_model_has_is_one_line(paper: Printed) -> None:
    with pytest.raises(ConfigError, match=r"hyperparameters: width: no model of .* has the setting 'network\.width'"):
        hyperparameters_of(paper, {"one": {"network": {}}}, "small")


@pytest.mark.parametrize("value", ["paper: 3", "paper: null, source: text"])
def test_a_value_needs_a_source_and_none_has_none(toy_text: str, write: Callable[[str], Path], value: str) -> None:
    text = toy_text + HYPERPARAMETERS.replace("paper: 1, source: code", value)
    with pytest.raises(ConfigError, match="layers: a value has a source, and null has none"):
        load_printed(write(text))
