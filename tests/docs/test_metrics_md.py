"""The page on metrics: its headlines, and its numbers of resamples, are the code's."""

from __future__ import annotations

import inspect
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from espalier.metrics import dialogue, paraphrase, parsing, structure, verse
from espalier.metrics.metric import scores
from espalier.report.comparisons import RESAMPLES

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "golden"))
import golden_compose
import golden_dialogue
import golden_models
import golden_pairs
from markdown_page import Page, profile

PAGE = Page("docs/metrics.md")
HEADLINES = {
    "verse": verse.HEADLINE,
    "paraphrase": paraphrase.HEADLINE,
    "paraphrase by C-DNPG's protocols": paraphrase.PROTOCOL_HEADLINE,
    "expansion of parses": paraphrase.EXPANSION_HEADLINE,
    "dialogue": dialogue.HEADLINE,
    "text under a template": structure.HEADLINE,
    "parser": parsing.HEADLINE,
}


@pytest.mark.parametrize("row", PAGE.table("task", "short names"), ids=lambda row: row["task"])
def test_every_short_name_of_a_headline_is_in_the_table(row: dict[str, str]) -> None:
    told: dict[str, str] = {}
    for group in row["short names"].split(" · "):
        shorts, _, key = group.partition(": ")
        told |= {short.strip("`"): key.strip("`") for short in shorts.split(", ")}
    headline = HEADLINES[row["task"]]
    assert set(told) == set(headline)
    for short, key in told.items():
        assert fnmatch(headline[short], key or short), short


@pytest.mark.parametrize("name", ["nursery", "small", "paper"])
def test_every_split_that_a_run_decodes_has_trivial_baselines(name: str) -> None:
    params = profile(name)
    scored = {(run.paper, run.dataset, run.split) for run in params.runs.values()}
    assert scored <= {(each.paper, each.dataset, each.split) for each in params.baselines.values()}


def test_the_resamples_are_those_that_the_page_names() -> None:
    default = inspect.signature(scores).parameters["resamples"].default
    assert f"from {default:,} bootstrap resamples" in PAGE.prose
    assert f"in a report with {RESAMPLES:,} resamples" in PAGE.prose


def test_the_rows_without_a_trained_model_are_those_of_the_tasks(tmp_path: Path) -> None:
    told = {(row["task"], row["row"].strip("`")) for row in PAGE.table("task", "row", "text")}
    every = {name for task, name in told if task == "all"}
    assert "ngram" in every
    modules = {"verse": golden_models, "paraphrase": golden_pairs, "dialogue": golden_dialogue}
    modules["compose"] = golden_compose
    for task, module in modules.items():
        own = set(module.baselines(tmp_path))
        assert own | {"ngram"} == every | {name for kind, name in told if kind == task}


def test_the_example_in_python_scores_what_it_shows() -> None:
    count, wrong = PAGE.run_examples()
    assert count == 7 and not wrong
