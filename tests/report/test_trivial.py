"""Rows without a trained model: under which runs they stand, and which values they mark."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from espalier.report.build import Report, build
from espalier.report.html import render_html
from espalier.report.markdown import render_markdown
from espalier.report.printed import Printed
from espalier.report.results import RunResult
from espalier.report.tables import Line
from espalier.report.trivial import is_below

IDS = frozenset({"p1", "p2"})


def a_run(key: str, bleu: float | None, ted: float | None, **changes: Any) -> RunResult:
    metrics = {"scores": {"bleu": bleu, "ted_full": ted}, "undefined": {"bleu": "none", "ted_full": "none"}}
    return RunResult(**{"key": key, "model": key, "profile": "nursery", "dataset": "en", "ids": IDS, "metrics": metrics,
                        **changes})  # fmt: skip


def a_row(name: str, bleu: float | None, ted: float | None, **changes: Any) -> RunResult:
    row = {"row": name, "model": "", "trivial": name != "human", "settings": {"protocol": "baseline"}, **changes}
    return a_run(f"en/{name}", bleu, ted, **row)


ROWS = [a_row("chance", 1.0, 9.0), a_row("copy", 20.0, 12.0), a_row("human", 100.0, 0.0)]


def lines_of(printed: Printed, *runs: RunResult, table: int = 0) -> list[Line]:
    return list(build(printed, runs).tables[table].lines)


def below(printed: Printed, *runs: RunResult) -> dict[str, list[bool]]:
    """By run and row: whether its BLEU and its TED are marked."""
    return {
        line.label: [cell.below for cell in line.cells[:2]]
        for line in lines_of(printed, *runs)
        if line.kind in ("run", "row")
    }


def test_the_rows_stand_under_a_rule_on_every_table_of_the_runs(pairs: Printed) -> None:
    report = build(pairs, [a_run("plain", 19.0, 10.0), a_run("guided", 21.0, 8.5), *ROWS])
    assert [table.id for table in report.tables] == ["table-1", "ours"]  # they are no further runs
    for table in report.tables:
        rule, *rows = table.lines[-4:]
        assert (rule.kind, rule.note, rule.tags) == ("rule", "en, 2 records", ("nursery",))
        assert [(row.kind, row.label) for row in rows] == [
            ("row", "en/chance"), ("row", "en/copy"), ("row", "en/human")
        ]  # fmt: skip
        assert table.legend.startswith("Below the rule: rows without a trained model")


def test_a_row_that_is_given_more_structures_than_a_run_does_not_mark_it(pairs: Printed) -> None:
    pos, both = frozenset({"pos"}), frozenset({"pc", "pos"})
    rows = [a_row("chance", 1.0, 9.0), a_row("ngram_pos", 20.0, 5.0, structures=pos)]
    for given, marked in ((frozenset[str](), False), (pos, True), (both, True)):
        assert below(pairs, a_run("plain", 19.0, 8.0, structures=given), *rows)["plain"] == [marked, marked]


def test_a_row_that_another_search_wrote_does_not_mark_a_run(pairs: Printed) -> None:
    rows = [a_row("chance", 1.0, 9.0), a_row("ngram", 20.0, 5.0, method="beam")]
    for method, marked in (("top_k", False), ("beam", True)):
        assert below(pairs, a_run("plain", 19.0, 8.0, method=method), *rows)["plain"] == [marked, marked]
    sampled = a_row("ngram", 20.0, 5.0)  # of the default method, which no row names
    assert below(pairs, a_run("plain", 19.0, 8.0, method="beam"), sampled)["plain"] == [True, True]


def test_printed_values_worse_than_copying_the_papers_own_sources_are_marked(pairs: Printed) -> None:
    own = pairs.model_copy(
        update={"tables": (pairs.tables[0].model_copy(update={"printed_on": "en"}), pairs.tables[1])}
    )
    rows = [a_row("chance", 40.0, 1.0), a_row("copy", 25.0, 7.0)]
    table = build(own, [a_run("plain", 50.0, 0.5), *rows]).tables[0]
    assert [[cell.below for cell in line.cells] for line in table.lines if line.kind == "paper"] == [
        [True, True, False],  # 20.5 and 7.5
        [False, False, False],  # 30.5 and 6.5
    ]
    assert table.legend.endswith("Of printed values ▾ marks those that are worse than copying the source.")
    assert "worse than the best" not in table.legend
    for printed, results in ((pairs, rows), (own, rows[:1])):
        assert not any(cell.below for line in lines_of(printed, *results) for cell in line.cells)


def test_a_value_worse_than_the_best_trivial_row_is_marked(pairs: Printed) -> None:
    marked = below(pairs, a_run("plain", 19.9, 9.0), a_run("guided", 20.0, 9.1), *ROWS)
    assert marked == {
        "plain": [True, False], "guided": [False, True], "en/chance": [False] * 2, "en/copy": [False] * 2,
        "en/human": [False] * 2,
    }  # fmt: skip


def test_references_draw_no_line(pairs: Printed) -> None:
    assert below(pairs, a_run("plain", 21.0, 8.0), *ROWS)["plain"] == [False, False]


def test_a_value_that_follows_from_how_a_row_is_made_draws_no_line(pairs: Printed) -> None:
    made = a_row("exemplar", 2.0, 1.0, given=frozenset({"ted_full"}))
    assert below(pairs, a_run("plain", 21.0, 8.0), *ROWS, made)["plain"] == [False, False]
    assert below(pairs, a_run("plain", 1.5, 8.0), ROWS[0], made)["plain"] == [True, False]


def test_neither_does_such_a_value_over_a_part_of_the_texts() -> None:
    made = a_row("chance", 2.0, 1.0, given=frozenset({"ted"}))
    run = a_run("plain", 1.0, 8.0)
    assert not is_below("ted_full", "lower", run, [made])
    assert is_below("ted_full", "lower", run, [replace(made, given=frozenset({"ted_f"}))])
    assert is_below("bleu", "higher", run, [made])


def test_a_value_computed_in_another_way_draws_no_line(pairs: Printed) -> None:
    def signed(result: RunResult, signature: str) -> dict[str, Any]:
        return {**result.metrics, "signatures": {"bleu": signature}}

    run, row = a_run("plain", 19.0, 8.0), ROWS[1]
    for ours, theirs, marked in (
        ("bleu|size:5|n:2|bs:1000", "bleu|size:5|n:4", True),
        ("bleu|size:5|n:2", "bleu|size:4|n:2", False),
    ):
        one = a_run("plain", 19.0, 8.0, metrics=signed(run, ours))
        other = a_row("copy", 20.0, 12.0, metrics=signed(row, theirs))
        assert below(pairs, one, other)["plain"] == [marked, False]


def test_a_value_that_is_undefined_neither_draws_nor_is_marked(pairs: Printed) -> None:
    rows = [a_row("copy", None, float("nan")), a_row("ngram", 5.0, None)]
    assert below(pairs, a_run("plain", None, 8.0), a_run("guided", 4.0, None), *rows) == {
        "plain": [False, False], "guided": [True, False], "en/copy": [False] * 2, "en/ngram": [False] * 2,
    }  # fmt: skip


def test_a_column_that_does_not_say_what_is_better_is_not_marked(talk_text: str, write: Any) -> None:
    from espalier.report.printed import load_printed

    printed = load_printed(write(talk_text.replace("better: higher, ", "")))
    metrics = {"scores": {"bleu": 1.0}}
    lines = lines_of(printed, a_run("tree", 1.0, None, metrics=metrics), a_row("copy", 2.0, None))
    assert [cell.below for line in lines for cell in line.cells] == [False] * 2 * len(lines)


def test_other_readings_of_a_column_are_marked_too(toy: Printed) -> None:
    scores = {"ppl_released": 20.0, "format_f1": 90.0, "format_released_f1": 91.0}
    run = a_run("toy_free", 0, 0, metrics={"scores": scores})
    row = a_row("ngram", 0, 0, metrics={"scores": {**scores, "format_released_f1": 92.0}})
    also = [line for line in lines_of(toy, run, row) if line.kind == "also"]
    assert [(line.cells[1].value, line.cells[1].below) for line in also] == [(91.0, True), (92.0, False)]


@pytest.mark.parametrize("change", [{"profile": "small"}, {"dataset": "zh"}, {"ids": frozenset({"p1"})}])
def test_rows_of_other_texts_do_not_count_and_the_table_says_so(pairs: Printed, change: dict[str, Any]) -> None:
    report = build(pairs, [a_run("plain", 1.0, 99.0, **change), a_run("guided", 1.5, 8.0), *ROWS])
    (line,) = [line for line in report.tables[0].lines if line.label == "plain"]
    assert [cell.below for cell in line.cells] == [False] * 3
    assert report.tables[0].legend.endswith("Without such rows, for none is scored on the same records: plain.")
    rule = next(line for line in report.tables[0].lines if line.kind == "rule")
    assert rule.note == "en, 2 records: those of guided"


def test_runs_on_different_texts_have_rows_of_their_own(pairs: Printed) -> None:
    few = [replace(a_row("copy", 3.0, 12.0, ids=frozenset({"p1"})), key="en/copy, 1 records")]
    lines = lines_of(pairs, a_run("plain", 19.0, 8.0), a_run("guided", 19.0, 8.0, ids=frozenset({"p1"})), *ROWS, *few)
    assert [(line.kind, line.label) for line in lines[4:]] == [
        ("rule", "Without a trained model"), ("row", "en/chance"), ("row", "en/copy"), ("row", "en/human"),
        ("rule", "Without a trained model"), ("row", "en/copy, 1 records"),
    ]  # fmt: skip
    assert {line.label: line.cells[0].below for line in lines if line.kind == "run"} == {"plain": True, "guided": False}


def test_rows_that_belong_under_no_run_stand_in_a_table_of_their_own(pairs: Printed) -> None:
    tables = build(pairs, ROWS).tables
    assert [(table.id, table.legend) for table in tables] == [("table-1", ""), ("ours", ""), ("other-runs", "")]
    assert [line.kind for line in tables[-1].lines] == ["row"] * 3


def test_a_row_that_a_table_names_is_not_repeated(pairs_text: str, write: Any) -> None:
    from espalier.report.printed import load_printed

    named = load_printed(write(pairs_text.replace("runs: [{run: plain}]", "runs: [{run: plain}, {run: en/copy}]", 1)))
    labels = [line.label for line in lines_of(named, a_run("plain", 19.0, 8.0), *ROWS)]
    assert labels.count("en/copy") == 1 and labels.index("en/copy") < labels.index("en/chance")


@pytest.fixture
def marked(pairs: Printed) -> Report:
    return build(pairs, [a_run("plain", 19.0, 8.0), a_run("guided", 21.0, 8.5), *ROWS])


def test_page_and_markdown_have_the_same_mark_and_legend(marked: Report) -> None:
    page, markdown = render_html(marked), render_markdown(marked)
    (legend,) = {table.legend for table in marked.tables[:1]}
    assert legend.startswith("Below the rule") and "▾ worse than the best of these rows" in legend
    for text in (page, markdown):
        assert text.count("▾19.00") == 1 and "▾8" not in text and legend in text
        assert "Without a trained model" in text and "en, 2 records" in text
    assert '<tr class="rule italic">' in page
    assert page.count("▾19.00") == 1 and "baseline" in markdown


def test_the_other_table_has_no_mark_and_says_nothing_of_one(marked: Report) -> None:
    assert "▾" not in marked.tables[1].legend
    assert not any(cell.below for line in marked.tables[1].lines for cell in line.cells)
