"""The readers of paraphrases (QCPG, ParaSCI, MRPC) and the one that reads them together, on pairs written for them."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Sequence
from pathlib import Path

import pytest

from espalier.corpora.readers import READERS
from espalier.corpora.records import Pair, Quarantined
from espalier.io.errors import ArtifactError, ConfigError, DataError

LAMP, GLOW = "The lamp glows, they say.", 'A lamp "glows".'
DOOR, GATE = "Who shut the door?", "By whom was the door shut?"


def qcpg(folder: Path, validation: Sequence[Sequence[str]], test: Sequence[Sequence[str]] = ()) -> Path:
    folder.mkdir(exist_ok=True)
    for name, rows in (("validation", validation), ("test", test)):
        text = io.StringIO(newline="")
        csv.writer(text).writerows([["source", "target"], *rows])
        (folder / f"{name}.csv.gz").write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))
    return folder


def parasci(folder: Path, **splits: list[tuple[str, str]]) -> Path:
    for name in ("train", "val", "test"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for place, side in enumerate(("src", "tgt")):
            lines = [f"{pair[place]}\n" for pair in splits.get(name, [])]
            (folder / name / f"{name}.{side}").write_text("".join(lines), encoding="utf-8")
    return folder


def mrpc(folder: Path, train: str, test: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    for name, rows in (("train", train), ("test", test)):
        text = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n" + rows
        (folder / f"msr_paraphrase_{name}.txt").write_text(text, encoding="utf-8", newline="")
    return folder


def test_of_a_pair_in_both_directions_the_first_is_kept(tmp_path: Path) -> None:
    folder = qcpg(tmp_path / "q", [(GLOW, LAMP), (LAMP, GLOW), (GLOW, LAMP)], [(LAMP, GLOW), (DOOR, GATE)])
    rows = list(READERS["qcpg"]({"bank": folder}))
    assert rows[0] == Pair(id="bank-validation-000000", origin="bank", language="en", source=GLOW, target=LAMP)
    assert [(row.id, row.reason) for row in rows if isinstance(row, Quarantined)] == [
        ("bank-validation-000001", "other direction"),
        ("bank-validation-000002", "duplicate"),
        ("bank-test-000000", "other direction"),
    ]
    assert rows[4].id == "bank-test-000001" and isinstance(rows[4], Pair)


def test_two_collections_are_told_apart_by_their_names(tmp_path: Path) -> None:
    one, two = qcpg(tmp_path / "one", [(GLOW, LAMP)]), qcpg(tmp_path / "two", [(LAMP, GLOW)])
    rows = list(READERS["qcpg"]({"bank": one, "coco": two}))
    assert [row.id for row in rows if isinstance(row, Pair)] == ["bank-validation-000000", "coco-validation-000000"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"source,target\n", "not a whole gzip file"),
        (gzip.compress(b"source,target\na,b\n")[:-6], "not a whole gzip file"),
        (gzip.compress(b"a,b\n"), "row 1: columns a, b; expected source, target"),
        (gzip.compress(b"source,target\na,b\na,b,c\n"), "row 3: 3 columns; expected 2"),
        (gzip.compress(b'source,target\n"a,b\n'), "row 2: not valid CSV"),
        (gzip.compress(b"source,target\n\xff,b\n"), "not UTF-8"),
    ],
)
def test_a_malformed_table_is_one_line(tmp_path: Path, content: bytes, words: str) -> None:
    qcpg(tmp_path, []).joinpath("validation.csv.gz").write_bytes(content)
    with pytest.raises(DataError, match=rf"validation\.csv\.gz.*{words}"):
        list(READERS["qcpg"]({"bank": tmp_path}))


def test_parallel_files_keep_their_published_splits(tmp_path: Path) -> None:
    folder = parasci(tmp_path / "p", train=[(LAMP, GLOW), (DOOR, "")], val=[(DOOR, GATE)], test=[(GATE, DOOR)])
    rows = list(READERS["parasci"]({"acl": folder}))
    assert [row.id for row in rows] == ["acl-train-000000", "acl-train-000001", "acl-dev-000000", "acl-test-000000"]
    assert isinstance(rows[1], Quarantined) and rows[1].reason == "empty side"
    assert rows[2] == Pair(id="acl-dev-000000", origin="acl", language="en", source=DOOR, target=GATE)
    (folder / "val/val.tgt").unlink()
    with pytest.raises(ArtifactError, match=r"val\.tgt: no such file"):
        list(READERS["parasci"]({"acl": folder}))


def test_only_rows_of_quality_one_are_paraphrases_and_quotation_marks_are_text(tmp_path: Path) -> None:
    train = f'1\t7\t8\t"{LAMP}" said she\t{GLOW}\r\n0\t8\t9\t{LAMP}\t{DOOR}\r\n'
    rows = list(READERS["mrpc"]({"msr": mrpc(tmp_path, train, f"1\t1\t2\t{DOOR}\t{GATE}\n")}))
    assert [row.id for row in rows] == ["msr-train-000000", "msr-train-000001", "msr-test-000000"]
    assert isinstance(rows[0], Pair) and rows[0].source == f'"{LAMP}" said she' and rows[0].target == GLOW
    assert rows[1] == Quarantined(id="msr-train-000001", stage="read", reason="no paraphrase", text=f"{LAMP}\t{DOOR}")


@pytest.mark.parametrize(
    ("row", "words"),
    [("2\t1\t2\ta\tb\n", "row 2: quality '2'; expected 0 or 1"), ("1\ta\tb\n", "row 2: 3 fields; expected 5")],
)
def test_a_malformed_row_is_named(tmp_path: Path, row: str, words: str) -> None:
    with pytest.raises(DataError, match=rf"msr_paraphrase_train\.txt, {words}"):
        list(READERS["mrpc"]({"msr": mrpc(tmp_path, row)}))


def test_collections_of_every_kind_are_one_corpus_with_their_strata(tmp_path: Path) -> None:
    folders = {
        "bank": qcpg(tmp_path / "q", [(GLOW, LAMP)]),
        "acl": parasci(tmp_path / "p", train=[(LAMP, GLOW)]),
        "msr": mrpc(tmp_path / "m", f"1\t1\t2\t{DOOR}\t{GATE}\n"),
    }
    rows = list(READERS["paraphrases"](folders))
    assert [(row.id, row.origin) for row in rows if isinstance(row, Pair)] == [
        ("bank-validation-000000", "bank"),
        ("acl-train-000000", "acl"),
        ("msr-train-000000", "msr"),
    ]
    with pytest.raises(ConfigError, match="reader paraphrases: no source"):
        list(READERS["paraphrases"]({}))
    with pytest.raises(DataError, match=r"no validation\.csv\.gz or train/train\.src or msr_paraphrase_train\.txt"):
        list(READERS["paraphrases"]({"x": tmp_path}))
