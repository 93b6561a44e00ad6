"""The Quora reader, on questions written for it; and what it knows of word pieces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.corpora.readers.cdnpg_released import read_pairs
from espalier.corpora.readers.quora import read
from espalier.corpora.records import Pair, Quarantined
from espalier.io.errors import ArtifactError, ConfigError, DataError
from espalier.text.wordpieces import WordPieces

tables = pytest.importorskip("tables")
WORDS = "who what lights light lit the a lamp ##s ##light door isn don t s it is was by in 2 5 3 well known or".split()  # noqa: SIM905
LETTERS = "abcdefghijklmnopqrstuvwxyz"
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *"?.,!:;()'$%-\""]
VOCABULARY += [piece for letter in LETTERS for piece in (letter, f"##{letter}") if piece not in VOCABULARY]
IDS = {piece: number for number, piece in enumerate(VOCABULARY)}

Texts = list[tuple[str, str]]


def ids_of(text: str) -> list[int]:
    return [IDS[piece] for piece in ("[CLS]", *text.split(), "[SEP]")]


def write_h5(file: Path, pairs: Texts) -> None:
    """As C-DNPG's code does: all ids in one row, compressed with Blosc; one row of a table a pair."""
    row = type("Row", (tables.IsDescription,), {
        name: tables.Int32Col(pos=place) for place, name in enumerate(("pos", "src_len", "tgt_len"))
    })  # fmt: skip
    file.parent.mkdir(parents=True, exist_ok=True)
    with tables.open_file(str(file), "w") as opened:
        filters = tables.Filters(complevel=5, complib="blosc")
        ids = opened.create_earray("/", "sentences", tables.Int32Atom(), shape=(0,), filters=filters)
        indices = opened.create_table("/", "indices", row, filters=filters)
        for source, target in pairs:
            left, right = ids_of(source), ids_of(target)
            indices.append([(len(ids), len(left), len(right))])
            ids.append(left + right)


def cdnpg(folder: Path, **draws: Texts) -> Path:
    for draw in ("quora", "quora1"):
        for split in ("valid", "test"):
            write_h5(folder / draw / f"{split}.h5", draws.get(f"{draw}_{split}", []))
    return folder


def vocabulary(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "bert-base-uncased-vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    return folder


def pos50k(folder: Path, train: Texts, test: Texts = ()) -> Path:  # type: ignore[assignment]
    folder.mkdir(exist_ok=True)
    for split, pairs in (("train", train), ("test", test)):
        for place, side in enumerate(("src", "tgt")):
            (folder / f"{split}.{side}.txt").write_text("".join(f"{pair[place]}\n" for pair in pairs), encoding="utf-8")
    return folder


def bimpm(folder: Path, dev: bytes, test: bytes = b"") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "dev.tsv").write_bytes(dev)
    (folder / "test.tsv").write_bytes(test)
    return folder


def diffuseq(folder: Path, *rows: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "valid.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "test.jsonl").write_text("", encoding="utf-8")
    return folder


@pytest.fixture
def base(tmp_path: Path) -> dict[str, Path]:
    held = [("who lit the lamp ?", "the lamp was lit by who ?")]
    other = [("what is the door ?", "the door is what ?"), ("the lamp was lit by who ?", "who lit the lamp ?")]
    return {
        "cdnpg": cdnpg(tmp_path / "cdnpg", quora_valid=held, quora_test=other[:1], quora1_test=other[1:]),
        "bert": vocabulary(tmp_path / "bert"),
    }


def table(rows: list[Any]) -> dict[str, str]:
    """For each id "kept", or why not."""
    assert len({row.id for row in rows}) == len(rows)
    return {row.id: row.reason if isinstance(row, Quarantined) else "kept" for row in rows}


def test_held_out_pairs_come_first_and_leave_the_pool_in_either_order_and_print(
    tmp_path: Path, base: dict[str, Path]
) -> None:
    pool = pos50k(
        tmp_path / "pos",
        [("Who lit THE lamp", "The lamp was lit -- by who?!"), ("What is the dóor?", "The door: is what?")],
        [("Is the lamp lit?", "Is it lit, the lamp?")],
    )
    assert table(list(read(base | {"pos": pool}))) == {
        "quora-dev-000000": "kept",
        "quora-test-000000": "kept",
        "quora-pos50k_train-000000": "held out",
        "quora-pos50k_train-000001": "held out",
        "quora-pos50k_test-000000": "kept",
        "quora-cdnpg1_test-000000": "held out",
    }


def test_numbers_tell_pairs_of_the_pool_apart_but_none_from_what_is_held_out(
    tmp_path: Path, base: dict[str, Path]
) -> None:
    pool = pos50k(
        tmp_path / "pos",
        [("Who lit the 2 lamp?", "The lamp was lit by who?"), ("Is it 2?", "It is 2?"), ("Is it 3?", "It is 3?")],
        [("2?", "3?"), ("2", "3!")],
    )
    rows = table(list(read(base | {"pos": pool})))
    assert [rows[id] for id in rows if "pos50k" in id] == ["held out", "kept", "kept", "kept", "duplicate"]


def test_questions_can_be_held_out_too(tmp_path: Path, base: dict[str, Path]) -> None:
    pool = pos50k(tmp_path / "pos", [("Who lit the lamp?", "Who lights the lamp?"), ("It is a door?", "A door it is?")])
    assert table(list(read(base | {"pos": pool})))["quora-pos50k_train-000000"] == "kept"
    rows = table(list(read(base | {"pos": pool}, unshared="question")))
    assert rows["quora-pos50k_train-000000"] == "question held out"
    assert rows["quora-pos50k_train-000001"] == "kept"


def test_the_parts_overlap_and_the_one_in_its_own_print_is_kept(tmp_path: Path) -> None:
    folders = {
        "seq": diffuseq(tmp_path / "seq", {"src": "is the lamp lit?", "trg": "the lamp is lit?"}),
        "cdnpg": cdnpg(tmp_path / "cdnpg", quora1_valid=[("is the lamp lit ?", "the lamp is lit ?")]),
        "bim": bimpm(tmp_path / "bim", b"1\tIs it a door?\tIt is a door?\t7\n0\tIs it?\tWho?\t8\n"),
        "bert": vocabulary(tmp_path / "bert"),
        "pos": pos50k(
            tmp_path / "pos", [("The lamp is lit?", "Is the lamp lit?"), ("A door, is it?", "It is a door!")]
        ),
    }
    rows = list(read(folders))
    assert table(rows) == {
        "quora-pos50k_train-000000": "kept",
        "quora-pos50k_train-000001": "kept",
        "quora-bimpm_dev-000000": "kept",
        "quora-bimpm_dev-000001": "no paraphrase",
        "quora-cdnpg1_valid-000000": "duplicate",
        "quora-diffuseq_valid-000000": "duplicate",
    }
    assert rows[0] == Pair(
        id="quora-pos50k_train-000000",
        origin="pos",
        language="en",
        source="The lamp is lit?",
        target="Is the lamp lit?",
    )
    assert rows[4].text == "of quora-pos50k_train-000000: is the lamp lit?\tthe lamp is lit?"  # type: ignore[union-attr]


def test_broken_bytes_are_put_aside_and_table_quotes_go(tmp_path: Path, base: dict[str, Path]) -> None:
    dev = b'1\tWho lit \xe2\x80 it?\tWho?\t1\n1\t"Who lit ""it""?"\tWhat lit it?\t2\n1\t\tWho?\t3'
    rows = list(read(base | {"bim": bimpm(tmp_path / "bim", dev)}))
    assert table(rows) | {
        "quora-bimpm_dev-000000": "damaged character",
        "quora-bimpm_dev-000002": "empty side",
    } == table(rows)
    (quoted,) = [row for row in rows if row.id == "quora-bimpm_dev-000001"]
    assert isinstance(quoted, Pair) and quoted.source == 'Who lit "it"?'


def test_held_out_pairs_stay_as_many_as_they_are(tmp_path: Path) -> None:
    twice = [("who lit it ?", "it was lit by who ?")] * 2
    folders = {"cdnpg": cdnpg(tmp_path / "cdnpg", quora_test=twice), "bert": vocabulary(tmp_path / "bert")}
    assert table(list(read(folders))) == {"quora-test-000000": "kept", "quora-test-000001": "kept"}


def test_a_dev_pair_of_the_test_can_be_put_aside(tmp_path: Path) -> None:
    held = [("who lit it ?", "it was lit by who ?"), ("what is it ?", "it is what ?")]
    folders = {
        "cdnpg": cdnpg(tmp_path / "cdnpg", quora_valid=held, quora_test=[held[0][::-1]]),
        "bert": vocabulary(tmp_path / "bert"),
    }
    wanted = {"quora-dev-000000": "in test", "quora-dev-000001": "kept", "quora-test-000000": "kept"}
    assert table(list(read(folders, dev_apart=True))) == wanted
    assert {*table(list(read(folders))).values()} == {"kept"}


def test_a_dev_pair_that_shares_a_question_with_training_can_be_put_aside(tmp_path: Path) -> None:
    held = [("who lit it ?", "it was lit by who ?"), ("what is it ?", "it is what ?"), ("is it ?", "it is ?")]
    folders = {
        "cdnpg": cdnpg(tmp_path / "cdnpg", quora_valid=held, quora_test=[("is it a lamp ?", "a lamp it is ?")]),
        "bert": vocabulary(tmp_path / "bert"),
        "pos": pos50k(
            tmp_path / "pos",
            [("Who lights it?", "Who lit it!"), ("Is it a lamp?", "Is it a light?"), ("It is what?", "What is it?")],
        ),
    }
    # The third pair of the pool does not train, so its questions do not count.
    assert table(list(read(folders, dev_unshared=True))) == {
        "quora-dev-000000": "question in training",
        "quora-dev-000001": "kept",
        "quora-dev-000002": "kept",
        "quora-test-000000": "kept",
        "quora-pos50k_train-000000": "kept",
        "quora-pos50k_train-000001": "kept",
        "quora-pos50k_train-000002": "held out",
    }
    assert {*table(list(read(folders))).values()} == {"kept", "held out"}


@pytest.mark.parametrize("missing", ["cdnpg", "bert"])
def test_without_what_is_held_out_there_is_no_pool(base: dict[str, Path], missing: str) -> None:
    with pytest.raises(ConfigError, match="give C-DNPG's files, BERT's vocabulary"):
        list(read({name: folder for name, folder in base.items() if name != missing}))


@pytest.mark.parametrize(
    ("dev", "words"),
    [
        (b"1\tWho?\tWhat?\n", "row 1: 3 fields; expected 4"),
        (b"1\tA?\tB?\t1\nyes\tWho?\tWhat?\t1\n", "row 2: label 'yes'; expected 0 or 1"),
    ],
)
def test_a_malformed_row_is_named(tmp_path: Path, base: dict[str, Path], dev: bytes, words: str) -> None:
    with pytest.raises(DataError, match=rf"dev\.tsv, {words}"):
        list(read(base | {"bim": bimpm(tmp_path / "bim", dev)}))


def test_a_malformed_json_line_is_named(tmp_path: Path, base: dict[str, Path]) -> None:
    for row, words in (({"src": "Who?"}, "not a pair with src and trg"), ({"src": 1, "trg": "a"}, "must be texts")):
        with pytest.raises(DataError, match=rf"valid\.jsonl, row 1: .*{words}"):
            list(read(base | {"seq": diffuseq(tmp_path / "seq", row)}))


# --- Word pieces -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> WordPieces:
    return WordPieces(vocabulary(tmp_path_factory.mktemp("bert")) / "bert-base-uncased-vocab.txt")


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        ("who lit the lamp ##s ?", "who lit the lamps?"),
        ("isn ' t it lit , who ' s in", "isn't it lit, who's in"),
        ("is it $ 2 . 5 , or 3 %", "is it $2.5, or 3%"),
        ("the well - known ( lamp ) door", "the well-known (lamp) door"),
        ("the lamp ##light : who lit it !", "the lamplight: who lit it!"),
        ("who is [UNK] ?", "who is [UNK]?"),
    ],
)
def test_pieces_become_text_and_the_text_gives_them_back(pieces: WordPieces, printed: str, text: str) -> None:
    ids = ids_of(printed)
    assert pieces.text(ids) == text
    assert pieces.encode([text]) == [ids[1:-1]]


@given(words=st.lists(st.sampled_from([*(word for word in WORDS if "#" not in word), *"?.,!:;()'$%-"]), max_size=10))
def test_no_glue_changes_the_pieces(pieces: WordPieces, words: list[str]) -> None:
    ids = [IDS[word] for word in words]
    assert pieces.encode([pieces.text(ids)]) == [ids]


def test_bare_pieces_know_no_case_accent_or_space(pieces: WordPieces) -> None:
    texts = ["Who lit the Lámps ?", "who  lit the lamp s?"]
    assert {pieces.bare(ids) for ids in pieces.encode(texts)} == {"wholitthelamps?"}
    assert pieces.bare(ids_of("who ?")) == "who?"


def test_a_file_that_is_no_such_file_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "a.h5"
    with pytest.raises(ArtifactError, match=r"a\.h5: no such file"):
        read_pairs(file, 9)
    file.write_bytes(b"not HDF5")
    with pytest.raises(DataError, match=r"a\.h5: no HDF5 file with /sentences and /indices"):
        read_pairs(file, 9)
    with tables.open_file(str(file), "w"):
        pass
    with pytest.raises(DataError, match="no HDF5 file with /sentences"):
        read_pairs(file, 9)
    write_h5(file, [("who ?", "what ?")])
    assert read_pairs(file, len(VOCABULARY)) == [(ids_of("who ?"), ids_of("what ?"))]
    marks = ids_of("who ?")[0], ids_of("who ?")[-1]
    assert read_pairs(file, len(VOCABULARY), marks) == [(ids_of("who ?"), ids_of("what ?"))]
    with pytest.raises(DataError, match=r"row 1.*a side that is not \[CLS\] \.\.\. \[SEP\]"):
        read_pairs(file, len(VOCABULARY), (marks[1], marks[0]))
    with pytest.raises(DataError, match="an id beyond the 4 pieces"):
        read_pairs(file, 4)
    with tables.open_file(str(file), "r+") as opened:
        opened.root.indices.append([(2, 5, 3)])
    with pytest.raises(DataError, match="row 2: ids 2 to 10 of 8"):
        read_pairs(file, len(VOCABULARY))


def test_a_damaged_file_that_crashes_the_hdf5_library_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "a.h5"
    write_h5(file, [("who ?", "what ?")])
    damaged = bytearray(file.read_bytes())
    damaged[970] = 1  # in the heap of names: a segmentation fault with HDF5 1.14
    file.write_bytes(damaged)
    with pytest.raises(DataError, match=r"a\.h5: no HDF5 file .*; run the download stage of its source again"):
        read_pairs(file, len(VOCABULARY))


def test_a_file_of_other_numbers_is_one_line(tmp_path: Path) -> None:
    cases = {
        "/sentences is not one row of whole numbers": ([1.5, 2.5], [[0, 1, 1]]),
        "/sentences is not one row": ([[1, 2], [3, 4]], [[0, 1, 1]]),
        "row 1: not three whole numbers in /indices": ([1, 2], [[0.0, 1.0, 1.0]]),
        "row 1: not three": ([1, 2], [[0, 1]]),
        "row 1: not three whole": ([1, 2], [0, 1, 1]),
    }
    for number, (line, (ids, rows)) in enumerate(cases.items()):
        with tables.open_file(str(tmp_path / f"{number}.h5"), "w") as opened:
            opened.create_array("/", "sentences", np.array(ids))
            opened.create_array("/", "indices", np.array(rows))
        with pytest.raises(DataError, match=line):
            read_pairs(tmp_path / f"{number}.h5", 9)
    with tables.open_file(str(tmp_path / "groups.h5"), "w") as opened:
        opened.create_group("/", "sentences")
        opened.create_group("/", "indices")
    with pytest.raises(DataError, match="no HDF5 file with /sentences and /indices"):
        read_pairs(tmp_path / "groups.h5", 9)


def test_a_file_that_is_no_vocabulary_is_refused(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("a\nb\n")
    with pytest.raises(DataError, match=r"v\.txt: no BERT vocabulary"):
        WordPieces(tmp_path / "v.txt")
