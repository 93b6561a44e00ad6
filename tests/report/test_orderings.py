from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from espalier.io.errors import ConfigError
from espalier.report import Comparison, Printed, RunResult, build, load_printed, render_markdown
from espalier.report.orderings import Ordering, probability
from espalier.report.tables import Reading


def _compared(metric: str, difference: float, p: float, profile: str = "nursery") -> Comparison:
    return Comparison(
        one="guided", other="plain", metric=metric, profile=profile, difference=difference, low=difference - 1,
        high=difference + 2, p=p, segments=40,
    )  # fmt: skip


def _found(pairs: Printed, runs: list[RunResult], *comparisons: Comparison) -> tuple[Ordering, ...]:
    return build(pairs, runs, comparisons=comparisons).orderings


@pytest.mark.parametrize(
    ("metric", "difference", "p", "verdict"),
    [
        ("bleu", 2.0, 0.01, "holds"),
        ("bleu", 2.0, 0.05, "undecided"),
        ("bleu", -2.0, 0.01, "reversed"),
        ("bleu", -2.0, 0.3, "undecided"),
        ("bleu", 0.0, 0.01, "undecided"),
        # Of a distance less is better.
        ("ted_full", -2.0, 0.049, "holds"),
        ("ted_full", 2.0, 0.049, "reversed"),
        ("ted_full", -2.0, 1.0, "undecided"),
    ],
)
def test_a_claim_holds_or_is_reversed_only_where_chance_is_unlikely(
    pairs: Printed, pair_runs: list[RunResult], metric: str, difference: float, p: float, verdict: str
) -> None:
    found = _found(pairs, pair_runs, _compared(metric, difference, p))
    other = 0 if metric == "ted_full" else 1
    assert (found[1 - other].verdict, found[other].verdict) == (verdict, "not computed")


def test_a_gain_is_above_0_where_the_better_run_is_better_and_its_interval_turns_with_it(
    pairs: Printed, pair_runs: list[RunResult]
) -> None:
    meaning, syntax = _found(pairs, pair_runs, _compared("bleu", 2.0, 0.01), _compared("ted_full", -2.0, 0.01))
    assert meaning.gain == Reading(2.0, 1.0, 4.0)
    assert syntax.gain == Reading(2.0, -0.0, 3.0)


def test_both_runs_numbers_stand_beside_the_papers(pairs: Printed, pair_runs: list[RunResult]) -> None:
    _, syntax = _found(pairs, pair_runs)
    assert [reading.value for reading in syntax.printed] == [6.5, 7.5]
    assert [reading.value for reading in syntax.ours] == [6.0, 8.0]
    assert (syntax.p, syntax.segments, syntax.gain.value, syntax.profile) == (None, 0, None, "nursery")


def test_without_its_runs_or_its_comparison_a_claim_is_not_computed(pairs: Printed, pair_runs: list[RunResult]) -> None:
    assert [(each.verdict, each.profile) for each in _found(pairs, [])] == [("not computed", "")] * 2
    one = _found(pairs, pair_runs[:1])
    assert [(each.verdict, each.ours[0].why) for each in one] == [("not computed", "not run")] * 2


def test_a_comparison_of_another_profile_decides_nothing(pairs: Printed, pair_runs: list[RunResult]) -> None:
    assert _found(pairs, pair_runs, _compared("bleu", 2.0, 0.01, "small"))[0].verdict == "not computed"


def test_markdown_lists_the_claims_in_a_table_of_its_own(pairs: Printed, pair_runs: list[RunResult]) -> None:
    text = render_markdown(build(pairs, pair_runs, comparisons=[_compared("bleu", 2.0, 0.0004)]))
    row = next(line for line in text.splitlines() if "serves the meaning" in line)
    assert row == (
        "| Guiding serves the meaning. guided : plain (nursery) | BLEU | 30.50 : 20.50 | 22.00 : 20.00 "
        "| 2.00 (1.00–4.00) | < 0.001 | **holds** |"
    )


def test_a_probability_is_never_written_as_0() -> None:
    assert [probability(p) for p in (None, 0.0, 0.0009, 0.001, 0.05, 1.0)] == [
        "—", "< 0.001", "< 0.001", "0.001", "0.050", "1.000",
    ]  # fmt: skip


@pytest.mark.parametrize("column", ["bluu", "human"])
def test_a_claim_about_a_column_that_cannot_decide_it_is_refused(
    write: Callable[[str], Path], pairs_text: str, column: str
) -> None:
    with pytest.raises(ConfigError, match=rf"orderings\.0\.column: .*'{column}'"):
        load_printed(write(pairs_text.replace("worse: plain, column: bleu", f"worse: plain, column: {column}", 1)))
