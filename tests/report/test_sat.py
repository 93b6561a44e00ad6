"""SAT's printed numbers, and which of our runs stands beside them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from espalier.io.yaml_files import load_yaml
from espalier.judging.result import PREFIX
from espalier.metrics.registry import family
from espalier.report.printed import Printed, load_printed

Number = Callable[[Printed, str, str, str], float]


@pytest.fixture(scope="module")
def sat(pytestconfig: pytest.Config) -> Printed:
    return load_printed(pytestconfig.rootpath / "papers/printed/sat.yaml")


# Copied by hand from the paper: (table, row label, column, value). Shares of lengths are in percent here.
@pytest.mark.parametrize(
    ("table", "row", "column", "value"),
    [
        ("table-1-lyrics", "GPT2", "ppl_test", 11.24),
        ("table-1-lyrics", "SAT-p²", "ppl_dev", 3.92),
        ("table-1-ptb", "SAT-pos", "ptb_ppl_test", 3.39),
        ("table-2-continue", "GPT2", "text_2", 0.015),
        ("table-2-continue", "SAT-pc", "pc_1", 0.98),
        ("table-2-continue", "SAT-p²", "pos_2", 0.941),
        ("table-2-topic", "SAT-pos", "text_1", 0.356),
        ("table-2-topic", "GPT2", "pos_2", 0.309),
        ("table-4", "Chinese lyrics", "pos", 58),
        ("table-4", "Penn treebank", "test", 3761),
        ("table-5", "SAT-pos", "pos_2", 0.788),
        ("table-5", "GPT2", "text_1", 0.093),
        ("table-6-topic", "GPT2", "within_2", 37),
        ("table-6-continue", "GPT2", "within_4", 73),
        ("table-6-ptb", "SAT-pos", "within_0", 91),
        ("table-7", "SAT-pc, 4 layers", "ppl_test", 8.606),
        ("table-7", "SAT-pos, 6 layers", "ppl_dev", 4.554),
    ],
)
def test_a_printed_number_is_the_papers(
    sat: Printed, printed_number: Number, table: str, row: str, column: str, value: float
) -> None:
    assert printed_number(sat, table, row, column) == value


def test_table_7_repeats_table_1_for_two_layers(sat: Printed) -> None:
    tables = {table.id: {row.label: row.printed for row in table.rows} for table in sat.tables}
    for label in ("SAT-pc", "SAT-pos"):
        first, last = tables["table-1-lyrics"][label], tables["table-7"][f"{label}, 2 layers"]
        assert {name: round(value.value, 2) for name, value in last.items()} == {
            name: value.value for name, value in first.items()
        }


def test_every_metric_is_one_that_texts_under_templates_have(sat: Printed) -> None:
    families = ["own_weight", "texts", *(f"bleu:{of}{end}" for of in ("text", "pc", "pos") for end in ("", ":whole"))]
    families += [f"likelihood:{places}{end}" for places in (42, 50) for end in ("", ":dev")]
    known = {metric.name for key in families for metric in family(key, "compose").metrics}
    corpora = {column for table in sat.tables if table.about == "corpora" for column in table.columns}
    wanted = {reading.metric for name, column in sat.columns.items() if name not in corpora for reading in column.ours}
    assert {name for name in wanted - known if not name.startswith(PREFIX)} == set()  # people's: test_judged.py


@pytest.mark.parametrize("profile", ["", "profiles/small", "profiles/paper"])
def test_every_run_of_a_profile_stands_in_a_table(pytestconfig: pytest.Config, sat: Printed, profile: str) -> None:
    """A run that no table names would be made, and shown to nobody."""
    runs = load_yaml(pytestconfig.rootpath / Path(profile) / "params.yaml")["runs"]
    made = {key for key, run in runs.items() if run["paper"] == "sat"}
    named = {ref.run for table in sat.tables for row in table.rows for ref in row.runs}
    assert made and made <= named


def test_every_run_that_is_drawn_stands_in_its_examples(sat: Printed) -> None:
    written = {examples.id: examples.written for examples in sat.examples}
    assert [each.structures for each in sat.drawings] == [("pc", "pos"), ("pos",)]
    assert all(each.runs == written[each.examples] for each in sat.drawings)
