"""Finds the runs that are scored on test although no run of their model is scored on dev."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.records.dev_scores import without_dev_score

RUNS: dict[str, Any] = {
    "a": SimpleNamespace(model="one", split="test"),
    "a_dev": SimpleNamespace(model="one", split="dev"),
    "b": SimpleNamespace(model="two", split="test"),
    "b_beam": SimpleNamespace(model="two", split="test"),
}


@pytest.mark.parametrize(
    ("scored", "expected"),
    [
        ({"a", "a_dev"}, []),
        ({"a"}, ["a"]),
        ({"a", "a_dev", "b", "b_beam"}, ["b", "b_beam"]),
        ({"a_dev", "b"}, ["b"]),
        ({"a_dev"}, []),
    ],
)
def test_a_run_on_test_needs_a_scored_run_on_dev_of_its_own_model(scored: set[str], expected: list[str]) -> None:
    assert without_dev_score(RUNS, scored) == expected
