"""Damaged files: whatever is in them, each reader gives rows that can be written, or one line."""

from __future__ import annotations

import gzip
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from espalier.corpora.readers import READERS
from espalier.corpora.records import Quarantined, Record, values_of
from espalier.io.errors import DataError, EspalierError
from tests.corpora.readers.test_quora import cdnpg, vocabulary

Files = dict[str, bytes]

CONLLU = (
    "# sent_id = s1\n# text = I didn't go\n"
    "1\tI\t_\tPRON\tPRP\t_\t4\tnsubj\t_\t_\n2-3\tdidn't\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "2\tdid\t_\tAUX\tVBD\t_\t4\taux\t_\t_\n3\tn't\t_\tPART\tRB\t_\t4\tneg\t_\t_\n"
    "4\t燈\t_\tVERB\tVB\t_\t0\troot\t_\t_\n\n# text = 見\n1\t見\t_\tVERB\tVV\t_\t0\troot\t_\t_\n\n"
).encode()
TREES = b"( (S (NP-SBJ-1 (DT the) (NN lamp))\n    (VP (VBZ glows) (NP (-NONE- *-1)))))\n( (X (-NONE- *)))\n"
POEMS = [
    {"rhythmic": "甲・“注”石桥令", "author": "某甲", "paragraphs": ["云白山青，一灯明。", "归否？归！"], "tags": [1]}
] * 2
SONNET = " <eos> ".join(["the moss is old , and o ’ er the nations ’ hearts"] * 14).encode()
PARANMT = b"a lamp\t\tS NP NN\t\t1 2 3\t\tthe lamp .\t\tS NP NN\t\t1 2 2\nwho lit it\tit was lit\n"
QUESTIONS = b"1\tWho lit it?\tIt was lit by who?\t7\n0\ta\tb\t8\n"
MRPC = b"\xef\xbb\xbfQuality\t#1\t#2\t#1 String\t#2 String\r\n1\t1\t2\tA lamp glows.\tIt is lit.\r\n0\t3\t4\ta\tb\r\n"
TSV = "the lamp\tglows\r\n灯\t亮\n".encode()
CSV = b'source,target\nThe lamp,"It, is ""lit"""\nIt is lit,the lamp\n'


def text(value: Any) -> bytes:
    return json.dumps(value).encode()


class Family(NamedTuple):
    """A reader with the files of one source. `pack` is applied to each after the damage."""

    reader: str
    files: Files
    options: dict[str, Any] = {}  # noqa: RUF012  # never changed
    pack: Callable[[bytes], bytes] = bytes
    trials: int = 200


FAMILIES = {
    "brown": Family("brown", {"brown/ca01": b"The/at lamp's/nn '/'' glows/vbz ./.\n``/`` Moss/nn --/--\n",
                              "brown/cats.txt": b"ca01 news\n"}),
    "conllu": Family("conllu", {"x-ud-train.conllu": CONLLU}, {"language": "en"}),
    "conllu converted": Family("conllu", {"x-ud-dev.conllu": CONLLU},
                               {"language": "zh", "v1": ["mine"], "simplified": True}),
    "dialogues": Family("dialogues", {"a.json": text([{"turns": [{"by": "a", "t": "灯亮"}, {"by": "b", "t": "好"}]}])},
                        {"turns": "turns", "text": "t", "speaker": "by"}),
    "lrc": Family("lrc", {"a.lrc": "[ti:灯]\n[00:12.30]燈下的人\n[00:15]橋邊\n".encode()}, {"language": "zh"}),
    "mrg": Family("mrg", {"a.mrg": TREES}),
    "pairs, csv": Family("pairs", {"a.csv": CSV}, {"columns": {"source": "source", "target": "target"}}),
    "pairs, jsonl": Family("pairs", {"a.jsonl": b'{"source": "a", "target": "b", "same": 0.5}\n' * 2},
                           {"columns": {"source": "source", "target": "target", "label": "same"}, "least": 0.5}),
    "pairs, utf-16": Family("pairs", {"a.csv": "the lamp,灯\n".encode("utf-16")}, {"encoding": "utf-16"}),
    "texts": Family("text_table", {"a.csv": "the lamp\n灯\n".encode("gb18030")}, {"encoding": "gb18030"}),
    "verse": Family("verse", {"a.json": text([{"title": "T", "paragraphs": ["灯亮。桥边？", "a"]}] * 2)},
                    {"columns": {"text": "paragraphs", "title": "title"}, "language": "zh", "simplified": True}),
    "lines": Family("lines", {"a.txt": "the lamp\n灯亮。\n".encode()}),
    "lyrics, songs": Family("lyrics", {"songs.json": text([{"lyric": ["燈下 的人", "[00:01]橋邊", "作詞：某"]}] * 2)}),
    "lyrics, chains": Family("lyrics", {"lyrics_zh.txt": "燈下 人\n橋 邊\n橋 邊\n聽 著\n".encode()}),
    "lyrics, a file each": Family("lyrics", {f"{n}/a.txt": "歌\n燈下人\n（合）橋邊\n".encode() for n in range(2)}),
    "mrpc": Family("mrpc", {"msr_paraphrase_train.txt": MRPC, "msr_paraphrase_test.txt": MRPC}),
    "paranmt": Family("paranmt", {"a.txt": PARANMT}),
    "paraphrases": Family("paraphrases", {"msr_paraphrase_train.txt": MRPC, "msr_paraphrase_test.txt": MRPC},
                          {"lower": True, "plain": True, "min_words": 2, "deduplicate": True}),
    "parasci": Family("parasci", {f"{part}/{part}.{side}": b"a lamp\nthe door\n"
                                  for part in ("train", "val", "test") for side in ("src", "tgt")}),
    "penn": Family("penn", {"treebank/combined/wsj_0001.mrg": TREES}),
    "ptb": Family("ptb", {f"ptb.{part}.txt": b" a <unk> fell N \n\n do n't go \n"
                          for part in ("train", "valid", "test")}),
    "qcpg": Family("qcpg", {"validation.csv.gz": CSV, "test.csv.gz": CSV}, pack=gzip.compress),
    "qcpg packed": Family("qcpg", {"validation.csv.gz": gzip.compress(CSV, mtime=0),
                                   "test.csv.gz": gzip.compress(CSV, mtime=0)}),
    "songci": Family("songci", {"ci.song.0.json": text(POEMS), "ci.song.1000.json": text(POEMS)}),
    "sonnets, with authors": Family("sonnets", {"sonnets.json": text({"An author": [["T", "a &amp; b\n" * 14]] * 2})}),
    "sonnets, a line each": Family("sonnets", {"sonnet_train.txt": SONNET + b"\n" + SONNET + b"\n"}),
    "tsv": Family("tsv", {"a.tsv": TSV}),
    "weibo, dialogues": Family("weibo", {"LCCC-base_valid.json": text([["灯 亮", "在 哪"], ["桥"]])}),
    "weibo, pairs": Family("weibo", {"toy_train.txt": "灯 亮\t在 哪\n".encode()}),
    "xdailydialog": Family("xdailydialog", {name: "灯亮。__eou__在哪？__eou__\t1\n".encode() for name in (
        "dialogues_text_Zh.txt", "zh_dev_human.txt", "zh_test_human.txt")}),
}  # fmt: skip
QUORA = {
    "diffuseq": {name: text({"src": "who lit it?", "trg": "it was lit by who"}) + b"\n"
                 for name in ("valid.jsonl", "test.jsonl")},
    "bimpm": {"dev.tsv": QUESTIONS, "test.tsv": QUESTIONS},
    "pos50k": {f"{part}.{side}.txt": b"who lit it\nwho is it\n"
               for part in ("train", "test") for side in ("src", "tgt")},
}  # fmt: skip

#: Each reads four HDF5 files, in a process of its own each; many with FAULTS=all.
QUORA_TRIALS = 40 if os.environ.get("FAULTS") == "all" else 4

#: What damages a file: characters that no text has, numbers and nesting without measure, other line ends.
ODD = [
    b"\0", b"\xff", b"\x1b", b"\x7f", b"\xef\xbb\xbf", b"\xef\xbf\xbd", b"\r\n", b"\r", b"\n", b"\t", b" ", b"\\",
    b"\xf0\x9f\x8c\x99", b"\xe4\xb8", b"\xc2\xa0", b"\xe3\x80\x80", b"\xe2\x80\xa8", b"&#xd800;", b"&#0;", b"XYZ",
    b"\\ud800", b"\\udc00", b"\\ud83d\\ude00", b"\\u0000", b"NaN", b"-Infinity", b"1e999", b"-1", b"0", b"1.5", b"null",
    b"[", b"]", b"{", b"}", b"(", b")", b"/", b"'", b'"', b"<eos>", b"__eou__", b"9" * 5000, b"&#" + b"9" * 5000,
    b"[" * 3000, b"(X " * 3000, b"a" * 101_000, b"'" * 9000, b" " * 9000, b"\xe2\x80\x9c" * 9000,
]  # fmt: skip


def put(folder: Path, files: Files) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def damaged(data: bytes, rng: random.Random) -> bytes:
    """The bytes with one to three places changed, lost, doubled or filled with something odd."""
    for _ in range(rng.randint(1, 3)):
        start = rng.randint(0, len(data))
        end = min(len(data), start + rng.choice((0, 0, 1, 5, 50)))
        new = rng.choice([rng.choice(ODD), rng.choice(ODD), b"", bytes([rng.randrange(256)]), data[start:end] * 2])
        data = data[:start] + new + data[end:]
    return data


def outcome(reader: str, folders: dict[str, Path], options: dict[str, Any]) -> list[Record | Quarantined] | str:
    """The rows, all of which can be written, or the one line that says why there are none."""
    try:
        rows = list(READERS[reader].rows(folders, options, language="en", where="corpora.mine"))
    except EspalierError as error:
        line = str(error)
        assert "\n" not in line and len(line) < 1000
        line.encode()
        return line
    for row in rows:
        "".join(values_of(row).values()).encode()
    assert all("\0" not in "".join(values_of(row).values()) for row in rows if isinstance(row, Record))
    return rows


@pytest.mark.parametrize("name", FAMILIES)
def test_a_damaged_file_gives_rows_that_can_be_written_or_one_line(tmp_path: Path, name: str) -> None:
    reader, files, options, pack, trials = FAMILIES[name]
    folders = {"mine": put(tmp_path, {file: pack(data) for file, data in files.items()})}
    assert isinstance(outcome(reader, folders, options), list)
    rng = random.Random(name)
    for _ in range(trials):
        file = rng.choice(list(files))
        put(tmp_path, {file: pack(damaged(files[file], rng))})
        outcome(reader, folders, options)
        put(tmp_path, {file: pack(files[file])})


@pytest.mark.parametrize("part", [*QUORA, "vocabulary"])
def test_a_damaged_part_of_quora_gives_rows_that_can_be_written_or_one_line(tmp_path: Path, part: str) -> None:
    held = [("who lit the lamp ?", "the lamp was lit by who ?")]
    folders = {"cdnpg": cdnpg(tmp_path / "cdnpg", quora_valid=held), "bert": vocabulary(tmp_path / "bert")}
    if part in QUORA:
        folders["mine"] = put(tmp_path / part, QUORA[part])
    folder = folders["mine" if part in QUORA else "bert"]
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert isinstance(outcome("quora", folders, {}), list)
    rng = random.Random(part)
    for _ in range(QUORA_TRIALS):
        file = rng.choice(sorted(files))
        put(folder, {file: damaged(files[file], rng)})
        outcome("quora", folders, {})
        put(folder, {file: files[file]})


@pytest.mark.parametrize("part", ["penn", "ptb"])
def test_a_damaged_part_of_ptb_s_treebank_gives_rows_that_can_be_written_or_one_line(tmp_path: Path, part: str) -> None:
    files = {
        "penn": {"treebank/combined/wsj_0001.mrg": TREES},
        "ptb": {f"ptb.{name}.txt": b" the lamp \n glows N \n" for name in ("train", "valid", "test")},
    }
    folders = {name: put(tmp_path / name, own) for name, own in files.items()}
    assert isinstance(outcome("ptb_tagged", folders, {}), list)
    rng = random.Random(part)
    for _ in range(100):
        file = rng.choice(sorted(files[part]))
        put(folders[part], {file: damaged(files[part][file], rng)})
        outcome("ptb_tagged", folders, {})
        put(folders[part], {file: files[part][file]})


def reasons(reader: str, folder: Path, files: Files, **options: Any) -> dict[str, str]:
    """For each id "kept", or why not."""
    rows = outcome(reader, {"mine": put(folder, files)}, options)
    assert isinstance(rows, list), rows
    return {row.id: row.reason if isinstance(row, Quarantined) else "kept" for row in rows}


def test_half_a_surrogate_pair_is_a_damaged_character_and_a_whole_pair_is_none(tmp_path: Path) -> None:
    poems = [{"rhythmic": "石桥令", "author": "甲", "paragraphs": [f"云白山{character}青。"]} for character in "青x"]
    data = text(poems).replace(b"x", b"\\uD83D")
    assert reasons("songci", tmp_path / "a", {"ci.song.0.json": data}) == {
        "songci/0/0": "kept", "songci/0/1": "damaged character",
    }  # fmt: skip
    posts = rb'[["a \ud83d\ude00", "b"], ["\udc00\ud83d", "b"], ["\\ud800", "b"]]'
    assert reasons("weibo", tmp_path / "b", {"LCCC-base_valid.json": posts}) == {
        "lccc-valid-000000.0": "kept",
        "lccc-valid-000001.0": "damaged character",
        "lccc-valid-000002.0": "kept",  # an escaped backslash, and letters
    }


@pytest.mark.parametrize(
    ("data", "fact"),
    [
        (b"[" + b"9" * 5000 + b"]", "Exceeds the limit (4300 digits)"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[NaN]", "NaN is no number"),
        (b"[\n-Infinity]", "-Infinity is no number"),
        (b"[\n\xef\xbb\xbf]", "Expecting value"),
    ],
)
def test_json_without_measure_is_one_line(tmp_path: Path, data: bytes, fact: str) -> None:
    line = outcome("songci", {"mine": put(tmp_path, {"ci.song.0.json": data})}, {})
    assert isinstance(line, str) and "ci.song.0.json" in line and f"not valid JSON ({fact}" in line


def test_json_lines_name_their_row(tmp_path: Path) -> None:
    folders = {"cdnpg": cdnpg(tmp_path / "cdnpg"), "bert": vocabulary(tmp_path / "bert")}
    good = text({"src": "who lit it?", "trg": "it was lit by who"})
    for bad in (b"[" * 100_000, b'{"src": NaN}', b"9" * 5000, b"{"):
        folders["mine"] = put(tmp_path / "mine", {"valid.jsonl": good + b"\n" + bad, "test.jsonl": b""})
        line = outcome("quora", folders, {})
        assert isinstance(line, str) and "valid.jsonl, row 2: not valid JSON" in line


def test_texts_with_a_nul_and_endless_ones_are_put_aside(tmp_path: Path) -> None:
    long = b"lamp " * 1_000_000
    assert reasons("lines", tmp_path / "a", {"a.txt": b"a\0b\n" + long + b"\nlamp\n"}) == {
        "mine/a/1": "NUL character", "mine/a/2": "too long", "mine/a/3": "kept",
    }  # fmt: skip
    assert reasons("tsv", tmp_path / "b", {"a.tsv": b"a\tb\0\n" + long + b"\tb\na\tb\n"}) == {
        "mine/a/1": "NUL character", "mine/a/2": "too long", "mine/a/3": "kept",
    }  # fmt: skip
    poem = {"rhythmic": "石桥令", "author": "甲\0", "paragraphs": ["云白山青。"]}
    assert reasons("songci", tmp_path / "c", {"ci.song.0.json": text([poem])}) == {"songci/0/0": "NUL character"}
    assert reasons("brown", tmp_path / "d", {"brown/ca01": b"a\0/nn\n", "brown/cats.txt": b""}) == {
        "brown/ca01/0": "NUL character"
    }


def test_a_word_of_megabytes_is_read_in_a_moment(tmp_path: Path) -> None:
    word = b"a" * 1_000_000
    assert reasons("brown", tmp_path / "a", {"brown/ca01": word + b"/nn\n", "brown/cats.txt": b""}) == {
        "brown/ca01/0": "too long"
    }
    poem = {"rhythmic": "”" + "“" * 200_000, "author": "甲", "paragraphs": ["云白山青。"]}
    assert reasons("songci", tmp_path / "b", {"ci.song.0.json": text([poem])}) == {"songci/0/0": "kept"}


def test_a_reference_to_a_character_of_thousands_of_digits_puts_its_poem_aside(tmp_path: Path) -> None:
    poem = ["T", "a lamp\n" * 13 + "&#" + "9" * 5000 + ";"]
    assert reasons("sonnets", tmp_path, {"sonnets.json": text({"A": [poem]})}) == {"friedman/0": "digit"}


def test_a_level_of_thousands_of_digits_is_none(tmp_path: Path) -> None:
    line = f"a\t\tS\t\t{'9' * 5000}\t\tb\t\tS\t\t1\n".encode()
    assert reasons("paranmt", tmp_path, {"a.txt": line}) == {"paranmt-000000": "no level"}


def test_tags_that_are_not_universal_put_their_sentence_aside(tmp_path: Path) -> None:
    files = {"x-ud-train.conllu": CONLLU.replace(b"AUX", b"MODAL")}
    ids = ("mine-train-000000", "mine-train-000001")
    assert reasons("conllu", tmp_path, files, language="en") == dict(zip(ids, ("unknown tag", "kept"), strict=True))
    assert reasons("conllu", tmp_path, files, language="en", tags="xpos") == dict.fromkeys(ids, "kept")


def test_tags_of_the_treebanks_own_sets_may_be_any(tmp_path: Path) -> None:
    trees = {"treebank/combined/wsj_0001.mrg": TREES.replace(b"DT", b"XYZ").replace(b"VBZ", b"?!")}
    assert list(reasons("penn", tmp_path / "a", trees).values()) == ["kept", "no words"]
    words = {"brown/ca01": b"a/xyz b/\n", "brown/cats.txt": b""}
    assert list(reasons("brown", tmp_path / "b", words).values()) == ["kept"]


def test_a_tree_may_be_of_any_depth_and_one_that_does_not_end_is_one_line(tmp_path: Path) -> None:
    name = "treebank/combined/wsj_0001.mrg"
    deep = b"(S " * 9000 + b"(NN lamp)" + b")" * 9000
    assert reasons("penn", tmp_path, {name: deep}) == {"penn-wsj_0001-0000": "kept"}
    line = outcome("penn", {"mine": put(tmp_path, {name: b"(" * 200_000})}, {})
    assert isinstance(line, str) and "wsj_0001.mrg, row 1: 200000 brackets are not closed" in line


def test_a_byte_order_mark_between_sentences_is_named_with_its_row(tmp_path: Path) -> None:
    files = {"x-ud-train.conllu": CONLLU + "\ufeff".encode() + CONLLU}
    with pytest.raises(DataError, match=r"x-ud-train\.conllu, row 12: "):
        list(READERS["conllu"].rows({"mine": put(tmp_path, files)}, {}, language="en", where="corpora.mine"))
