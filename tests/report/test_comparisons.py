"""Paired comparisons behind a paper's orderings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from espalier.metrics.ted import Ted
from espalier.report.comparisons import RunSegments, comparisons_of, null_of
from espalier.report.printed import Printed
from espalier.report.results import Comparison


def _segments(ids: list[str], shift: float) -> RunSegments:
    """Statistics of a distance whose every row is `shift` more than its id's number."""
    width = 3 * 7 + 2
    assert len(Ted().metrics) == width - 1
    rows = np.ones((len(ids), width)) * (np.array([int(name[1:]) for name in ids], dtype=float)[:, None] + shift)
    rows[:, -1] = 1.0
    return _table(ids, {f"ted.{place}": rows[:, place] for place in range(width)})


def _of_ted(printed: Printed, runs: dict[str, RunSegments]) -> Comparison:
    meaning, syntax = comparisons_of(printed, runs, "nursery")
    assert (meaning.metric, meaning.why) == ("bleu", "a run lacks the metric")
    return syntax


def _table(ids: list[str], columns: dict[str, object]) -> RunSegments:
    table = pd.DataFrame({"id": ids, "cluster": ids, "seed": 1, "sample": 0} | columns)
    return RunSegments(table, "paraphrase")


def _compared_by(metric: str, printed: Printed) -> Printed:
    """The same paper, whose BLEU column is read by another metric."""
    column = printed.columns["bleu"]
    ours = (column.ours[0].model_copy(update={"metric": metric}),)
    return printed.model_copy(update={"columns": printed.columns | {"bleu": column.model_copy(update={"ours": ours})}})


def test_texts_are_paired_by_id_whatever_their_order(pairs: Printed) -> None:
    ids = [f"r{i}" for i in range(20)]
    runs = {"guided": _segments(ids, 0.0), "plain": _segments(ids[::-1], 2.0)}
    result = _of_ted(pairs, runs)
    assert (result.one, result.other, result.metric, result.profile) == ("guided", "plain", "ted_full", "nursery")
    # Row for row the difference is -2, so that no resample differs: nothing but its pairing gives an interval of 0.
    assert (result.difference, result.low, result.high) == pytest.approx((-2.0, -2.0, -2.0))
    assert result.p is not None and result.p < 0.01
    assert (result.seeds, result.clusters, result.segments, result.left_out) == ((1, 1), 20, 20, 0)


def test_only_ids_of_both_count_and_several_samples_of_an_id_are_one(pairs: Printed) -> None:
    runs = {
        "guided": _segments(["r0", "r1", "r2", "r3", "r0", "r1", "r2", "r3"], 0.0),
        "plain": _segments(["r1", "r2", "r3", "r4"], 1.0),
    }
    result = _of_ted(pairs, runs)
    assert (result.segments, result.left_out, result.difference) == (3, 2, pytest.approx(-1.0))


def test_a_row_without_a_model_is_the_same_under_each_seed_of_the_run_beside_it(pairs: Printed) -> None:
    ids = [f"r{i}" for i in range(20)]

    def under_three_seeds(*shifts: float) -> RunSegments:
        tables = [_segments(ids, shift).table.assign(seed=seed) for seed, shift in enumerate(shifts)]
        return RunSegments(pd.concat(tables), "paraphrase")

    row = replace(_segments(ids, 0.0), trained=False)
    against_row = _of_ted(pairs, {"guided": under_three_seeds(1.0, 2.0, 3.0), "plain": row})
    # By hand: the means differ by 2; seeds vary by 1, so that the half-width is t(2) * sqrt(1 / 3) = 4.303 * 0.577.
    assert against_row.seeds == (3, 3)
    assert (against_row.difference, against_row.low, against_row.high) == pytest.approx(
        (2.0, -0.4841, 4.4841), abs=1e-4
    )
    repeated = _of_ted(pairs, {"guided": under_three_seeds(1.0, 2.0, 3.0), "plain": under_three_seeds(0.0, 0.0, 0.0)})
    assert against_row == repeated


def test_runs_that_are_not_there_or_share_no_id_are_not_compared(pairs: Printed) -> None:
    ids = [f"r{i}" for i in range(4)]
    assert comparisons_of(pairs, {"guided": _segments(ids, 0.0)}, "nursery") == []
    apart = _of_ted(pairs, {"guided": _segments(ids, 0.0), "plain": _segments(["r8"], 1.0)})
    assert (apart.difference, apart.why, apart.segments, apart.left_out) == (None, "the runs share no id", 0, 5)


def test_statistics_of_another_setting_are_not_compared(pairs: Printed) -> None:
    printed = _compared_by("meteor", pairs)
    plain, wordnet = (
        _table(["r0", "r1"], {f"{family}.0": [0.5, 0.25], f"{family}.1": 1.0})
        for family in ("meteor", "meteor:wordnet")
    )
    refused, lacking = comparisons_of(printed, {"guided": plain, "plain": wordnet}, "nursery")
    assert (refused.difference, refused.why) == (None, "the runs' signatures differ")
    assert (lacking.metric, lacking.why) == ("ted_full", "a run lacks the metric")
    assert comparisons_of(printed, {"guided": plain, "plain": plain}, "nursery")[0].difference == 0.0


def test_metrics_of_the_whole_corpus_are_not_compared(pairs: Printed) -> None:
    columns = {f"{family}.{place}": 1.0 for family, width in (("distinct:pooled", 5),) for place in range(width)}
    run = RunSegments(_table(["r0", "r1"], dict(columns)).table, "dialogue")
    result = comparisons_of(_compared_by("distinct_1", pairs), {"guided": run, "plain": run}, "nursery")[0]
    assert (result.difference, result.why) == (None, "the metric is of the whole corpus")


def test_rows_of_other_families_do_not_count(pairs: Printed) -> None:
    """A table holds families over different rows; where a family has no statistics its cells are empty."""
    ids = [f"r{i}" for i in range(5)]
    guided, plain = _segments(ids, 0.0), _segments(ids, 2.0)
    further = pd.DataFrame({"id": ["dev"], "cluster": ["dev"], "seed": 1, "sample": 0, "perplexity.0": 2.0})
    runs = {
        key: RunSegments(pd.concat([run.table, further], ignore_index=True), "paraphrase")
        for key, run in (("guided", guided), ("plain", plain))
    }
    assert comparisons_of(pairs, runs, "nursery") == comparisons_of(
        pairs, {"guided": guided, "plain": plain}, "nursery"
    )


def test_each_seed_is_a_draw_of_its_own(pairs: Printed) -> None:
    """Seeds of a run differ by 0, 1 and 5; the cluster part is 0, so that the interval is that of Welch."""
    ids = [f"r{i}" for i in range(20)]
    tables = [_segments(ids, shift).table.assign(seed=seed) for seed, shift in enumerate((0.0, 1.0, 5.0))]
    guided = RunSegments(pd.concat(tables[::-1], ignore_index=True), "paraphrase")
    result = _of_ted(pairs, {"guided": guided, "plain": _segments(ids, 0.0)})
    assert (result.seeds, result.difference, result.low) == ((3, 1), pytest.approx(2.0), pytest.approx(2.0))
    both = _of_ted(pairs, {"guided": guided, "plain": guided})
    # s^2 = 7, so that the difference has a variance of 2 * 7 / 3, with 4 degrees of freedom: t = 2.776.
    assert (both.seeds, both.difference, both.high) == ((3, 3), 0.0, pytest.approx(2.776 * (14 / 3) ** 0.5, rel=1e-3))


def test_only_ids_that_every_seed_has_are_compared(pairs: Printed) -> None:
    tables = [_segments(ids, 0.0).table.assign(seed=seed) for seed, ids in enumerate((["r1", "r2"], ["r2", "r3"]))]
    guided = RunSegments(pd.concat(tables, ignore_index=True), "paraphrase")
    result = _of_ted(pairs, {"guided": guided, "plain": _segments(["r1", "r2", "r3"], 0.0)})
    assert (result.segments, result.left_out, result.why) == (1, 2, "all segments are one cluster")
    assert (result.difference, result.low, result.p) == (0.0, None, None)


def test_a_margin_moves_the_hypothesis_to_the_worse_side(pairs: Printed) -> None:
    ids = [f"r{i}" for i in range(20)]
    runs = {"guided": _segments(ids, 0.25), "plain": _segments(ids, 0.0)}
    claims = [claim.model_copy(update={"margin": 0.5}) for claim in pairs.orderings]
    result = _of_ted(pairs.model_copy(update={"orderings": tuple(claims)}), runs)
    # A distance that is larger by a quarter is worse, and no worse than by the margin.
    assert (result.null, result.difference, result.p) == (0.5, 0.25, pytest.approx(2 / 2001))
    assert null_of(pairs.columns["bleu"], 0.5) == -0.5 and null_of(pairs.columns["bleu"], None) == 0.0
