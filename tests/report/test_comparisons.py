"""What `pipeline.stages.report` gathers for the paper's claims and examples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from espalier.io.tables import write_table
from espalier.metrics.paraphrase import metrics_of
from espalier.report import Printed
from pipeline import layout
from pipeline.stages.report import _comparisons, _rows

PARAPHRASE = {"guided": "paraphrase", "plain": "paraphrase"}


def _segments(run: str, ids: list[str], shift: float) -> pd.DataFrame:
    """Statistics of a distance whose every row is `shift` more than its id's number."""
    metrics = metrics_of("ted")
    width = 3 * 7 + 2
    rows = np.ones((len(ids), width)) * (np.array([int(each[1:]) for each in ids], dtype=float)[:, None] + shift)
    rows[:, -1] = 1.0
    assert len(metrics) == width - 1
    table = pd.DataFrame(rows, columns=[f"ted.{place}" for place in range(width)])
    found = pd.concat([pd.DataFrame({"id": ids, "cluster": ids, "seed": 1, "sample": 0}), table], axis=1)
    write_table(layout.segments("pairs", run), found)
    return found


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_texts_are_paired_by_id_whatever_their_order(pairs: Printed) -> None:
    ids = [f"r{i}" for i in range(20)]
    _segments("guided", ids, 0.0)
    _segments("plain", ids[::-1], 2.0)
    (found,) = _comparisons(pairs, "pairs", PARAPHRASE, "nursery")
    assert (found.one, found.other, found.metric, found.profile) == ("guided", "plain", "ted_full", "nursery")
    # Row for row the difference is -2, so that no resample differs: nothing but its pairing gives an interval of 0.
    assert (found.difference, found.low, found.high) == pytest.approx((-2.0, -2.0, -2.0))
    assert (found.p < 0.01, found.segments) == (True, 20)


def test_only_ids_of_both_count_and_several_samples_of_an_id_are_one(pairs: Printed) -> None:
    _segments("guided", ["r0", "r1", "r2", "r3", "r0", "r1", "r2", "r3"], 0.0)
    _segments("plain", ["r1", "r2", "r3", "r4"], 1.0)
    (found,) = _comparisons(pairs, "pairs", PARAPHRASE, "nursery")
    assert (found.segments, found.difference) == (3, pytest.approx(-1.0))


def test_what_was_not_scored_is_not_compared(pairs: Printed) -> None:
    ids = [f"r{i}" for i in range(4)]
    _segments("guided", ids, 0.0)
    assert _comparisons(pairs, "pairs", PARAPHRASE, "nursery") == []
    _segments("plain", ["r8", "r9"], 1.0)
    assert _comparisons(pairs, "pairs", PARAPHRASE, "nursery") == []
    _segments("plain", ids, 1.0)
    assert _comparisons(pairs, "pairs", {"guided": "paraphrase"}, "nursery") == []


def test_statistics_of_another_setting_are_not_compared(pairs: Printed) -> None:
    def meteor(run: str, family: str) -> None:
        rows = pd.DataFrame(
            {"id": ["r0", "r1"], "cluster": ["r0", "r1"], "seed": 1, "sample": 0}
            | {f"{family}.0": [0.5, 0.25], f"{family}.1": 1.0}
        )
        write_table(layout.segments("pairs", run), rows)

    column = pairs.columns["bleu"].model_copy(
        update={"ours": (pairs.columns["bleu"].ours[0].model_copy(update={"metric": "meteor"}),)}
    )
    printed = pairs.model_copy(update={"columns": pairs.columns | {"bleu": column}})
    meteor("guided", "meteor")
    meteor("plain", "meteor:wordnet")
    assert _comparisons(printed, "pairs", PARAPHRASE, "nursery") == []
    meteor("plain", "meteor")
    assert [found.metric for found in _comparisons(printed, "pairs", PARAPHRASE, "nursery")] == ["meteor"]


def test_rows_come_as_text() -> None:
    write_table(Path("rows.parquet"), pd.DataFrame({"id": ["a"], "seed": [1], "text": ["a mill"], "score": [-1.5]}))
    assert _rows(Path("rows.parquet")) == [{"id": "a", "seed": "1", "text": "a mill", "score": "-1.5"}]
