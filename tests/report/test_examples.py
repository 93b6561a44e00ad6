from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from espalier.report.examples import Example, examples_of
from espalier.report.printed import Printed, PrintedExamples
from espalier.report.results import RunResult


def _lines(example: Example) -> list[tuple[str, str, bool]]:
    return [(line.label, line.text, line.written) for line in example.lines]


def test_runs_stand_side_by_side_under_what_they_were_given(pairs: Printed, pair_runs: list[RunResult]) -> None:
    (group,) = examples_of(pairs.examples[0], pair_runs).groups
    # Two of five, spread evenly.
    assert [example.id for example in group.examples] == ["r0", "r2"]
    assert _lines(group.examples[1]) == [
        ("src", "source 2", False),
        ("tgt", "target 2", False),
        ("Plain", "plain 2", True),
        ("Guided", "guided 2", True),
    ]
    assert (group.profile, group.nodes, group.levels) == ("nursery", (), ())


def test_named_rows_are_shown_first_where_they_exist(pairs: Printed, pair_runs: list[RunResult]) -> None:
    wanted = pairs.examples[0].model_copy(update={"first": ("r3", "r9", "r0"), "count": 3})
    (group,) = examples_of(wanted, pair_runs).groups
    assert [example.id for example in group.examples] == ["r3", "r0", "r1"]


def test_only_texts_that_all_runs_wrote_are_shown(pairs: Printed, pair_runs: list[RunResult]) -> None:
    plain, guided, _ = pair_runs
    (group,) = examples_of(pairs.examples[0], [replace(plain, rows=plain.rows[3:]), guided]).groups
    assert [example.id for example in group.examples] == ["r3", "r4"]
    assert examples_of(pairs.examples[0], [replace(plain, rows=plain.rows[:2]), replace(guided, rows=guided.rows[2:])]
    ).groups == ()  # fmt: skip


def test_a_run_that_was_not_made_is_named_and_the_other_stands_alone(
    pairs: Printed, pair_runs: list[RunResult]
) -> None:
    found = examples_of(pairs.examples[0], pair_runs[1:])
    assert found.missing == ("plain",)
    assert [line[0] for line in _lines(found.groups[0].examples[0])] == ["src", "tgt", "Guided"]
    assert examples_of(pairs.examples[0], []).missing == ("plain", "guided")


def test_of_several_samples_the_first_is_shown(pairs: Printed, pair_runs: list[RunResult]) -> None:
    plain, guided, _ = pair_runs
    again = [*guided.rows, *({**row, "text": "again"} for row in guided.rows)]
    assert examples_of(pairs.examples[0], [plain, replace(guided, rows=again)]) == examples_of(
        pairs.examples[0], [plain, guided]
    )


def test_profiles_are_shown_apart(pairs: Printed, pair_runs: list[RunResult]) -> None:
    small = [replace(run, profile="small") for run in pair_runs]
    groups = examples_of(pairs.examples[0], [*pair_runs, *small]).groups
    assert [group.profile for group in groups] == ["nursery", "small"]


def test_templates_open_a_group_each_in_the_papers_form_and_the_runs_order(
    pairs: Printed, pair_runs: list[RunResult]
) -> None:
    first, second = examples_of(pairs.examples[1], pair_runs).groups
    assert (" ".join(first.nodes), first.levels) == ("S NP PRP VP MD VP .", (1, 2, 3, 2, 3, 3, 2))
    assert (second.nodes, second.levels) == (("NP", "DT", "NN"), (1, 2, 2))
    assert _lines(second.examples[0]) == [
        ("src", "source 0", False),
        ("gen", "frequent 0", True),
    ]
    assert [len(group.examples) for group in (first, second)] == [5, 5]


def test_a_template_that_is_no_tree_is_shown_as_it_is(pairs: Printed, pair_runs: list[RunResult]) -> None:
    frequent = pair_runs[2]
    broken = replace(frequent, rows=[{**row, "template": "(S (NP"} for row in frequent.rows])
    (group,) = examples_of(pairs.examples[1], [broken]).groups
    assert (group.nodes, group.levels) == (("(S (NP",), ())


def test_lists_show_the_best_of_one_seed_and_what_is_about_one_thing_is_one_example(
    talk: Printed, talk_runs: list[RunResult]
) -> None:
    (group,) = examples_of(talk.examples[0].model_copy(update={"count": 3}), talk_runs).groups
    assert [example.id for example in group.examples] == ["p1", "p2", "p4"]
    assert [line[:2] for line in _lines(group.examples[1])] == [
        ("post", "今天 p2 吗"),
        ("Chain 1", "好 。"),
        ("Chain 2", "不 好 。"),
        ("Tree 1", "好 。"),
        ("Tree 2", ""),
    ]


@given(st.integers(0, 40), st.integers(1, 12))
def test_as_many_examples_as_asked_for_are_chosen_if_there_are_so_many(rows: int, count: int) -> None:
    wanted = PrintedExamples(id="x", title="X", caption="", given={}, written={"one": "One"}, count=count)
    run = RunResult(key="one", model="m", profile="p", rows=[{"id": str(i), "text": "t"} for i in range(rows)])
    shown = [example.id for group in examples_of(wanted, [run]).groups for example in group.examples]
    assert len(shown) == len(set(shown)) == min(rows, count)
