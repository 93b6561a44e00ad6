"""Own metrics: statistics of every text, under a prefix that no task has."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from espalier.io.errors import ConfigError
from espalier.metrics.metric import Metric, ratio, signature_of
from espalier.metrics.registry import METRICS, Family, own_or, own_statistics, require_own_names

OUTPUTS: Any = SimpleNamespace(table=pd.DataFrame({"text": ["a b", "c", ""]}))
LENGTH = (Metric("length", ratio(0, 1), signature_of("length")),)


@pytest.fixture
def words() -> Iterator[None]:
    METRICS["words"] = Family(lambda outputs: [[len(text.split()), 1] for text in outputs.table["text"]], LENGTH)
    yield
    del METRICS["words"]


def test_statistics_are_floats_by_family_and_metrics_are_found_by_it(words: None) -> None:
    found = own_statistics(OUTPUTS, {"words": 3})
    assert {name: rows.tolist() for name, rows in found.items()} == {"own:words": [[2, 1], [1, 1], [0, 1]]}
    assert found["own:words"].dtype == float
    metrics_of = own_or(lambda family: (Metric(family, ratio(0, 1), ""),))
    assert metrics_of("own:words") == LENGTH and metrics_of("words")[0].name == "words"


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([[1, 1]], r"int64 of shape \(1, 2\), for 3 texts"),
        ([1, 2, 3], r"int64 of shape \(3,\)"),
        ([[1.0], [np.nan], [2.0]], r"float64 of shape \(3, 1\)"),
        ([["a"], ["b"], ["c"]], r"<U1 of shape"),
    ],
)
def test_what_is_no_statistics_is_refused(words: None, rows: Any, told: str) -> None:
    METRICS["words"] = Family(lambda outputs: rows, LENGTH)
    with pytest.raises(ConfigError, match=rf"METRICS\['words'\]: its statistics are {told}.*return \(texts, k\)"):
        own_statistics(OUTPUTS, {"words": 1})


def test_a_name_that_is_not_registered_is_refused() -> None:
    with pytest.raises(ConfigError, match="unknown metric 'nowhere'"):
        own_statistics(OUTPUTS, {"nowhere": 1})


def test_an_own_metric_cannot_take_the_name_of_one_of_the_task_s(words: None) -> None:
    metrics_of = own_or(lambda family: (Metric(family, ratio(0, 1), ""),))
    require_own_names(["words", "own:words"], metrics_of)
    with pytest.raises(ConfigError, match=r"scoring\.own_metrics: an own metric has the name length, which one of the"):
        require_own_names(["length", "own:words"], metrics_of)
