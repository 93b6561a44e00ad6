"""Every registered family is found by its key, a user's own among them, under a prefix that no task has."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from espalier.io.errors import CallError, ConfigError
from espalier.metrics.dialogue import ReplyBleu
from espalier.metrics.family import PARTS, Family, Part
from espalier.metrics.metric import Metric, ratio, signature_of
from espalier.metrics.registry import METRICS, Own, families_of, family, own_names, require_own_names

OUTPUTS: Any = SimpleNamespace(table=pd.DataFrame({"text": ["a b", "c", ""]}))
#: The columns of segments that were scored with other settings are read as long as these keys stay.
KEYS = {
    "verse": """perplexity perplexity:dev distinct distinct:pooled format:songci format:sonnet rhyme:zh:u:strict
        rhyme:en:u:eye rhyme_shuffled:zh:u:strict:1 rhyme_units:en prosody literals integrity integrity:1:5""",
    "paraphrase": """bleu bleu_source rouge rouge_released meteor meteor:wordnet ted ted_guide template defects
        perplexity expansion:8 released:nltk_3_4:19 released:nltk_3_4:19:wordnet paper:0.8,0.9:19 paper:0.8,0.9:whole
        paper:0.8:whole:wordnet copies""",
    "dialogue": """bleu bleu_all bleu_list:5 bleu_best:5 distinct distinct:pooled perplexity:chain perplexity:tree
        perplexity:exact recall replies""",
    "compose": "likelihood:42 likelihood:42:dev bleu:text bleu:pos bleu:pos:whole own_weight texts",
    "parsing": "brackets attachment attachment:punctuation tags tags:unknown",
}


class Words(Family[Any]):
    metrics = (Metric("length", ratio(0, 1), signature_of("length")),)

    def statistics(self, outputs: Any, /) -> Any:
        return [[len(text.split()), 1] for text in outputs.table["text"]]


@pytest.fixture
def words() -> Iterator[None]:
    METRICS["words"] = Words
    yield
    del METRICS["words"]


@pytest.mark.parametrize("task", KEYS)
def test_every_family_of_a_task_is_found_by_its_key(task: str) -> None:
    found = {key: family(key, task) for key in KEYS[task].split()}
    assert [each.key for each in found.values()] == [*found] and all(each.metrics for each in found.values())
    kinds = {name: METRICS[name] for name in METRICS if name.startswith(f"{task}/")}
    assert {*kinds.values()} == {type(each) for each in found.values()}
    assert {*kinds} == {f"{task}/{kind.name}" for kind in kinds.values()}
    for part in PARTS:
        assert all(family(f"{key}:{part}", task) == Part(each, part) for key, each in found.items())


@pytest.mark.parametrize("name", sorted(METRICS))
def test_every_family_says_in_one_line_which_arguments_it_takes(name: str) -> None:
    with pytest.raises(CallError, match=rf"^{METRICS[name].__name__}: .*; its arguments: "):
        METRICS[name](wrong=1)


def test_columns_are_put_together_by_family() -> None:
    found = families_of(["id", "bleu.0", "bleu.1", "own:new.0", "replies:seen.0"], "dialogue")
    assert {each.key: columns for each, columns in found.items()} == {
        "bleu": ["bleu.0", "bleu.1"], "own:new": ["own:new.0"], "replies:seen": ["replies:seen.0"],
    }  # fmt: skip
    assert ReplyBleu() in found and Own("new") in found


def test_statistics_of_an_own_family_are_floats_under_its_key(words: None) -> None:
    rows = Own("words").statistics(OUTPUTS)
    assert rows.tolist() == [[2, 1], [1, 1], [0, 1]] and rows.dtype == float
    assert Own("words").key == "own:words" and Own("words").metrics == Words.metrics
    assert own_names() == ["words"]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([[1, 1]], r"int64 of shape \(1, 2\), for 3 texts"),
        ([1, 2, 3], r"int64 of shape \(3,\)"),
        ([[1.0], [np.nan], [2.0]], r"float64 of shape \(3, 1\)"),
        ([["a"], ["b"], ["c"]], r"<U1 of shape"),
    ],
)
def test_what_is_no_statistics_is_refused(words: None, monkeypatch: pytest.MonkeyPatch, rows: Any, told: str) -> None:
    monkeypatch.setattr(Words, "statistics", lambda self, outputs: rows)
    with pytest.raises(ConfigError, match=rf"METRICS\['words'\]: its statistics are {told}.*return \(texts, k\)"):
        Own("words").statistics(OUTPUTS)


def test_an_error_of_an_own_family_is_one_line_with_its_place_and_the_columns(
    words: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Words, "statistics", lambda self, outputs: [[len(each)] for each in outputs.table["texts"]])
    told = r"METRICS\['words'\]: its statistics fail \(KeyError: 'texts', test_registry.py line \d+\); .* columns text$"
    with pytest.raises(ConfigError, match=told):
        Own("words").statistics(OUTPUTS)


def test_a_metric_that_names_a_column_beyond_the_statistics_is_refused(
    words: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Words, "metrics", (Metric("length", ratio(0, 2), signature_of("length")),))
    with pytest.raises(ConfigError, match=r"METRICS\['words'\]: length fails on the sum of 2 columns \(IndexError"):
        Own("words").statistics(OUTPUTS)


def test_an_own_family_changes_no_table_but_its_own(words: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def statistics(self: object, outputs: Any) -> list[list[int]]:
        outputs.table["text"] = ""
        return [[0, 1] for _ in outputs.table["text"]]

    monkeypatch.setattr(Words, "statistics", statistics)
    before = OUTPUTS.table.copy()
    assert Own("words").statistics(OUTPUTS).tolist() == [[0, 1]] * 3
    assert OUTPUTS.table.equals(before)


@pytest.mark.parametrize(
    "aggregate", [lambda sums: sums[0] / sums[1], lambda sums: float(sums[0] / sums[1]), lambda sums: "x"]
)
def test_an_aggregate_that_does_not_take_resamples_is_refused(
    words: None, monkeypatch: pytest.MonkeyPatch, aggregate: Any
) -> None:
    """Its interval would be that of other numbers."""
    monkeypatch.setattr(Words, "metrics", (Metric("length", aggregate, signature_of("length")),))
    with pytest.raises(ConfigError, match=r"METRICS\['words'\]: length fails on the sum of 2 columns"):
        Own("words").statistics(OUTPUTS)


@pytest.mark.parametrize("name", ["nowhere", "verse/format"])
def test_a_name_of_no_own_family_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"scoring\.own_metrics: unknown metric '{name}'; allowed: \(none defined\)"):
        Own(name).statistics(OUTPUTS)


def test_an_own_metric_cannot_take_the_name_of_one_of_the_task_s(words: None) -> None:
    class Length(Words):
        name = "length"

    require_own_names([ReplyBleu(), Own("words")])
    with pytest.raises(ConfigError, match=r"scoring\.own_metrics: an own metric has the name length, which one of the"):
        require_own_names([Length(), Own("words")])
