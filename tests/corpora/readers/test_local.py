"""Local files: every line becomes a row or is quarantined, and its id names the file and the row."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.corpora.filters import Filters, screen
from espalier.corpora.readers.local import read_lines
from espalier.corpora.readers.tables import read_tsv
from espalier.corpora.records import Pair, Quarantined, Sentence, records_of
from espalier.corpora.splits import GroupSplit, PublishedSplit
from espalier.io.errors import ConfigError, DataError
from tests.corpora.whole_tables import split_of, table_of


def local(tmp_path: Path, data: str | bytes, name: str = "pairs.tsv") -> dict[str, Path]:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return {"mine": tmp_path}


def test_fields_fill_the_columns_that_are_named(tmp_path: Path) -> None:
    folders = local(tmp_path, "7\tit is lit\tg1\tthe lamp  glows\r\n8\tb\t\ta\n")
    rows = list(read_tsv(folders, language="en", columns=["skip", "target", "group", "source"]))
    assert rows == [
        Pair(id="mine/pairs/1", origin="mine", language="en", source="the lamp glows", target="it is lit", group="g1"),
        Pair(id="mine/pairs/2", origin="mine", language="en", source="a", target="b", group=""),
    ]


def test_malformed_rows_are_quarantined_under_their_file_and_row(tmp_path: Path) -> None:
    rows = list(read_tsv(local(tmp_path, "a\tb\na\n\na\tb\tc\n \tb\na\tb\ufffd\n灯\t明"), language="zh"))
    assert [(row.id, row.reason) for row in rows if isinstance(row, Quarantined)] == [
        ("mine/pairs/2", "wrong number of fields"),
        ("mine/pairs/3", "wrong number of fields"),
        ("mine/pairs/4", "wrong number of fields"),
        ("mine/pairs/5", "empty side"),
        ("mine/pairs/6", "damaged character"),
    ]
    assert [row.target for row in rows if isinstance(row, Pair)] == ["b", "明"]


def test_a_file_in_another_encoding_names_itself_and_the_row(tmp_path: Path) -> None:
    folders = local(tmp_path, b"a\tb\n" + "灯\t明\n".encode("gb18030"))
    for read in (read_tsv, read_lines):
        with pytest.raises(DataError, match=r"pairs\.tsv, row 2: not UTF-8 .*; convert the file to UTF-8"):
            list(read(folders, language="zh"))


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        (["source"], "0 times target"),
        (["source", "target", "target"], "2 times target"),
        (["source", "taget"], "unknown column 'taget'; allowed: group, skip, source, target"),
    ],
)
def test_columns_that_cannot_be_are_refused(tmp_path: Path, columns: list[str], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        list(read_tsv(local(tmp_path, "a\tb\n"), language="en", columns=columns))


def test_a_source_without_files_and_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no file"):
        list(read_lines({"mine": tmp_path}, language="en"))
    with pytest.raises(ConfigError, match="no source"):
        list(read_tsv({}, language="en"))
    local(tmp_path, "a\n", "a.txt")
    with pytest.raises(DataError, match="two files named a"):
        list(read_lines(local(tmp_path, "a\n", "a.md"), language="en"))


def test_every_line_of_every_file_is_a_sentence(tmp_path: Path) -> None:
    local(tmp_path, "first\n\nsecond  one\n", "b/train.txt")
    rows = list(read_lines(local(tmp_path, "\ufeffheld out\nx\ufffd\n", "dev.txt"), language="en"))
    assert [(row.id, row.reason) for row in rows if isinstance(row, Quarantined)] == [
        ("mine/b/train/2", "empty line"),
        ("mine/dev/2", "damaged character"),
    ]
    sentences = [row for row in rows if isinstance(row, Sentence)]
    assert [(row.id, row.target) for row in sentences] == [
        ("mine/b/train/1", "first"),
        ("mine/b/train/3", "second one"),
        ("mine/dev/1", "held out"),
    ]
    split = split_of(table_of(sentences, Sentence), PublishedSplit(kind="published", test=()))
    assert list(split) == ["train", "train", "dev"]


def test_pairs_without_trees_are_filtered_and_their_groups_stay_together(tmp_path: Path) -> None:
    text = "".join(f"post {n}\tanswer {n}\td{n // 3}\n" for n in range(30)) + "post 0\tanswer 0\td0\nsame\tSame!\td1\n"
    rows = read_tsv(local(tmp_path, text), language="en", columns=["source", "target", "group"])
    filters = Filters(without_identical=True, deduplicate=True, max_words=4)
    kept, dropped = screen((row for row in rows if isinstance(row, Pair)), filters)
    assert [(row.id, row.reason) for row in dropped] == [
        ("mine/pairs/31", "duplicate"),
        ("mine/pairs/32", "identical sides"),
    ]
    table = table_of(kept, Pair)
    assert records_of(table, Pair) == kept
    split = split_of(table, GroupSplit(kind="group", seed=1, dev=3, test=6, sides=False))
    assert split.value_counts().to_dict() == {"train": 21, "test": 6, "dev": 3}
    assert table.assign(split=split).groupby("group")["split"].nunique().max() == 1
