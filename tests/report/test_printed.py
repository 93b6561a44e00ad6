from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from espalier.io.errors import ArtifactError, ConfigError
from espalier.io.yaml_files import load_yaml
from espalier.report.printed import Printed, load_printed


# Copied by hand from the paper: (table, row label, column, value, spread).
@pytest.mark.parametrize(
    ("table", "row", "column", "value", "spread"),
    [
        ("table-1", "S2S", "ppl_dev", 19.61, None),
        ("table-1", "GPT2", "ppl_test", 104.99, None),
        ("table-1", "GPT2 w/ Fine-tuning", "integrity", 45.92, 20.12),
        ("table-1", "SongNet (only Fine-tuning)", "distinct_1_macro", 75.96, None),
        ("table-1", "SongNet", "rhyme_micro", 72.59, None),
        ("table-2", "SongNet (only Pre-training)", "distinct_2_micro", 65.70, None),
        ("table-2", "SongNet", "integrity", 11.86, 3.01),
        ("table-3", "SongCi", "vocabulary", 5310, None),
        ("table-3", "Sonnet", "train", 100, None),
        ("table-4", "SongNet w/o C", "format_macro", 84.73, None),
        ("table-4", "SongNet w/ inverse-P", "rhyme_macro", 65.89, None),
        ("table-4", "SongNet w/o S", "distinct_1_micro", 2.74, None),
        ("table-4", "SongNet-GRU", "ppl_dev", 16.52, None),
    ],
)
def test_a_printed_number_of_songnet_is_the_papers(
    songnet: Printed, table: str, row: str, column: str, value: float, spread: float | None
) -> None:
    found = next(entry for entry in songnet.tables if entry.id == table)
    cell = next(entry for entry in found.rows if entry.label == row).printed[column]
    assert (cell.value, cell.spread) == (value, spread)


def test_songnet_has_every_row_of_the_paper_in_its_order(songnet: Printed) -> None:
    assert [(table.id, len(table.rows)) for table in songnet.tables] == [
        ("released", 2), ("table-1", 6), ("table-2", 4), ("table-3", 2), ("table-4", 6), ("table-7", 2),
        ("on-dev", 8), ("by-the-book", 4), ("polishing", 2),
    ]  # fmt: skip
    assert [row.label for row in songnet.tables[1].rows][3:] == [
        "SongNet (only Pre-training)",
        "SongNet (only Fine-tuning)",
        "SongNet",
    ]


def test_the_papers_own_test_texts_are_datasets_of_profile_small() -> None:
    folder = Path(__file__).parents[2]
    datasets = load_yaml(folder / "profiles/small/params.yaml")["datasets"]
    named = {
        table.printed_on
        for file in (folder / "papers/printed").glob("*.yaml")
        for table in load_printed(file).tables
        if table.printed_on
    }
    assert named == {"quora_pairs", "twitter_pairs"} and all(
        any(name in entries for entries in datasets.values()) for name in named
    )


def test_the_same_system_has_the_same_numbers_in_tables_1_and_4(songnet: Printed) -> None:
    assert songnet.tables[1].rows[4].printed == songnet.tables[4].rows[0].printed


def test_the_first_table_prints_of_the_released_row_what_table_1_does(songnet: Printed) -> None:
    released, first = songnet.tables[:2]
    rows = {row.label: row.printed for row in first.rows}
    for row in released.rows:
        assert {name.removeprefix("released_"): value for name, value in row.printed.items()} == {
            name.removeprefix("released_"): rows[row.label][name.removeprefix("released_")] for name in released.columns
        }


def test_only_gpt2_without_tuning_has_gaps(songnet: Printed) -> None:
    theirs = [table for table in songnet.tables if table.id not in ("on-dev", "by-the-book", "polishing", "table-7")]
    gaps = [row.label for table in theirs for row in table.rows if len(row.printed) < len(table.columns)]
    assert gaps == ["GPT2"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "{ppl: 20.5}",
            "{pll: 20.5}",
            "table-1.rows.Baseline.printed: unknown column 'pll'; allowed: ppl, format",
        ),
        ("columns: [ppl, format]", "columns: [ppl, rhyme]", "tables.table-1.columns: unknown column 'rhyme'"),
        ("panels: [format]", "panels: [form]", "figures.figure-1.panels: unknown column 'form'"),
        ("caption: Scores", "captoin: Scores", "tables.0.caption"),
        ("{ppl: 20.5}", '{ppl: "20.5"}', "tables.0.rows.0.printed.ppl: a printed value is a number"),
        ("{ppl: 20.5}", "{ppl: .nan}", "tables.0.rows.0.printed.ppl.value"),
        ("better: lower", "better: less", "columns.ppl.better"),
        ("id: figure-1", "id: 'a\"b'", "figures.0.id"),
    ],
)
def test_a_mistake_in_the_file_is_named_with_its_place(
    write: Callable[[str], Path], old: str, new: str, said: str, toy_text: str
) -> None:
    assert old in toy_text
    with pytest.raises(ConfigError) as caught:
        load_printed(write(toy_text.replace(old, new, 1)))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_table_whose_id_stands_twice_is_refused(write: Callable[[str], Path], toy_text: str) -> None:
    doubled = toy_text.replace(
        "figures:", toy_text[toy_text.index("  - id: table-1") : toy_text.index("figures:")] + "figures:"
    )
    with pytest.raises(ConfigError, match="table-1 stands twice"):
        load_printed(write(doubled))


@pytest.mark.parametrize("text", ["a: [", "\t- x: 1"])
def test_a_file_that_is_not_yaml_is_refused_in_one_line(write: Callable[[str], Path], text: str) -> None:
    with pytest.raises(ConfigError, match=r"toy\.yaml, line \d: not YAML") as caught:
        load_printed(write(text))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "- 1", "paper: 3"])
def test_a_file_of_another_shape_is_refused(write: Callable[[str], Path], text: str) -> None:
    with pytest.raises(ConfigError, match=r"toy\.yaml"):
        load_printed(write(text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"nothing\.yaml: no such file"):
        load_printed(tmp_path / "nothing.yaml")
