from __future__ import annotations

from collections.abc import Callable

from espalier.judging.result import DECODED_ANEW, NO_RATINGS
from espalier.report.build import build
from espalier.report.folding import Folded, fold, letter_of, notes_of
from espalier.report.markdown import render_markdown
from espalier.report.printed import Printed
from espalier.report.results import RunResult
from espalier.report.tables import Line, Reading

MakeRun = Callable[..., RunResult]


def _folded(printed: Printed, *runs: RunResult) -> Folded:
    return fold(build(printed, runs).tables[0])


def _lines(lines: tuple[Line, ...]) -> list[tuple[str, str, float | None]]:
    return [(line.kind, line.label, line.cells[0].value) for line in lines]


def test_a_nursery_number_does_not_stand_beside_a_printed_one(toy: Printed, a_run: MakeRun) -> None:
    folded = _folded(toy, a_run())
    assert _lines(folded.shown.lines) == [
        ("title", "System", None), ("run", "toy_free", 21.25), ("also", "as released", None)
    ]  # fmt: skip
    assert _lines(folded.rest.lines) == [
        ("paper", "Baseline", 20.5), ("paper", "System", 12.5), ("absent", "toy_frame", None)
    ]  # fmt: skip
    assert folded.summary == "2 printed rows, 1 run not made"


def test_printed_ratings_stand_where_the_nursery_has_none_yet_in_a_table_of_other_numbers(
    toy: Printed, a_run: MakeRun
) -> None:
    for why in (NO_RATINGS, DECODED_ANEW):
        folded = _folded(toy, a_run(metrics={"scores": {"format_f1": 98.5}, "undefined": {"ppl_released": why}}))
        head, run, *_ = folded.shown.lines
        assert [cell.value for cell in head.cells] == [12.5, None] and head.kind == "paper"
        assert [cell.value for cell in run.cells] == [None, 98.5] and run.cells[0].why == why
        assert [[cell.value for cell in line.cells] for line in folded.rest.lines if line.label == "System"] == [
            [None, 99.0]
        ]
        assert folded.left_out == () and folded.summary == "2 printed rows, 1 run not made"


def test_a_number_of_another_profile_stands_under_the_printed_one(toy: Printed, a_run: MakeRun) -> None:
    folded = _folded(toy, a_run(profile="small"), a_run())
    assert _lines(folded.shown.lines)[0] == ("paper", "System", 12.5)
    assert _lines(folded.rest.lines) == [
        ("paper", "Baseline", 20.5), ("title", "System", None), ("absent", "toy_frame", None)
    ]  # fmt: skip


def test_a_table_without_runs_is_not_shown_and_loses_no_line(toy: Printed) -> None:
    folded = _folded(toy)
    assert not folded.measured and folded.shown.lines == ()
    assert folded.rest.lines == build(toy, []).tables[0].lines


def test_rows_without_a_model_stay_with_what_was_measured(toy: Printed, a_run: MakeRun) -> None:
    copy = a_run("verse/copy", row="copy", trivial=True, model="")
    shown = _folded(toy, a_run(), copy).shown.lines
    assert [line.kind for line in shown] == ["title", "run", "also", "rule", "row", "also"]


def test_no_line_is_lost(songnet: Printed, a_run: MakeRun) -> None:
    tables = build(songnet, [a_run("songnet_free"), a_run("songnet_frame", "small")]).tables
    for table in tables:
        folded = fold(table)
        parts = [*folded.shown.lines, *folded.rest.lines]
        assert {line.label for line in parts} == {line.label for line in table.lines}
        numbers = [cell for line in table.lines for cell in line.cells if cell.value is not None]
        assert sorted(map(repr, numbers)) == sorted(
            repr(cell) for line in parts for cell in line.cells if cell.value is not None
        )


def test_the_emphasis_is_bold_for_the_paper_and_italic_for_the_nursery(toy: Printed, a_run: MakeRun) -> None:
    text = render_markdown(build(toy, [a_run(), a_run("toy_frame", "small")]))
    assert "| **System** | **12.50** ± 0.25 | **99.00** |" in text
    assert "| *21.25* | *98.50* (97.25–99.50) |" in text
    assert r"| toy\_frame (small, free) | 21.25 | 98.50 (97.25–99.50) |" in text


def test_reasons_have_letters_in_their_order_and_what_needs_none_has_none() -> None:
    cells = (Reading(None, why="no judge"), Reading(1.0), Reading(None, why="not computed"), Reading(None))
    notes = notes_of([
        Line("run", "a", (), "", cells),
        Line("also", "b", (), "", (Reading(None, why="never shown"),)),
        Line("run", "c", (), "", (Reading(None, why="one sample"), Reading(None, why="no judge"))),
    ])  # fmt: skip
    assert notes == {"no judge": "a", "one sample": "b"}
    assert [letter_of(cell, notes) for cell in cells] == ["a", "", "", ""]


def test_letters_go_on_after_z() -> None:
    cells = tuple(Reading(None, why=f"reason {place}") for place in range(28))
    assert list(notes_of([Line("run", "a", (), "", cells)]).values())[24:] == ["y", "z", "aa", "ab"]


def test_columns_of_dashes_are_left_out_and_named_with_their_reason(toy: Printed, a_run: MakeRun) -> None:
    metrics = {"scores": {"format_f1": 98.5}, "undefined": {"ppl_released": "no judge"}}
    folded = _folded(toy, a_run(metrics=metrics))
    assert [column.heading for column in folded.shown.columns] == ["Format Ma-F1"]
    assert all(len(line.cells) == 1 for line in folded.shown.lines)
    assert folded.unmeasured == "Columns without a number here: PPL Test (no judge)."
    assert len(folded.rest.columns) == 2 and folded.unmeasured in render_markdown(build(toy, [a_run(metrics=metrics)]))


def test_a_column_with_a_printed_number_beside_ours_stays(toy: Printed, a_run: MakeRun) -> None:
    metrics = {"scores": {"format_f1": 98.5}}
    folded = _folded(toy, a_run(metrics=metrics, profile="small"))
    assert len(folded.shown.columns) == 2 and folded.unmeasured == ""


def test_a_table_of_nothing_but_dashes_keeps_its_columns(toy: Printed, a_run: MakeRun) -> None:
    assert len(_folded(toy, a_run(metrics={"scores": {}})).shown.columns) == 2
