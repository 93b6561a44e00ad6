"""What `benchmarks/published_texts.py` measured of published poems and texts, and docs/songnet.md and metrics.md show.

The texts lie in the mirror that `ESPALIER_MIRROR` names, and are no part of this project. Without it the scores are
held against the sums of their statistics.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from espalier.io.files import read_json

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from published_texts import FILES, FOLDER, TASKS, measured
from rows_without_model import Sums, scores_of


@pytest.mark.parametrize("name", FILES)
def test_the_scores_in_a_file_are_those_of_its_sums(name: str) -> None:
    kept = read_json(FOLDER / f"{name}.json", dict)
    found = scores_of(kept["sums"], TASKS[name.partition("/")[0]])
    assert {*kept["scores"]} == {*found}
    assert kept["scores"] == pytest.approx(found, abs=1e-5)


@pytest.fixture(scope="module")
def sums() -> dict[str, Sums]:
    return dict(measured(Path(os.environ["ESPALIER_MIRROR"])))


@pytest.mark.skipif(not os.environ.get("ESPALIER_MIRROR"), reason="the published texts are not at hand")
@pytest.mark.parametrize("name", FILES)
def test_the_published_texts_have_these_sums(sums: dict[str, Sums], name: str) -> None:
    kept = read_json(FOLDER / f"{name}.json", dict)["sums"]
    assert {*sums} == {*FILES} and {*sums[name]} == {*kept}
    for family, values in kept.items():
        assert sums[name][family] == pytest.approx(values, rel=1e-6, abs=1e-5), family
