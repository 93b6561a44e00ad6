from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from espalier.io.errors import ConfigError
from espalier.report.build import Report, build
from espalier.report.markdown import render_markdown
from espalier.report.numbers_files import orderings_from, orderings_json
from espalier.report.orderings import Ordering
from espalier.report.printed import Printed, load_printed
from espalier.report.results import Comparison, RunResult
from espalier.report.tables import Reading
from espalier.report.verdicts import probability


def _compared(metric: str, difference: float | None, p: float | None, **changes: Any) -> Comparison:
    known: dict[str, Any] = {} if difference is None else {"low": difference - 1, "high": difference + 2}
    values = {"profile": "nursery", "seeds": (3, 3), "clusters": 32, "segments": 40, **known, **changes}
    return Comparison(one="guided", other="plain", metric=metric, difference=difference, p=p, **values)


def _found(pairs: Printed, runs: list[RunResult], *comparisons: Comparison) -> tuple[Ordering, ...]:
    return build(pairs, runs, comparisons=comparisons).orderings


def _both(write: Callable[[str], Path], text: str) -> Printed:
    """The paper of pairs, whose first claim is about both columns."""
    return load_printed(write(text.replace("worse: plain, column: bleu", "worse: plain, column: [bleu, ted]", 1)))


@pytest.mark.parametrize(
    ("metric", "difference", "p", "verdict"),
    [
        ("bleu", 2.0, 0.01, "holds"),
        ("bleu", 2.0, 0.05, "undecided"),
        ("bleu", -2.0, 0.01, "reversed"),
        ("bleu", -2.0, 0.3, "undecided"),
        # Of a distance less is better.
        ("ted_full", -2.0, 0.049, "holds"),
        ("ted_full", 2.0, 0.049, "reversed"),
        ("ted_full", -2.0, 1.0, "undecided"),
        ("ted_full", -2.0, None, "not computed"),
    ],
)
def test_a_claim_holds_or_is_reversed_only_where_chance_is_unlikely(
    pairs: Printed, pair_runs: list[RunResult], metric: str, difference: float, p: float | None, verdict: str
) -> None:
    found = _found(pairs, pair_runs, _compared(metric, difference, p))
    other = 0 if metric == "ted_full" else 1
    assert (found[1 - other].verdict, found[other].verdict) == (verdict, "not computed")


def test_p_is_corrected_for_all_claims_of_a_profile(pairs: Printed, pair_runs: list[RunResult]) -> None:
    elsewhere = [replace(run, profile="small") for run in pair_runs]
    found = _found(
        pairs,
        pair_runs + elsewhere,
        _compared("bleu", 2.0, 0.03),
        _compared("ted_full", -2.0, 0.02),
        _compared("bleu", 2.0, 0.03, profile="small"),
    )
    # In the nursery .02 * 2 = .04, and .03 * 1, but not below .04; alone in its profile .03 stays.
    assert [(one.profile, one.p, one.adjusted, one.verdict) for one in found] == [
        ("nursery", 0.03, 0.04, "holds"), ("small", 0.03, 0.03, "holds"),
        ("nursery", 0.02, 0.04, "holds"), ("small", None, None, "not computed"),
    ]  # fmt: skip
    assert _found(pairs, pair_runs, _compared("bleu", 2.0, 0.03), _compared("ted_full", -2.0, 0.2))[0].adjusted == 0.06


@pytest.mark.parametrize(("bleu", "ted", "p", "verdict"), [
    ((2.0, 0.01), (-2.0, 0.02), 0.02, "holds"),
    ((2.0, 0.01), (-2.0, 0.2), 0.2, "undecided"),
    ((-2.0, 0.01), (2.0, 0.02), 0.02, "reversed"),
    # Better by one measure and worse by the other is neither.
    ((2.0, 0.01), (2.0, 0.01), 1.0, "undecided"),
    ((2.0, 0.01), (None, None), None, "not computed"),
])  # fmt: skip
def test_a_claim_about_several_measures_needs_all_of_them(
    write: Callable[[str], Path], pairs_text: str, pair_runs: list[RunResult], bleu: Any, ted: Any, p: Any, verdict: str
) -> None:
    found = _found(_both(write, pairs_text), pair_runs, _compared("bleu", *bleu), _compared("ted_full", *ted))[0]
    assert (found.p, found.verdict) == (p, verdict)
    assert [measure.column.heading for measure in found.measures] == ["BLEU", "TED f"]


@pytest.mark.parametrize(("difference", "p", "verdict"), [
    # Of a distance, with a margin of 0.5: worse by 0.2 is no loss, by 0.9 it is one.
    (0.2, 0.01, "holds"), (-1.0, 0.01, "holds"), (0.2, 0.2, "undecided"), (0.9, 0.01, "reversed"),
])  # fmt: skip
def test_a_claim_of_no_loss_allows_its_margin(
    write: Callable[[str], Path], pairs_text: str, pair_runs: list[RunResult], difference: float, p: float, verdict: str
) -> None:
    printed = load_printed(write(pairs_text.replace("column: ted,", "column: ted, margin: 0.5,", 1)))
    found = _found(printed, pair_runs, _compared("ted_full", difference, p, null=0.5))[1]
    assert (found.verdict, found.margin) == (verdict, 0.5)
    # The p of another hypothesis decides nothing.
    assert _found(printed, pair_runs, _compared("ted_full", difference, p))[1].verdict == "not computed"


@pytest.mark.parametrize("seeds", [(1, 1), (2, 3), (3, 1)])
def test_with_fewer_than_three_seeds_a_claim_neither_holds_nor_fails(
    pairs: Printed, pair_runs: list[RunResult], seeds: tuple[int, int]
) -> None:
    for difference in (2.0, -2.0):
        found = _found(pairs, pair_runs, _compared("bleu", difference, 0.001, seeds=seeds))[0]
        assert (found.verdict, found.p, found.measures[0].gain.value) == ("too few seeds", 0.001, difference)
        assert "excluded" not in found.evidence


def test_a_claim_that_a_trivial_row_of_its_dataset_beats_cannot_be_interpreted(
    pairs: Printed, pair_runs: list[RunResult]
) -> None:
    def row(name: str, bleu: float, **changes: Any) -> RunResult:
        made = RunResult(
            key=f"d/{name}", model="", profile="nursery", dataset="d", ids=frozenset("ab"), row=name,
            trivial=name != "human", metrics={"scores": {"bleu": bleu}, "signatures": {"bleu": "by:x"}},
        )  # fmt: skip
        return replace(made, **changes)

    runs = [
        replace(run, dataset="d", ids=frozenset("ab"), metrics={**run.metrics, "signatures": {"bleu": "by:x"}})
        for run in pair_runs
    ]
    compared = _compared("bleu", 2.0, 0.001)

    def verdict(*rows: RunResult) -> tuple[str, str]:
        found = _found(pairs, [*runs, *rows], compared)[0]
        return found.verdict, found.measures[0].beaten_by

    # Of the two runs the better has 22.
    assert verdict(row("copy", 23.0)) == ("not interpretable", "d/copy")
    assert verdict(row("copy", 22.0)) == ("not interpretable", "d/copy")
    assert verdict(row("copy", 21.9)) == ("holds", "")
    # People are not trivial; another corpus, other texts of it and another protocol are other tables.
    others = [{"dataset": "e"}, {"ids": frozenset("a")}, {"given": ("bleu",)}, {"profile": "small"}]
    assert verdict(row("human", 99.0), *(row("copy", 23.0, **other) for other in others)) == ("holds", "")
    other = {"scores": {"bleu": 23.0}, "signatures": {"bleu": "by:y"}}
    assert verdict(row("copy", 23.0, metrics=other)) == ("holds", "")
    # Datasets of the same texts have rows of their own, and a row counts only if it is above its own run in both.
    plain, guided, *_ = runs
    apart = [replace(guided, dataset="e"), plain]
    for key, of, other, known in (
        ("d/copy", 23.0, 23.0, ("not interpretable", "e/copy")),
        ("d/copy", 21.0, 21.0, ("holds", "")),
        ("d/other", 23.0, 23.0, ("holds", "")),
    ):
        rows = [row("copy", of, dataset="e", key="e/copy"), row("copy", other, key=key)]
        found = _found(pairs, [*apart, *rows], compared)[0]
        assert (found.verdict, found.measures[0].beaten_by) == known
    # What is given more structures than either run is no measure of them.
    assert verdict(row("ngram", 23.0, structures=frozenset({"pos"}))) == ("holds", "")
    one, *more = runs
    runs = [replace(one, structures=frozenset({"pos"})), *more]
    assert verdict(row("ngram", 23.0, structures=frozenset({"pos"}))) == ("not interpretable", "d/ngram")
    assert verdict(row("ngram", 23.0, structures=frozenset({"pos", "pc"}))) == ("holds", "")
    runs = [replace(run, structures=frozenset({name})) for run, name in zip(runs, ("pos", "pc", "tone"), strict=True)]
    assert verdict(row("ngram", 23.0, structures=frozenset({"pos", "pc"}))) == ("holds", "")  # neither is given both
    assert "d/copy is at least as good as both" in _found(pairs, [*runs, row("copy", 23.0)], compared)[0].evidence


def test_a_printed_effect_outside_of_our_interval_is_named(pairs: Printed, pair_runs: list[RunResult]) -> None:
    # Printed are 30.5 and 20.5, a gain of 10; of the distance 6.5 and 7.5, a gain of 1 between 0 and 3.
    meaning, syntax = _found(pairs, pair_runs, _compared("bleu", 2.0, 0.01), _compared("ted_full", -2.0, 0.01))
    assert (meaning.measures[0].printed_gain, syntax.measures[0].printed_gain) == (10.0, 1.0)
    assert meaning.evidence == "3 seeds, 40 texts in 32 clusters; printed effect excluded"
    assert syntax.evidence == "3 seeds, 40 texts in 32 clusters"


def test_a_printed_effect_is_compared_by_the_metric_that_is_computed_like_it_or_not_at_all(
    write: Callable[[str], Path], pairs_text: str, pair_runs: list[RunResult]
) -> None:
    column = "better: higher, ours: [{metric: bleu}]"
    text = pairs_text.replace(column, "better: higher, printed_as: own, ours: [{metric: bleu}, {metric: own, name: o}]")
    printed, bleu = load_printed(write(text)), _compared("bleu", 2.0, 0.01)
    # Printed is a gain of 10; ours is between 1 and 4 of BLEU, and between 8 and 11 of the other.
    for others, excluded in ([], False), ([_compared("own", 9.0, 0.01)], False), ([_compared("own", 2.0, 0.01)], True):
        found = _found(printed, pair_runs, bleu, *others)[0]
        assert ("printed effect" in found.evidence, found.verdict) == (excluded, "holds")
        assert found.measures[0].gain == Reading(2.0, 1.0, 4.0)


def test_a_metric_of_printed_effects_that_a_column_does_not_show_is_refused(
    write: Callable[[str], Path], pairs_text: str
) -> None:
    text = pairs_text.replace("better: higher, ours: [{metric: bleu}]", "printed_as: bleu, ours: [{metric: bleu}]")
    with pytest.raises(ConfigError, match="printed_as bleu is not among the other metrics of ours"):
        load_printed(write(text))


def test_the_evidence_names_what_is_odd(pairs: Printed, pair_runs: list[RunResult]) -> None:
    odd = _compared("ted_full", -2.0, None, seeds=(3, 1), clusters=1, left_out=5, why="all segments are one cluster")
    trained = [
        replace(run, metrics={**run.metrics, "settings": {"steps": steps}})
        for run, steps in zip(pair_runs, ({"1": 500}, {"1": 1000, "2": 1250}, {}), strict=True)
    ]
    assert _found(pairs, trained, odd)[1].evidence == (
        "3 and 1 seeds, 40 texts in 1 cluster, 5 not of both; all segments are one cluster; "
        "trained for 1,000 to 1,250 and 500 steps"
    )
    untold = [replace(run, metrics={**run.metrics, "settings": {}}) if run.key == "plain" else run for run in trained]
    assert "trained" not in _found(pairs, untold, odd)[1].evidence
    apart = Comparison(one="guided", other="plain", metric="bleu", profile="nursery", why="the runs share no id")
    assert _found(pairs, pair_runs, apart)[0].evidence == "the runs share no id"


def test_a_gain_is_above_0_where_the_better_run_is_better_and_its_interval_turns_with_it(
    pairs: Printed, pair_runs: list[RunResult]
) -> None:
    meaning, syntax = _found(pairs, pair_runs, _compared("bleu", 2.0, 0.01), _compared("ted_full", -2.0, 0.01))
    assert meaning.measures[0].gain == Reading(2.0, 1.0, 4.0)
    assert syntax.measures[0].gain == Reading(2.0, 0.0, 3.0)


def test_both_runs_numbers_stand_beside_the_papers(pairs: Printed, pair_runs: list[RunResult]) -> None:
    _, syntax = _found(pairs, pair_runs)
    (measure,) = syntax.measures
    assert [reading.value for reading in measure.printed] == [6.5, 7.5]
    assert [reading.value for reading in measure.ours] == [6.0, 8.0]
    assert (syntax.p, syntax.segments, measure.gain.value, syntax.profile) == (None, 0, None, "nursery")


def test_without_its_runs_or_its_comparison_a_claim_is_not_computed(pairs: Printed, pair_runs: list[RunResult]) -> None:
    none = _found(pairs, [])
    assert [(each.verdict, each.profile, each.evidence) for each in none] == [
        ("not computed", "", "not run: guided, plain")
    ] * 2
    one = _found(pairs, pair_runs[:1])
    assert [(each.verdict, each.measures[0].ours[0].why, each.evidence) for each in one] == [
        ("not computed", "not run", "not run: guided")
    ] * 2


def test_a_comparison_of_another_profile_decides_nothing(pairs: Printed, pair_runs: list[RunResult]) -> None:
    assert _found(pairs, pair_runs, _compared("bleu", 2.0, 0.01, profile="small"))[0].verdict == "not computed"


def test_markdown_lists_the_claims_in_a_table_of_its_own(
    write: Callable[[str], Path], pairs_text: str, pair_runs: list[RunResult]
) -> None:
    compared = [_compared("bleu", 2.0, 0.0004), _compared("ted_full", -2.0, 0.01)]
    text = render_markdown(build(_both(write, pairs_text), pair_runs, comparisons=compared))
    rows = text[text.index("**Orderings.**") :].splitlines()[4:]
    assert rows[:2] == [
        "| Guiding serves the meaning. guided : plain (nursery) | BLEU |  | *22.00 : 20.00* "
        "| 2.00 (1.00–4.00) | < 0.001 | 0.020 | holds "
        "| 3 seeds, 40 texts in 32 clusters; printed effect of BLEU excluded |",
        "|  | TED f |  | *6.00 : 8.00* | 2.00 (0.00–3.00) | 0.010 |  |  |  |",
    ]


def test_the_json_has_every_number_behind_a_verdict(pairs: Printed, pair_runs: list[RunResult]) -> None:
    report = build(pairs, pair_runs, comparisons=[_compared("bleu", 2.0, 1 / 3000, left_out=2)])
    content = orderings_json(report)
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert (content["paper"], content["seeds_needed"], content["correction"]) == ("pairs", 3, "holm")
    meaning, syntax = content["orderings"]
    measure = {
        "metric": "bleu", "direction": "higher", "printed": [30.5, 20.5], "printed_effect": 10.0,
        "printed_effect_excluded": True, "ours": [22.0, 20.0], "effect": 2.0, "interval": [1.0, 4.0],
        "p": 0.000333333, "better_than_both": "",
    }  # fmt: skip
    assert meaning == {
        "claim": "Guiding serves the meaning.", "better": "guided", "worse": "plain", "profile": "nursery",
        "margin": None, "verdict": "holds", "why": "", "p": 0.000333333, "p_holm": 0.000333333, "seeds": [3, 3],
        "steps": ["", ""], "clusters": 32, "segments": 40, "segments_left_out": 2, "measures": [measure],
    }  # fmt: skip
    assert (syntax["verdict"], syntax["p"], syntax["measures"][0]["interval"]) == ("not computed", None, None)


def _without_reasons(report: Report) -> list[dict[str, Any]]:
    return [{**one, "why": ""} for one in orderings_json(report)["orderings"]]


def _scores(runs: list[RunResult]) -> Callable[[str, str], float | None]:
    return lambda key, metric: next((run.scores.get(metric) for run in runs if run.key == key), None)


def test_claims_about_a_run_that_is_not_here_are_those_of_the_last_report_corrected_anew(
    write: Callable[[str], Path], pairs_text: str, pair_runs: list[RunResult]
) -> None:
    ours = "ours: [{metric: bleu}]"
    pairs = load_printed(write(pairs_text.replace(ours, f"{ours[:-1]}, {{metric: rouge_l}}], printed_as: rouge_l", 1)))
    compared = [
        _compared("bleu", 2.0, 0.03, left_out=2),
        _compared("rouge_l", 9.5, 0.5),
        _compared("ted_full", -2, 0.01),
    ]
    last = build(pairs, pair_runs, comparisons=compared)
    written: Any = orderings_json(last)
    earlier = orderings_from(json.loads(json.dumps(written)), pairs, _scores(pair_runs))
    assert [(one.p, one.adjusted) for one in last.orderings] == [(0.03, 0.03), (0.01, 0.02)]
    again = build(pairs, pair_runs[:1], earlier=earlier)
    assert [one.why for one in again.orderings] == ["compared by an earlier report"] * 2
    assert _without_reasons(again) == _without_reasons(last)
    assert [one.adjusted for one in build(pairs, pair_runs[:1], earlier=earlier[1:]).orderings] == [None, 0.01]
    assert _without_reasons(build(pairs, [], earlier=earlier)) == _without_reasons(last)
    # Of a file that compared with the printed values by another metric, this comparison alone is left out.
    plain: Any = orderings_json(build(load_printed(write(pairs_text)), pair_runs, comparisons=compared))
    (meaning, _) = orderings_from(plain, pairs, _scores(pair_runs))
    assert (meaning.measures[0].as_printed, meaning.p) == (Reading(None), 0.03)


def test_a_claim_that_was_not_computed_shows_the_scores_of_a_run_that_is_elsewhere(
    pairs: Printed, pair_runs: list[RunResult]
) -> None:
    (guided,) = (run for run in pair_runs if run.key == "guided")
    others = [run for run in pair_runs if run is not guided]
    made = build(
        pairs, others, elsewhere=[RunResult(key="guided", model="", profile="nursery", metrics=guided.metrics)]
    )
    for one, whole in zip(made.orderings, build(pairs, pair_runs).orderings, strict=True):
        assert (one.profile, one.steps, one.why) == (whole.profile, whole.steps, "texts not here: guided")
        assert [each.ours for each in one.measures] == [each.ours for each in whole.measures]
    assert {one.key for one in made.runs} == {run.key for run in others}
    alone = [RunResult(key="guided", model="", profile="nursery", metrics=guided.metrics)]
    assert [one.why for one in build(pairs, [], elsewhere=alone).orderings] == ["not run: plain"] * 2


def test_a_row_that_ties_now_makes_a_claim_of_the_last_report_not_interpretable(
    pairs: Printed, pair_runs: list[RunResult]
) -> None:
    runs = [replace(run, dataset="d", ids=frozenset("ab")) for run in pair_runs]
    compared = [_compared("bleu", 2.0, 0.03), _compared("ted_full", -2.0, 0.01)]
    written: Any = orderings_json(build(pairs, runs, comparisons=compared))
    earlier = orderings_from(written, pairs, _scores(runs))
    copy = RunResult(
        key="d/copy", model="", profile="nursery", dataset="d", ids=frozenset("ab"), row="copy", trivial=True,
        metrics={"scores": {"bleu": 22.0}},
    )  # fmt: skip
    assert [one.verdict for one in build(pairs, [], earlier=earlier, elsewhere=runs).orderings] == ["holds"] * 2
    meaning, syntax = build(pairs, [], earlier=earlier, elsewhere=[*runs, copy]).orderings
    assert (meaning.verdict, meaning.measures[0].beaten_by, meaning.p) == ("not interpretable", "d/copy", 0.03)
    assert syntax.verdict == "holds"


def test_claims_about_runs_that_are_here_are_never_those_of_the_last_report(
    pairs: Printed, pair_runs: list[RunResult]
) -> None:
    last = build(pairs, pair_runs, comparisons=[_compared("bleu", 2.0, 0.03), _compared("ted_full", -2.0, 0.01)])
    written: Any = orderings_json(last)
    earlier = orderings_from(written, pairs, _scores(pair_runs))
    now = build(pairs, pair_runs, comparisons=[_compared("bleu", -2.0, 0.01)], earlier=earlier)
    assert [one.verdict for one in now.orderings] == ["reversed", "not computed"]


def test_an_ordering_of_other_scores_or_settings_or_of_no_claim_or_without_p_is_not_read_back(
    pairs: Printed, pair_runs: list[RunResult]
) -> None:
    written: Any = orderings_json(build(pairs, pair_runs, comparisons=[_compared("bleu", 2.0, 0.03)]))
    assert [one.claim for one in orderings_from(written, pairs, _scores(pair_runs))] == ["Guiding serves the meaning."]
    scored_again = [replace(pair_runs[0], metrics={"scores": {"bleu": 22.1, "ted_full": 6.0}}), *pair_runs[1:]]
    assert orderings_from(written, pairs, _scores(scored_again)) == []
    assert orderings_from(written, pairs, _scores(pair_runs[:1])) == []
    assert orderings_from(written, pairs.model_copy(update={"orderings": ()}), _scores(pair_runs)) == []
    assert orderings_from({**written, "resamples": 100}, pairs, _scores(pair_runs)) == []
    turned = {name: column.model_copy(update={"better": "lower"}) for name, column in pairs.columns.items()}
    assert orderings_from(written, pairs.model_copy(update={"columns": turned}), _scores(pair_runs)) == []


def test_a_probability_is_never_written_as_0() -> None:
    assert [probability(p) for p in (None, 0.0, 0.0009, 0.001, 0.05, 1.0)] == [
        "—", "< 0.001", "< 0.001", "0.001", "0.050", "1.000",
    ]  # fmt: skip


@pytest.mark.parametrize("column", ["bluu", "human", "[bleu, human]"])
def test_a_claim_about_a_column_that_cannot_decide_it_is_refused(
    write: Callable[[str], Path], pairs_text: str, column: str
) -> None:
    with pytest.raises(ConfigError, match=r"orderings\.0\.column: .*'(bluu|human)'"):
        load_printed(write(pairs_text.replace("worse: plain, column: bleu", f"worse: plain, column: {column}", 1)))


@pytest.mark.parametrize("margin", ["bleu, margin: 0", "bleu, margin: -1", "[bleu, ted], margin: 1"])
def test_a_margin_is_above_0_and_of_one_column(write: Callable[[str], Path], pairs_text: str, margin: str) -> None:
    with pytest.raises(ConfigError, match=r"orderings\.0.*(margin|greater than 0)"):
        load_printed(write(pairs_text.replace("worse: plain, column: bleu", f"worse: plain, column: {margin}", 1)))
