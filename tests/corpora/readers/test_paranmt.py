"""The ParaNMT reader, on lines made up in its format."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.corpora.readers.paranmt import read
from espalier.corpora.records import Pair, Quarantined
from espalier.io.errors import ConfigError

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
