"""Tables of benchmarks on pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.io.errors import ArtifactError
from espalier.report.benchmarks import BenchmarkResult, BenchmarkTable, Column, Spread, load_benchmark
from espalier.report.page_numbers import PageNumbers
from espalier.report.pages import render_page

COLUMNS = (Column(heading="tokens/s", digits=0), Column(heading="ours / this"))


def table(low: float, high: float) -> BenchmarkTable:
    rows = {"ours": (12_345.6, ""), "peer": (4_000, Spread(low, low - 0.5, high)), "absent": (None, None)}
    return BenchmarkTable(title="a shape", columns=COLUMNS, rows=rows)


RESULT = BenchmarkResult(command="python benchmarks/race.py 3", machine={}, tables=(table(1.24, 2), table(33.6, 40)))


def test_a_table_shows_rates_whole_and_ratios_with_their_range() -> None:
    assert table(1.24, 2).markdown().splitlines() == [
        "a shape",
        "",
        "| | tokens/s | ours / this |",
        "| --- | ---: | ---: |",
        "| ours | 12,346 | |",
        "| peer | 4,000 | 1.24 (0.74 to 2.00) |",
        "| absent | — | — |",
    ]


def test_the_range_of_a_row_goes_over_all_tables() -> None:
    assert RESULT.range("peer") == "1.2 to 34"
    assert RESULT.model_copy(update={"tables": RESULT.tables[:1]}).range("peer") == "1.2"
    with pytest.raises(ArtifactError, match=r"no row ours with a ratio"):
        RESULT.range("ours")


def test_the_range_of_a_row_can_be_that_of_the_tables_with_another_row() -> None:
    other = table(9.0, 9.5)
    other = other.model_copy(update={"rows": {"ours too": (1.0, ""), "peer": other.rows["peer"]}})
    both = RESULT.model_copy(update={"tables": (*RESULT.tables, other)})
    assert both.range("peer", "ours") == "1.2 to 34"
    assert both.range("peer", "ours too") == "9.0"


def test_the_range_and_the_tables_can_be_those_of_some_titles() -> None:
    nursery = table(0.954, 2).model_copy(update={"title": "nursery: a shape"})
    both = RESULT.model_copy(update={"tables": (*RESULT.tables, nursery)})
    assert both.range("peer", within="nursery") == "0.95"  # what is lost is shown with two decimals
    assert both.range("peer", within="shape") == "0.95 to 34"
    with pytest.raises(ArtifactError, match=r"no row peer with a ratio"):
        both.range("peer", within="paper")
    assert both.markdown("nursery") == nursery.markdown()
    with pytest.raises(ArtifactError, match=r"no table of a shape; record all profiles"):
        both.markdown("a shape")  # is no profile


def test_a_file_is_read_as_it_was_written_and_a_damaged_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "race.json"
    path.write_text(RESULT.model_dump_json(), encoding="utf-8")
    assert load_benchmark(path) == RESULT
    path.write_text('{"command": 1}', encoding="utf-8")
    with pytest.raises(ArtifactError, match=r"race\.json: holds no tables of a benchmark.*race\.py --record"):
        load_benchmark(path)


def test_a_page_asks_for_a_benchmark_by_name() -> None:
    def page(template: str) -> str:
        return render_page(template, "page.md", PageNumbers(dict, dict, printed={}, benchmarks={"race": RESULT}))  # type: ignore[arg-type]

    assert page('{{ ratios("race", "peer") }}') == "1.2 to 34"
    assert page('{{ ratios("race", "peer", within="shape") }}') == "1.2 to 34"
    tables = page('{{ tables("race") }}')
    assert page('{{ benchmark("race") }}') == f"`python benchmarks/race.py 3`\n\n{tables}"
    with pytest.raises(ArtifactError, match=r"walk\.json: the benchmark has no results; python "):
        page('{{ tables("walk") }}')
