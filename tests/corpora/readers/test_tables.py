"""One's own tables: what is read does not depend on how rows are framed, and a row that is not read says why."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.corpora.readers import READERS
from espalier.corpora.records import Pair, Quarantined, Record, Sentence, Verse
from espalier.io.errors import ConfigError, DataError

#: As Kaggle gives it, with a header, two questions in quotes and non-duplicates.
QUORA = (
    '"id","qid1","qid2","question1","question2","is_duplicate"\n'
    '"0","1","2","What is a lamp?","What is a lamp, or ""light""?","1"\n'
    '"1","3","4","How do I cook rice?","Why is the sea salty?","0"\n'
    '"2","5","6","Who lit\nthe lamp?","By whom was it lit?","1"\n'
)
PAIR = {"source": "question1", "target": "question2"}


def put(folder: Path, **files: str | bytes) -> dict[str, Path]:
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        path = folder / name.replace("__", ".")
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    return {"mine": folder}


def rows(reader: str, folders: dict[str, Path], language: str = "en", **options: Any) -> list[Record | Quarantined]:
    return list(READERS[reader].rows(folders, options, language=language, where="corpora.mine"))


def reasons(found: list[Record | Quarantined]) -> dict[str, str]:
    return {row.id: row.reason for row in found if isinstance(row, Quarantined)}


def sides(found: list[Record | Quarantined]) -> list[tuple[str, str, str]]:
    return [(row.source, row.target, row.group) for row in found if isinstance(row, Pair)]


def test_neither_the_header_nor_pairs_of_another_label_train(tmp_path: Path) -> None:
    found = rows("pairs", put(tmp_path, q__csv=QUORA), columns={**PAIR, "label": "is_duplicate"}, labels=[1])
    assert sides(found) == [
        ("What is a lamp?", 'What is a lamp, or "light"?', ""),
        ("Who lit the lamp?", "By whom was it lit?", ""),
    ]
    assert [row.id for row in found] == ["mine/q/2", "mine/q/3", "mine/q/4"]  # the lines on which they begin
    assert reasons(found) == {"mine/q/3": "another label"}


@pytest.mark.parametrize(
    ("labels", "kept"),
    [([1], "1 1.0 1"), (["1"], "1 1.0 1"), ([True], "true"), (["YES"], "yes"), ([0, "yes"], "0 yes")],
)
def test_labels_are_numbers_or_words_whatever_their_spelling(tmp_path: Path, labels: list[Any], kept: str) -> None:
    values = ["0", "1", "1.0", "yes", True, 1, None]
    lines = [json.dumps({"source": str(place), "target": "b", "label": each}) for place, each in enumerate(values)]
    columns = {"source": "source", "target": "target", "label": "label"}
    found = rows("pairs", put(tmp_path, a__jsonl="\n".join(lines)), columns=columns, labels=labels)
    read = [str(values[int(row.source)]).lower() for row in found if isinstance(row, Pair)]
    assert read == kept.split() and reasons(found)["mine/a/7"] == "no label"


def test_a_label_nan_is_no_label_rather_than_one_under_the_threshold(tmp_path: Path) -> None:
    text = "a\tb\tnan\nc\td\tNaN\ne\tf\t0.9\n"
    found = rows("pairs", put(tmp_path, a__tsv=text), columns=["source", "target", "label"], least=0.8)
    assert reasons(found) == {"mine/a/1": "no label", "mine/a/2": "no label"}


def test_a_threshold_keeps_pairs_whose_label_is_at_least_that(tmp_path: Path) -> None:
    text = "a\tb\t0.79\nc\td\t.8\ne\tf\t5\ng\th\thigh\ni\tj\t\n"
    found = rows("pairs", put(tmp_path, a__tsv=text), columns=["source", "target", "label"], least=0.8)
    assert [row.source for row in found if isinstance(row, Pair)] == ["c", "e"]
    assert reasons(found) == {"mine/a/1": "label under 0.8", "mine/a/4": "no label", "mine/a/5": "no label"}


CELL = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=5)
TABLE = st.lists(st.tuples(CELL, CELL), min_size=1, max_size=6)


@given(TABLE)
def test_csv_tsv_and_both_kinds_of_json_are_read_alike(tmp_path_factory: pytest.TempPathFactory, table: Any) -> None:
    objects = [dict(zip(PAIR.values(), row, strict=True)) for row in table]
    files: dict[str, str] = {
        "json": json.dumps(objects),
        "jsonl": "\n".join(json.dumps(each, ensure_ascii=False) for each in objects),
    }
    for name, separator in (("csv", ","), ("tsv", "\t")):
        text = io.StringIO()
        csv.writer(text, delimiter=separator, quoting=csv.QUOTE_ALL).writerows([PAIR.values(), *table])
        files[name] = text.getvalue()
    for name, text_ in files.items():
        options: dict[str, Any] = {"columns": PAIR, **({"quotes": True} if name == "tsv" else {})}
        folder = put(tmp_path_factory.mktemp("a"), **{f"a__{name}": text_})
        assert [(source, target) for source, target, _ in sides(rows("pairs", folder, **options))] == table, name


def test_fields_inside_other_fields_and_a_list_inside_a_file_are_named_by_their_keys(tmp_path: Path) -> None:
    row = {"translation": {"en": "The lamp  is lit.", "other": 3}, "id": 7}
    folders = put(tmp_path, a__json=json.dumps({"data": {"train": [row, {"translation": {}}, 5]}}))
    columns = {"source": "translation.en", "target": "translation.other", "group": "id"}
    found = rows("pairs", folders, columns=columns, within="data.train")
    assert sides(found) == [("The lamp is lit.", "3", "7")]
    assert reasons(found) == {"mine/a/2": "no translation.en", "mine/a/3": "no names of fields"}
    by_id = put(tmp_path / "b", a__json=json.dumps({"x": {"text": "one"}, "y": {"text": "two"}}))
    assert [row.target for row in rows("text_table", by_id, columns={"text": "text"}) if isinstance(row, Sentence)] == [
        "one", "two",
    ]  # fmt: skip


def test_sentences_keep_the_group_that_a_split_holds_together(tmp_path: Path) -> None:
    folders = put(tmp_path, a__csv="song,line\nThe  lamp,It is lit.\nThe  lamp,It is low.\n")
    found = rows("text_table", folders, columns={"text": "line", "group": "song"})
    assert [(row.target, row.group) for row in found if isinstance(row, Sentence)] == [
        ("It is lit.", "The lamp"), ("It is low.", "The lamp"),
    ]  # fmt: skip


def test_rows_that_cannot_be_read_are_quarantined_under_their_line(tmp_path: Path) -> None:
    folders = put(tmp_path, a__csv="source,target\na,b\nc\n\nd,e,f\n,g\n", b__jsonl='{"source": "a"}\n\n{\n[1]\n')
    columns = {"source": "source", "target": "target"}
    assert reasons(rows("pairs", folders, columns=columns)) == {
        "mine/a/3": "wrong number of fields", "mine/a/5": "wrong number of fields", "mine/a/6": "empty side",
        "mine/b/1": "no target", "mine/b/3": "not valid JSON", "mine/b/4": "no names of fields",
    }  # fmt: skip


def test_a_list_of_columns_has_no_header_and_counts_the_fields(tmp_path: Path) -> None:
    found = rows("pairs", put(tmp_path, a__csv="a;b;1\nc;d\n"), columns=["target", "source", "skip"], separator=";")
    assert sides(found) == [("b", "a", "")] and reasons(found) == {"mine/a/2": "wrong number of fields"}


def test_other_encodings_are_read_if_they_are_named(tmp_path: Path) -> None:
    text = "source,target\n灯亮,“灯”明\n"
    for encoding in ("utf-8", "utf-16", "gb18030"):
        folders = put(tmp_path / encoding, a__csv=text.encode(encoding))
        columns = {"source": "source", "target": "target"}
        assert sides(rows("pairs", folders, "zh", columns=columns, encoding=encoding)) == [("灯亮", "“灯”明", "")]
    with pytest.raises(DataError, match=r"a\.csv, row 2: not UTF-8 \(.*\); convert the file to UTF-8, or give its enc"):
        rows("pairs", folders, "zh", columns=columns)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('source,target\na,b\n"c,d\ne,f\n', r"a\.csv, row 3: not valid CSV \(unexpected end of data\); double a quot"),
        ('source,target\n"a"b,c\n', r"a\.csv, row 2: not valid CSV \(',' expected after '\"'\)"),
        ("", r"a\.csv: no rows; its first row names the fields"),
        (f"source,target\na,{'b' * 140_000}\n", r"a\.csv, row 2: not valid CSV \(field larger than field limit"),
    ],
)
def test_a_file_that_cannot_be_parted_into_rows_is_one_line_with_its_row(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        rows("pairs", put(tmp_path, a__csv=text), columns={"source": "source", "target": "target"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": {"source": "a", "target": "b", "label": "c"}}, "a label, and not which are kept; give columns a"),
        ({"labels": [1]}, "which labels are kept, and no label; give columns a label"),
        ({"columns": {"source": "a", "traget": "b"}}, "unknown column 'traget'; allowed: group, label, source, target"),
        ({"columns": {"source": "a"}}, "columns source: 0 times target; source and target once, group and label at"),
        ({"columns": ["source", "target", "label", "label"], "least": 1.0}, "2 times label"),
        ({"separator": "||"}, r"separator '\|\|'; one character between two fields"),
        ({"encoding": "zip"}, "encoding: Input should be 'utf-8', 'utf-16', .*; it is 'zip'"),
        ({"form": "xls"}, "form: Input should be 'csv', 'tsv', 'json' or 'jsonl'; it is 'xls'"),
        ({"colour": "red"}, "unknown option 'colour'; allowed: columns, encoding, form, labels, language, least, quot"),
    ],
)
def test_options_that_cannot_be_are_one_line(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        rows("pairs", put(tmp_path, a__csv="a,b\n"), **options)


def test_a_file_of_an_unknown_form_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.xlsx: a file of no known form; give form: csv, tsv, json, jsonl"):
        rows("pairs", put(tmp_path, a__xlsx="a,b\n"))
    with pytest.raises(DataError, match=r"a\.json: no list of rows; name the key of the list of rows: within"):
        rows("pairs", put(tmp_path / "b", a__json="5"))
    with pytest.raises(DataError, match=r"a\.json: no rows; name the key of the list of rows: within"):
        rows("pairs", put(tmp_path / "c", a__json="{}"), within="rows")


def test_poems_of_json_have_titles_authors_and_units(tmp_path: Path) -> None:
    poems = [
        {"title": "靜夜思", "author": "李白", "paragraphs": ["牀前明月光，疑是地上霜。", "舉頭望明月，低頭思故鄉。"]},
        {"title": "雨", "author": "某", "paragraphs": ["山青。云白。", " "]},
        {"title": "空", "author": "某", "paragraphs": []},
        {"title": "注", "author": "某", "paragraphs": ["山青", "。"]},
        {"title": "无", "author": "某"},
    ]
    columns = {"text": "paragraphs", "title": "title", "author": "author"}
    folders = put(tmp_path, a__json=json.dumps(poems))
    found = rows("verse", folders, "zh", columns=columns, rhyme="AA", simplified=True)
    verse = [row for row in found if isinstance(row, Verse)]
    assert [(row.tune, row.author, row.rhyme) for row in verse] == [("静夜思", "李白", "AA"), ("雨", "某", "AA")]
    assert (
        verse[0].target == "床前明月光，疑是地上霜。\n举头望明月，低头思故乡。" and verse[1].target == "山青。\n云白。"
    )
    assert reasons(found) == {
        "mine/a/3": "no lines", "mine/a/4": "line without words", "mine/a/5": "no paragraphs",
    }  # fmt: skip


def test_english_poems_of_a_table_have_one_unit_a_line(tmp_path: Path) -> None:
    text = 'name,poem\nRain,"The rain, it falls,\n\nthe lamp is low."\n'
    (row,) = rows("verse", put(tmp_path, a__csv=text), columns={"text": "poem", "title": "name"}, rhyme="AB")
    assert isinstance(row, Verse)
    assert (row.target, row.rhyme, row.tune) == ("the rain , it falls ,\nthe lamp is low .", "AB", "Rain")
