"""The readers of paraphrases (QCPG, ParaSCI, MRPC) and the one that reads them together, on pairs written for them."""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.corpora.readers import paraphrases, qcpg
from espalier.corpora.records import Pair, Quarantined
from espalier.io.errors import ArtifactError, ConfigError, DataError

LAMP, GLOW = "The lamp glows, they say.", 'A lamp "glows".'
DOOR, GATE = "Who shut the door?", "By whom was the door shut?"


def qcpg_folder(folder: Path, validation: Sequence[Sequence[str]], test: Sequence[Sequence[str]] = ()) -> Path:
    folder.mkdir(exist_ok=True)
    for name, rows in (("validation", validation), ("test", test)):
        text = io.StringIO(newline="")
        csv.writer(text).writerows([["source", "target"], *rows])
        (folder / f"{name}.csv.gz").write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))
    return folder


def parasci_folder(folder: Path, **splits: list[tuple[str, str]]) -> Path:
    for name in ("train", "val", "test"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for place, side in enumerate(("src", "tgt")):
            lines = [f"{pair[place]}\n" for pair in splits.get(name, [])]
            (folder / name / f"{name}.{side}").write_text("".join(lines), encoding="utf-8")
    return folder


def mrpc_folder(folder: Path, train: str, test: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    for name, rows in (("train", train), ("test", test)):
        text = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n" + rows
        (folder / f"msr_paraphrase_{name}.txt").write_text(text, encoding="utf-8", newline="")
    return folder


def test_of_a_pair_in_both_directions_the_first_is_kept(tmp_path: Path) -> None:
    folder = qcpg_folder(tmp_path / "q", [(GLOW, LAMP), (LAMP, GLOW), (GLOW, LAMP)], [(LAMP, GLOW), (DOOR, GATE)])
    rows = list(qcpg.read({"bank": folder}))
    assert rows[0] == Pair(id="bank-validation-000000", origin="bank", language="en", source=GLOW, target=LAMP)
    assert [(row.id, row.reason) for row in rows if isinstance(row, Quarantined)] == [
        ("bank-validation-000001", "other direction"),
        ("bank-validation-000002", "duplicate"),
        ("bank-test-000000", "other direction"),
    ]
    assert rows[4].id == "bank-test-000001" and isinstance(rows[4], Pair)


def test_two_collections_are_told_apart_by_their_names(tmp_path: Path) -> None:
    one, two = qcpg_folder(tmp_path / "one", [(GLOW, LAMP)]), qcpg_folder(tmp_path / "two", [(LAMP, GLOW)])
    rows = list(qcpg.read({"bank": one, "coco": two}))
    assert [row.id for row in rows if isinstance(row, Pair)] == ["bank-validation-000000", "coco-validation-000000"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"source,target\n", "not a whole gzip file"),
        (gzip.compress(b"source,target\na,b\n", mtime=0)[:-6], "not a whole gzip file"),
        (gzip.compress(b"a,b\n", mtime=0), "row 1: columns a, b; expected source, target"),
        (gzip.compress(b"source,target\na,b\na,b,c\n", mtime=0), "row 3: 3 columns; expected 2"),
        (gzip.compress(b'source,target\n"a,b\n', mtime=0), "row 2: not valid CSV"),
        (gzip.compress(b"source,target\n\xff,b\n", mtime=0), "not UTF-8"),
    ],
)
def test_a_malformed_table_is_one_line(tmp_path: Path, content: bytes, words: str) -> None:
    qcpg_folder(tmp_path, []).joinpath("validation.csv.gz").write_bytes(content)
    with pytest.raises(DataError, match=rf"validation\.csv\.gz.*{words}"):
        list(qcpg.read({"bank": tmp_path}))


def test_parallel_files_keep_their_published_splits(tmp_path: Path) -> None:
    folder = parasci_folder(tmp_path / "p", train=[(LAMP, GLOW), (DOOR, "")], val=[(DOOR, GATE)], test=[(GATE, DOOR)])
    rows = list(paraphrases.read_parasci({"acl": folder}))
    assert [row.id for row in rows] == ["acl-train-000000", "acl-train-000001", "acl-dev-000000", "acl-test-000000"]
    assert isinstance(rows[1], Quarantined) and rows[1].reason == "empty side"
    assert rows[2] == Pair(id="acl-dev-000000", origin="acl", language="en", source=DOOR, target=GATE)
    (folder / "val/val.tgt").unlink()
    with pytest.raises(ArtifactError, match=r"val\.tgt: no such file"):
        list(paraphrases.read_parasci({"acl": folder}))


def test_only_rows_of_quality_one_are_paraphrases_and_quotation_marks_are_text(tmp_path: Path) -> None:
    train = f'1\t7\t8\t"{LAMP}" said she\t{GLOW}\r\n0\t8\t9\t{LAMP}\t{DOOR}\r\n'
    rows = list(paraphrases.read_mrpc({"msr": mrpc_folder(tmp_path, train, f"1\t1\t2\t{DOOR}\t{GATE}\n")}))
    assert [row.id for row in rows] == ["msr-train-000000", "msr-train-000001", "msr-test-000000"]
    assert isinstance(rows[0], Pair) and rows[0].source == f'"{LAMP}" said she' and rows[0].target == GLOW
    assert rows[1] == Quarantined(id="msr-train-000001", stage="read", reason="no paraphrase", text=f"{LAMP}\t{DOOR}")


@pytest.mark.parametrize(
    ("row", "words"),
    [("2\t1\t2\ta\tb\n", "row 2: quality '2'; expected 0 or 1"), ("1\ta\tb\n", "row 2: 3 fields; expected 5")],
)
def test_a_malformed_row_is_named(tmp_path: Path, row: str, words: str) -> None:
    with pytest.raises(DataError, match=rf"msr_paraphrase_train\.txt, {words}"):
        list(paraphrases.read_mrpc({"msr": mrpc_folder(tmp_path, row)}))


def test_collections_of_every_kind_are_one_corpus_with_their_strata(tmp_path: Path) -> None:
    folders = {
        "bank": qcpg_folder(tmp_path / "q", [(GLOW, LAMP)]),
        "acl": parasci_folder(tmp_path / "p", train=[(LAMP, GLOW)]),
        "msr": mrpc_folder(tmp_path / "m", f"1\t1\t2\t{DOOR}\t{GATE}\n"),
    }
    rows = list(paraphrases.read(folders))
    assert [(row.id, row.origin) for row in rows if isinstance(row, Pair)] == [
        ("bank-validation-000000", "bank"),
        ("acl-train-000000", "acl"),
        ("msr-train-000000", "msr"),
    ]
    with pytest.raises(ConfigError, match="reader paraphrases: no source"):
        list(paraphrases.read({}))
    with pytest.raises(DataError, match=r"no validation\.csv\.gz or train/train\.src or msr_paraphrase_train\.txt"):
        list(paraphrases.read({"x": tmp_path}))


# --- All collections as one corpus ------------------------------------------------------------------------------------

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"who lit the lamp was by is door what shut ?".split()]  # noqa: SIM905


def quora_pool(folder: Path) -> dict[str, Path]:
    """C-DNPG's files with one pair held out, BERT's vocabulary, and a pool of three pairs, one of them held out."""
    tables = pytest.importorskip("tables")
    row = {name: tables.Int32Col(pos=place) for place, name in enumerate(("pos", "src_len", "tgt_len"))}
    for name in ("quora/valid", "quora/test", "quora1/valid", "quora1/test"):
        file = folder / f"cdnpg/{name}.h5"
        file.parent.mkdir(parents=True, exist_ok=True)
        texts = ("who lit the lamp ?", "the lamp was lit by who ?") if name == "quora/test" else ()
        ids = [[PIECES.index(piece) for piece in f"[CLS] {text} [SEP]".split()] for text in texts]
        with tables.open_file(str(file), "w") as opened:
            sentences = opened.create_earray("/", "sentences", tables.Int32Atom(), shape=(0,))
            indices = opened.create_table("/", "indices", type("Row", (tables.IsDescription,), row))
            if ids:
                indices.append([(0, *map(len, ids))])
                sentences.append([number for side in ids for number in side])
    pool = [("Who lit the lamp?", "The lamp was lit by who?"), ("Who shut the door?", "The door was shut by who?")]
    pool += [("What is the door?", "The door is what?")]
    for place, side in enumerate(("src", "tgt")):
        (folder / "pool").mkdir(exist_ok=True)
        (folder / f"pool/train.{side}.txt").write_text("".join(f"{pair[place]}\n" for pair in pool))
        (folder / f"pool/test.{side}.txt").write_text("")
    (folder / "bert").mkdir()
    (folder / "bert/bert-base-uncased-vocab.txt").write_text("\n".join(PIECES) + "\n")
    return {name: folder / name for name in ("pool", "cdnpg", "bert")}


def told(rows: list[Any]) -> dict[str, str]:
    """For each id its stratum, or why it was put aside."""
    assert len({row.id for row in rows}) == len(rows)
    return {row.id: row.reason if isinstance(row, Quarantined) else row.origin for row in rows}


def test_quoras_pool_is_one_stratum_with_the_pairs_held_out_of_it(tmp_path: Path) -> None:
    pool = quora_pool(tmp_path)
    bank = qcpg_folder(tmp_path / "bank", [(GLOW, LAMP), (DOOR.upper(), "the door was shut by who")])
    folders = {"pool": pool["pool"], "bank": bank, "cdnpg": pool["cdnpg"], "bert": pool["bert"]}
    rows = list(paraphrases.read(folders))
    assert told(rows) == {
        "quora-test-000000": "quora",
        "quora-pos50k_train-000000": "held out",
        "quora-pos50k_train-000001": "quora",
        "quora-pos50k_train-000002": "quora",
        "bank-validation-000000": "bank",
        "bank-validation-000001": "bank",
    }
    assert told(list(paraphrases.read(folders, deduplicate=True)))["bank-validation-000001"] == "duplicate"
    with pytest.raises(ConfigError, match="give C-DNPG's files, BERT's vocabulary"):
        list(paraphrases.read({"bank": bank, "pool": pool["pool"]}))


def test_texts_are_brought_to_lower_case_and_ascii_before_they_are_judged(tmp_path: Path) -> None:
    curly = "\u201cIt glows\u201d \u2014 they\u2019d say\u2026"
    folder = qcpg_folder(tmp_path / "bank", [(curly, LAMP), (DOOR, "The caf\u00e9 was shut."), (DOOR, GATE)])
    rows = list(paraphrases.read({"bank": folder}, lower=True, plain=True, ascii_only=True))
    assert rows[0] == Pair(
        id="bank-validation-000000",
        origin="bank",
        language="en",
        source='"it glows" -- they\'d say...',
        target=LAMP.lower(),
    )
    assert isinstance(rows[1], Quarantined) and rows[1].reason == "not ASCII"
    assert isinstance(rows[2], Pair) and rows[2].target == GATE.lower()
    curled = list(paraphrases.read({"bank": folder}, ascii_only=True))
    assert [type(row) for row in curled] == [Quarantined, Quarantined, Pair]
    assert isinstance(curled[2], Pair) and curled[2].target == GATE


def test_a_pair_of_which_nothing_visible_is_left_is_put_aside(tmp_path: Path) -> None:
    folder = qcpg_folder(tmp_path / "bank", [("\u200b", LAMP)])
    assert told(list(paraphrases.read({"bank": folder}, plain=True))) == {"bank-validation-000000": "empty side"}


def test_the_words_of_either_side_can_be_too_few_or_too_many(tmp_path: Path) -> None:
    pairs = [("a lamp glows .", "it 's lit ."), ("a lamp", "it is lit"), ("it is lit", "a small old lamp is lit")]
    rows = told(list(paraphrases.read({"b": qcpg_folder(tmp_path, pairs)}, min_words=3, max_words=4)))
    assert list(rows.values()) == ["b", "too few words", "too many words"]


def test_equal_pairs_of_two_strata_in_either_order_are_one_and_the_first_is_kept(tmp_path: Path) -> None:
    folders = {
        "bank": qcpg_folder(tmp_path / "q", [(GLOW, LAMP)]),
        "acl": parasci_folder(
            tmp_path / "p", train=[(LAMP.lower(), "a lamp glows"), (LAMP, LAMP), (LAMP, LAMP.upper())]
        ),
    }
    rows = list(paraphrases.read(folders, deduplicate=True))
    assert list(told(rows).values()) == ["bank", "duplicate", "acl", "duplicate"]
    assert isinstance(rows[1], Quarantined) and rows[1].text.startswith("of bank-validation-000000: ")
    assert all(isinstance(row, Pair) for row in paraphrases.read(folders))


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Strata of 40, 20 and 4 rows."""
    folder = tmp_path_factory.mktemp("three")

    def made(count: int) -> list[tuple[str, str]]:
        return [(f"Lamp {number} glows.", f"It is lamp {number} that glows.") for number in range(count)]

    quality = "".join(f"1\t1\t2\t{source}\t{target}\n" for source, target in made(4))
    return {
        "bank": qcpg_folder(folder / "q", made(40)),
        "acl": parasci_folder(folder / "p", train=made(20)),
        "msr": mrpc_folder(folder / "m", quality),
    }


def drawn(folders: Mapping[str, Path], **options: object) -> Counter[str]:
    return Counter(told(list(paraphrases.read(folders, **options))).values())


@pytest.mark.parametrize(
    ("count", "shares", "left"),
    [
        (32, {"bank": 0.5, "acl": 0.25, "msr": 0.25}, {"bank": 19, "acl": 9, "msr": 4}),
        (20, {"bank": 0.75, "acl": 0.25}, {"bank": 15, "acl": 5}),
        (60, {"bank": 0.1, "acl": 0.9}, {"bank": 40, "acl": 20}),
        (16, None, {"bank": 10, "acl": 5, "msr": 1}),
        (64, None, {"bank": 40, "acl": 20, "msr": 4}),
    ],
)
def test_rows_are_drawn_by_shares_and_others_make_good_for_a_small_stratum(
    three: dict[str, Path], count: int, shares: dict[str, float] | None, left: dict[str, int]
) -> None:
    # 32 rows: msr gives its 4, not 8; 28 by 2 to 1 are 18 2/3 and 9 1/3.
    found = drawn(three, count=count, shares=shares)
    assert found == Counter(left) + Counter({"not drawn": 64 - count})


@settings(deadline=None)
@given(count=st.integers(1, 44), seed=st.integers(0, 9), share=st.integers(0, 10))
def test_no_row_is_lost_and_a_draw_repeats_itself(three: dict[str, Path], count: int, seed: int, share: int) -> None:
    options = {"count": count, "seed": seed, "shares": {"bank": 1 - share / 10, "msr": share / 10}}
    if count > 40 - 40 * (share == 10) + 4 * (share > 0):
        with pytest.raises(ConfigError, match=rf"count {count} is more than the \d+ rows; ask for fewer"):
            list(paraphrases.read(three, **options))
        return
    rows = list(paraphrases.read(three, **options))
    assert [row.id for row in rows] == [row.id for row in paraphrases.read(three)]
    assert rows == list(paraphrases.read(three, **options))
    assert Counter(type(row) for row in rows)[Pair] == count
    assert all(row.origin != "acl" for row in rows if isinstance(row, Pair))


def test_seeds_draw_different_rows_and_a_greater_draw_has_those_of_a_smaller(three: dict[str, Path]) -> None:
    def ids(**options: object) -> set[str]:
        shares = {"bank": 0.5, "acl": 0.5}
        return {row.id for row in paraphrases.read(three, shares=shares, **options) if isinstance(row, Pair)}

    assert ids(count=10) < ids(count=20)
    assert ids(count=20, seed=1) == ids(count=20) != ids(count=20, seed=2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"count": 0}, "count 0; a whole number from 1"),
        ({"min_words": -1}, "min_words -1; a whole number from 1"),
        ({"min_words": 5, "max_words": 4}, "min_words 5 is greater than max_words 4"),
        ({"shares": {"bank": 1}}, "shares without count; say of how many rows"),
        ({"count": 1, "shares": {"coco": 1}}, "shares: unknown stratum 'coco'; allowed: acl, bank, msr"),
        ({"count": 1, "shares": {"bank": 2, "acl": -1}}, "shares: bank: 2; from 0 to 1"),
        ({"count": 1, "shares": {"bank": 0.5, "acl": 0.4}}, "shares: they add up to 0.9; to 1"),
        ({"count": 65}, "count 65 is more than the 64 rows; ask for fewer"),
    ],
)
def test_options_that_cannot_be_are_one_line(three: dict[str, Path], options: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError, match=f"reader paraphrases(, |: ){words}"):
        list(paraphrases.read(three, **options))
