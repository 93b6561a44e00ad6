"""Guesses at one's own files: the reader and options that a person would give them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from espalier.corpora.guess.encoding import encoding_of
from espalier.corpora.guess.fields import kept_labels
from espalier.corpora.guess.guess import guess
from espalier.corpora.guess.lists import place_of
from espalier.corpora.readers import READERS
from espalier.corpora.readers.local import read_lines
from espalier.corpora.readers.poems import read as read_poems
from espalier.corpora.records import Quarantined, Record
from espalier.io.errors import DataError, EspalierError
from tests.corpora.readers.test_damage import FAMILIES, damaged

ENGLISH = ["Who lit the lamp?", "By whom was it lit?", "The sea is salty.", "Salt is in the sea."]
CHINESE = "今天天气真好，我们去看海吧。你喜欢吃什么？我喜欢茶和米饭。"


def put(folder: Path, name: str, data: str | bytes) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data.encode() if isinstance(data, str) else data)
    return file


def table(*rows: list[str], by: str = ",") -> str:
    return "".join(f"{by.join(row)}\n" for row in rows)


A, B = ENGLISH[0], ENGLISH[1]


@pytest.mark.parametrize(
    ("name", "data", "reader", "options"),
    [
        ("a.csv", table(["id", "question1", "question2", "is_duplicate"], ["7", A, B, "0"], ["8", B, A, "1"]), "pairs",
         {"columns": {"source": "question1", "target": "question2", "label": "is_duplicate"}, "labels": [1]}),
        ("a.csv", table(["s1", "s2", "score"], [A, B, "4.5"], [B, A, "0.2"], [A, A, "3"], by=";"), "pairs",
         {"columns": {"source": "s1", "target": "s2", "label": "score"}, "least": 4.0, "separator": ";"}),
        ("a.tsv", table([A, B, "g1"], [A, A, "g1"], [B, A, "g2"], by="\t"), "pairs",
         {"columns": ["source", "target", "group"]}),
        ("a.tsv", table(["1", A, B], ["0", B, A], by="\t"), "pairs",
         {"columns": ["label", "source", "target"], "labels": [1]}),
        ("a.tsv", table(["7", A, B], ["8", B, A], by="\t"), "pairs", {"columns": ["skip", "source", "target"]}),
        ("a.tsv", table(['"text"', '"n"'], [f'"{A} ""yes"""', '"1"'], by="\t"), "text_table",
         {"columns": {"text": "text"}, "quotes": True}),
        ("a.csv", table(["English", "rewritten"], [A, B], [B, A]), "pairs",
         {"columns": {"source": "English", "target": "rewritten"}}),
        ("a.csv", table(["Nr", "Zeile"], ["1", A], ["2", B]), "text_table", {"columns": {"text": "Zeile"}}),
        ("a.csv", table(["Hi.", "Hello."], [A, B], [B, A]), "pairs", {"columns": ["source", "target"]}),
        ("a.txt", table([A, B], [B, A], by="\t"), "pairs", {"columns": ["source", "target"]}),
        ("a.txt", "\n".join(ENGLISH), "lines", {}),
        ("a.txt", "The rain falls\non the stone.\n\nA bird sings\nall alone.\n", "poems", {}),
        ("a.jsonl", '{"src": "Who lit it?", "trg": "It was lit."}\n' * 2, "pairs",
         {"columns": {"source": "src", "target": "trg"}}),
        ("a.json", json.dumps({"data": [{"sentence": A}, {"sentence": B}]}), "text_table",
         {"columns": {"text": "sentence"}, "within": "data"}),
        ("a.json", json.dumps({"data.v1": [{"sentence": A}, {"sentence": B}]}), "text_table",
         {"columns": {"text": "sentence"}, "within": "data.v1"}),
        ("a.json", json.dumps({"data": {"v1.1": [{"s": {"en.gb": A}}, {"s": {"en.gb": B}}]}}), "text_table",
         {"columns": {"text": "s.en.gb"}, "within": "data.v1.1"}),
        ("a.json", json.dumps([{"poem": ["The rain falls", "on stone"], "title": "Rain", "author": "I"}]), "verse",
         {"columns": {"text": "poem", "title": "title", "author": "author"}}),
        ("a.json", json.dumps([[A, B], [B, A]]), "dialogues", {}),
        ("a.json", json.dumps({f"d{n}": {"log": [{"text": A, "metadata": {}}]} for n in range(4)}), "dialogues",
         {"turns": "log", "text": "text"}),
        ("a.jsonl", json.dumps({"conversations": [{"from": "system", "value": A}, {"from": "gpt", "value": B}]}),
         "dialogues", {"turns": "conversations", "text": "value", "speaker": "from", "without": ["system"]}),
        ("a.mrg", "(S (NP (DT The) (NN lamp)) (VP (VBZ glows)))\n", "mrg", {}),
        ("a.conllu", "1\tLamps\t_\tNNS\tX\t_\t2\tnsubj\t_\t_\n2\tglow\t_\tVB\tX\t_\t0\troot\t_\t_\n\n", "conllu",
         {"tags": "xpos"}),
        ("a.lrc", "[ti:x]\n[00:01.00]The lamp is low\n", "lrc", {}),
    ],
)  # fmt: skip
def test_the_reader_and_its_options_are_guessed_and_read_the_file(
    tmp_path: Path, name: str, data: str, reader: str, options: dict[str, Any]
) -> None:
    found = guess(put(tmp_path, name, data))
    assert (found.reader, found.options, found.language) == (reader, options, "en")
    rows = [*READERS[reader].rows({"mine": tmp_path}, options, language="en", where="corpora.mine")]
    assert any(isinstance(row, Record) for row in rows) or reader == "dialogues"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "gb18030", "big5", "cp1252"])
def test_encodings_are_told_apart(encoding: str, tmp_path: Path) -> None:
    texts = {"big5": "今天天氣真好，我們去看海吧。你喜歡吃什麼？", "cp1252": "Un café à Nîmes, déjà vu, naïve façade."}
    data = (texts.get(encoding, CHINESE) * 20).encode(encoding)
    assert encoding_of(data) == encoding
    assert encoding_of(data + b"\n" * 2_000_000) == encoding


def test_names_of_fields_in_chinese_are_known_and_texts_with_title_and_author_are_poems(tmp_path: Path) -> None:
    rows = [
        ["题目", "朝代", "作者", "内容"],
        ["春晓", "唐", "孟浩然", "春眠不觉晓，处处闻啼鸟。夜来风雨声，花落知多少。"],
    ]
    found = guess(put(tmp_path, "a.csv", table(*rows)))
    assert (found.reader, found.language) == ("verse", "zh")
    assert found.options["columns"] == {"text": "内容", "title": "题目", "author": "作者"}


def test_a_few_damaged_bytes_of_utf_8_are_no_other_encoding(tmp_path: Path) -> None:
    data = f"{CHINESE}\n".encode() * 20 + b"a\xff\xfe\n"
    assert encoding_of(data) == "utf-8"
    with pytest.raises(DataError, match=r"a\.txt, row 21: not UTF-8"):
        guess(put(tmp_path, "a.txt", data))


def test_the_encoding_of_a_table_is_an_option_and_traditional_poems_are_simplified(tmp_path: Path) -> None:
    found = guess(put(tmp_path, "a.csv", f"source,target\n{CHINESE},{CHINESE}\n".encode("gb18030")))
    assert found.options["encoding"] == "gb18030" and found.language == "zh"
    poem = {"title": "靜夜思", "author": "李白", "paragraphs": ["牀前明月光，疑是地上霜。", "舉頭望明月，低頭思故鄉。"]}
    assert guess(put(tmp_path, "b.json", json.dumps([poem]))).options["simplified"] is True


@pytest.mark.parametrize(
    ("text", "reader", "encoding"),
    [
        (f"{CHINESE}\n" * 9, "lines", "gb18030"),
        ("床前明月光，\n疑是地上霜。\n\n舉頭望明月，\n低頭思故鄉。\n" * 9, "poems", "big5"),
    ],
)
def test_a_text_in_another_encoding_is_read_as_it_is_guessed(
    tmp_path: Path, text: str, reader: str, encoding: str
) -> None:
    file = put(tmp_path, "a.txt", text.encode(encoding))
    found = guess(file)
    assert (found.reader, found.options) == (reader, {"encoding": encoding})
    readers: dict[str, Callable[..., Iterable[Record | Quarantined]]] = {"lines": read_lines, "poems": read_poems}
    read = readers[reader]
    records = list(read({"mine": file.parent}, language="zh", **found.options))
    in_utf_8 = list(read({"mine": put(tmp_path / "utf", "a.txt", text).parent}, language="zh"))
    assert records == in_utf_8 and not any(isinstance(record, Quarantined) for record in records)


def test_files_of_a_folder_that_are_named_as_splits_are_held_out(tmp_path: Path) -> None:
    for name in ("train", "valid", "test"):
        put(tmp_path, f"{name}.jsonl", '{"text": "The lamp is low."}\n')
    assert guess(tmp_path).splits == {"dev": ("valid",), "test": ("test",)}
    put(tmp_path, "notes.md", "so")
    with pytest.raises(DataError, match=r"notes\.md beside files of \.jsonl; leave files of one ending there"):
        guess(tmp_path)
    put(tmp_path / "songs", "train.lrc", "[00:01.00]The lamp is low\n")
    put(tmp_path / "songs", "cover.jpg", b"\xff")
    assert guess(tmp_path / "songs").splits == {}


def test_a_folder_with_files_that_a_system_added_is_guessed_and_read(tmp_path: Path) -> None:
    put(tmp_path, "train.csv", table(["source", "target"], [A, B]))
    for name in (".DS_Store", "._train.csv", "__MACOSX/train.csv"):
        put(tmp_path, name, b"\0\xff")
    found = guess(tmp_path)
    rows = READERS[found.reader].rows({"mine": tmp_path}, found.options, language="en", where="corpora.mine")
    assert [row.id for row in rows] == ["mine/train/2"]


@pytest.mark.parametrize(
    ("values", "option"),
    [
        ("0 1 1", {"labels": [1]}),
        ("True False", {"labels": ["True"]}),
        ("paraphrase other paraphrase", {"labels": ["paraphrase"]}),
        ("entailment neutral contradiction", {"labels": ["entailment"]}),
        ("0.1 0.5 0.93", {"least": 0.8}),
        ("1 2 3 4 5", {"least": 4.0}),
        ("12 80 99.5", {"least": 80.0}),
        ("-1 0 3", {}),
        ("news sport", {}),
        ("nan 0.1 0.5 NaN 0.93", {"least": 0.8}),
        ("nan 0 1", {"labels": [1]}),
        ("nan", {}),
    ],
)
def test_labels_of_paraphrases_are_kept_and_of_scores_the_upper_fifth_of_their_scale(
    values: str, option: dict[str, Any]
) -> None:
    assert kept_labels(values.split()) == option


def test_the_longest_list_inside_a_file_has_its_rows() -> None:
    assert place_of([1]) == () and place_of({"a": {"b": [1, 2]}, "c": [1]}) == ("a", "b")
    assert place_of({"x": [1], "y": [2], "z": [3]}) == ()  # ids
    assert place_of({"a": 1}) is None and place_of(5) is None


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        (
            "a.csv",
            "a,b,c\nthe dog ran,so it is,yes it is\n",
            "which of the fields a, b, c are texts cannot be told; say",
        ),
        ("a.csv", "id,label\n1,2\n", "which of the fields id, label are texts cannot be told"),
        ("a.csv", "text\n", "no rows below the names of fields"),
        ("a.tsv", "source\ttarget\nso it is\n", "2 names of fields in row 1, 1 in row 2; give each row as many"),
        ("a.csv", "", r"a\.csv: no rows"),
        ("a.csv", 'text\n"so it is\n', r"a\.csv, row 2: not valid CSV"),
        pytest.param(
            "a.csv", f'text\n"{"so it is " * 20_000}"\n', r"row 2: .*larger than field limit", id="a long field"
        ),
        ("a.json", "[1, 2]", "its rows are neither objects nor lists"),
        ("a.json", "{\n]", r"a\.json, row 2: not valid JSON"),
        ("a.json", "5", r"a\.json: no list of rows"),
        ("a.json", '[[{"a": "so it is"}]]', "which of a is a turn's text"),
        ("a.txt", "。，\n！\n", r"a\.txt: no words"),
        ("a.txt", "привет мир\n", r"a\.txt: neither Chinese nor English; give --language"),
        ("a.lrc", "[ti:x]\n", r"a\.lrc: no lines; give songs with lines"),
        ("a.zip", b"PK\0\0", r"a\.zip: not a text file"),
        ("a.mrg", "(S (NP a b))", r"a\.mrg, row 1: "),
        ("b/c.dat", "x", "b: no file of a known ending; one of .conllu, .csv"),
    ],
)
def test_what_cannot_be_guessed_is_one_line(tmp_path: Path, name: str, data: str | bytes, message: str) -> None:
    file = put(tmp_path, name, data)
    with pytest.raises(DataError, match=message) as caught:
        guess(file.parent if "/" in name else file)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("family", [name for name, each in FAMILIES.items() if len(each.files) == 1])
def test_a_damaged_file_is_guessed_or_named_in_one_line(tmp_path: Path, family: str) -> None:
    [(name, data)] = FAMILIES[family].files.items()
    rng, guesses = random.Random(family), 0
    for _ in range(60):
        file = put(tmp_path, name, damaged(data, rng))
        try:
            guesses += bool(guess(file).reader)
        except EspalierError as error:
            assert "\n" not in str(error) and len(str(error)) < 1000
