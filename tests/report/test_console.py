from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from rich.cells import cell_len
from rich.console import Console

from espalier.report import Comparison, CorpusResult, Curve, Printed, RunResult, build, render_console

MakeRun = Callable[..., RunResult]
FullSet = tuple[list[RunResult], list[Curve], list[CorpusResult]]


def _shown(printed: Printed, runs: list[RunResult], width: int) -> list[str]:
    stream = io.StringIO()
    render_console(build(printed, runs), Console(file=stream, width=width, color_system=None))
    return stream.getvalue().splitlines()


def test_columns_stay_aligned_beside_chinese_names(toy: Printed, a_run: MakeRun) -> None:
    lines = _shown(toy, [a_run(settings={"protocol": "自由"}), a_run("toy_frame", "词"), a_run("toy_frame")], 100)
    ours = [line.rstrip() for line in lines if line.lstrip().startswith(("System", "toy_"))]
    # Every value of the last column ends in the same terminal cell, whatever the width of the characters before it.
    assert len(ours) == 4
    assert len({cell_len(line) for line in ours}) == 1
    tags = next(line.rstrip() for line in lines if "自由" in line)
    assert "97.25–99.50" in tags
    assert cell_len(tags) == cell_len(ours[0])


@pytest.mark.parametrize("width", [40, 60, 80, 100, 132, 200])
def test_no_line_is_wider_than_the_terminal_and_no_column_is_lost(songnet: Printed, width: int, a_run: MakeRun) -> None:
    run = a_run(
        "songnet_free",
        "small",
        metrics={"scores": {"format_macro_f1": 98.76}, "intervals": {"format_macro_f1": [97.11, 99.22]}},
    )
    lines = _shown(songnet, [run], width)
    assert max(cell_len(line) for line in lines) <= width
    text = "\n".join(lines)
    for value in ("75.96", "99.81", "79.23", "± 0.10", "98.76", "97.11–99.22"):
        assert value in text


def test_profile_protocol_and_what_is_missing_are_named(toy: Printed, full_set: FullSet) -> None:
    runs, _, _ = full_set
    text = " ".join(" ".join(_shown(toy, runs, 120)).split())
    assert "nursery · free" in text
    assert "not run toy_frame" in text
    assert "toy_free made elsewhere: one GPU, 1.5 h, 4,000 of 10,000 steps, commit 0123456789" in text


def test_square_brackets_are_text_and_not_markup(toy: Printed, a_run: MakeRun) -> None:
    text = "\n".join(_shown(toy, [a_run(settings={"protocol": "[bold]x[/nope]"})], 120))
    assert "[bold]x[/nope]" in text


def test_claims_fit_the_terminal_and_say_whether_they_hold(pairs: Printed, pair_runs: list[RunResult]) -> None:
    comparison = Comparison(
        one="guided", other="plain", metric="bleu", profile="nursery", difference=-2.0, low=-3.0, high=-1.0, p=0.02,
        seeds=(3, 3), clusters=32, segments=40,
    )  # fmt: skip
    stream = io.StringIO()
    report = build(pairs, pair_runs, comparisons=[comparison])
    render_console(report, Console(file=stream, width=60, color_system=None))
    lines = stream.getvalue().splitlines()
    assert max(cell_len(line) for line in lines) <= 60
    text = " ".join(" ".join(lines).split())
    meaning = "guided : plain BLEU 22.00 : 20.00 p 0.020 p (Holm) 0.020 3 seeds, 40 texts in 32 clusters"
    assert f"reversed Guiding serves the meaning. {meaning}" in text
    assert "not computed Guiding serves the syntax. guided : plain TED f 6.00 : 8.00" in text
