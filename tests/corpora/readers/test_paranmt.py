"""The ParaNMT reader, on lines made up in its format."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.corpora.published import published_texts
from espalier.corpora.readers.paranmt import FILE, read, read_released
from espalier.corpora.records import Pair, Quarantined
from espalier.corpora.splits import PublishedSplit
from espalier.io.errors import ArtifactError, ConfigError, DataError
from tests.corpora.whole_tables import split_of, table_of

SOURCE = ("i ate an apple", "S NP PRP VP VBD NP DT NN", "1 2 3 2 3 3 4 4")
TARGET = ("apples !", "FRAG NNS .", "1 2 2")


def line(*fields: str) -> str:
    return "\t\t".join(fields)


def rows_of(folder: Path, *lines: str) -> list[Pair | Quarantined]:
    (folder / "paranmt.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return list(read({"mine": folder}))  # type: ignore[arg-type]


def test_a_line_is_a_pair_with_wordless_trees(tmp_path: Path) -> None:
    assert rows_of(tmp_path, line(*SOURCE, *TARGET)) == [
        Pair(
            id="paranmt-000000",
            origin="mine",
            language="en",
            source="i ate an apple",
            target="apples !",
            source_tree="(S (NP (PRP)) (VP (VBD) (NP (DT) (NN))))",
            target_tree="(FRAG (NNS) (.))",
        )
    ]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("", "not six fields"),
        (line(*SOURCE), "not six fields"),
        (line(*SOURCE, *TARGET).replace("\t\t", "\t"), "not six fields"),
        (line(*SOURCE, "apples !", "FRAG NNS .", "0 1 1"), "no level"),
        (line(*SOURCE, "apples !", "FRAG NNS .", "1 2 x"), "no level"),
        (line(*SOURCE, "apples !", "FRAG NNS .", "1 -2 2"), "no level"),
        (line(*SOURCE, "apples !", "FRAG NNS .", "1 2 4"), "no tree"),
        (line(*SOURCE, "apples !", "FRAG NNS", "1 2 2"), "no tree"),
        (line(*SOURCE, "apples !", "FRAG ) NNS", "1 2 2"), "no tree"),
        (line(*SOURCE, "apples !", "", ""), "no tree"),
        (line("", *SOURCE[1:], *TARGET), "empty side"),
    ],
)
def test_a_line_of_another_shape_is_put_aside_with_its_reason(tmp_path: Path, row: str, reason: str) -> None:
    good, bad = rows_of(tmp_path, line(*SOURCE, *TARGET), row)
    assert isinstance(good, Pair)
    assert isinstance(bad, Quarantined) and (bad.id, bad.reason) == ("paranmt-000001", reason)


def test_a_line_of_two_fields_and_one_tab_is_a_pair_for_a_parser(tmp_path: Path) -> None:
    plain, empty, parsed = rows_of(tmp_path, "we  rest\trest !", "we rest\t ", line(*SOURCE, *TARGET))
    assert plain == Pair(id="paranmt-000000", origin="mine", language="en", source="we rest", target="rest !")
    assert isinstance(empty, Quarantined) and empty.reason == "empty side"
    assert isinstance(parsed, Pair) and parsed.source_tree
    scored, parted = rows_of(tmp_path, "we rest\trest !\t0.91", "we rest\t\trest !")
    assert isinstance(scored, Quarantined) and isinstance(parted, Quarantined)
    assert scored.reason == parted.reason == "not six fields"


def test_a_local_file_may_have_any_name_but_is_alone(tmp_path: Path) -> None:
    rows_of(tmp_path, line(*SOURCE, *TARGET))
    (tmp_path / "paranmt.txt").rename(tmp_path / "subset.tsv")
    (row,) = read({"mine": tmp_path})
    assert isinstance(row, Pair) and row.origin == "mine"
    with pytest.raises(ConfigError, match="reader paranmt: 0 sources"):
        list(read({}))
    (tmp_path / "paranmt.txt").touch()
    with pytest.raises(ConfigError, match="2 files; the reader paranmt reads exactly one"):
        list(read({"mine": tmp_path}))


FIELDS = ("i ate", "S NP PRP VP VBD", "1 2 3 2 3", "apples !", "FRAG NNS .", "1 2 2")


def folder_of(path: Path, *lines: str) -> Path:
    (path / FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_line_is_a_pair_of_the_test_split_with_wordless_trees(tmp_path: Path) -> None:
    (row,) = read_released({"mine": folder_of(tmp_path, "\t\t".join(FIELDS))})
    assert row == Pair(
        id="mine-test-000000",
        origin="mine",
        language="en",
        source="i ate",
        target="apples !",
        source_tree="(S (NP (PRP)) (VP (VBD)))",
        target_tree="(FRAG (NNS) (.))",
    )


def test_labels_that_a_model_does_not_know_are_replaced_in_both_trees(tmp_path: Path) -> None:
    (row,) = read_released(
        {"mine": folder_of(tmp_path, "\t\t".join(FIELDS))}, labels={"PRP": "NN", "FRAG": "S", "X": "Y"}
    )
    assert isinstance(row, Pair)
    assert (row.source_tree, row.target_tree) == ("(S (NP (NN)) (VP (VBD)))", "(S (NNS) (.))")


def test_a_malformed_line_is_put_aside_under_its_own_number(tmp_path: Path) -> None:
    good = "\t\t".join(FIELDS)
    rows = list(
        read_released({"mine": folder_of(tmp_path, good, good.replace("1 2 2", "1 3 2"), "i ate\tapples !", good)})
    )
    reasons = {row.id: row.reason for row in rows if isinstance(row, Quarantined)}
    assert reasons == {"mine-test-000001": "no tree", "mine-test-000002": "not six fields"}
    assert [row.id for row in rows if isinstance(row, Pair)] == ["mine-test-000000", "mine-test-000003"]


def test_a_published_split_without_dev_puts_all_rows_into_test(tmp_path: Path) -> None:
    rows = list(read_released({"mine": folder_of(tmp_path, *["\t\t".join(FIELDS)] * 3)}))
    table = table_of([row for row in rows if isinstance(row, Pair)], Pair)
    assert split_of(table, PublishedSplit(kind="published", dev=())).tolist() == ["test"] * 3


def test_the_reader_needs_its_file_and_one_source(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="no such file"):
        list(read_released({"mine": tmp_path}))
    with pytest.raises(ConfigError, match="2 sources"):
        list(read_released({"mine": tmp_path, "other": tmp_path}))


def test_published_texts_are_found_by_the_lines_that_ids_name(tmp_path: Path) -> None:
    file = tmp_path / "texts.txt"
    file.write_text("one\n\n  three  words here \n", encoding="utf-8")
    assert published_texts(file, ["mine-test-000002", "mine-test-000000", "mine-test-000001"]) == [
        "three words here",
        "one",
        "",
    ]
    with pytest.raises(DataError, match="3 lines, and none for row mine-test-000003"):
        published_texts(file, ["mine-test-000003"])
    with pytest.raises(DataError, match="3 lines for 1 rows, of ids such as mine"):
        published_texts(file, ["mine"])
